// Decides the next step of an authorization request: sign-in, consent, code or refusal. Pure. OIDC Core §3.1.2.3 and
// §3.1.2.4.
import { type Agreement, agreementCovers, needsConsent } from '../../../domain/agreement.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Missing } from '../../authentication/sign-in/service.ts';
import type { AuthorizationRequest } from './checks.ts';

export interface DecisionFacts {
  /** With an impersonator, an administrator acts for the user. */
  session: { id: string; userId: string; impersonator?: object | null } | undefined;
  /** The proof that the session lacks, by the demands of the flow, the realm and the request. */
  missing: Missing | undefined;
  /** The session was begun or renewed for this request, so the user isn't asked to sign in again. */
  fresh: boolean;
  /** The user has just consented to this request. */
  agreed: boolean;
  /** The user of the id_token_hint. */
  expectedUser: string | undefined;
  /** The user's earlier consent; undefined: never asked. */
  consented: Agreement | undefined;
}

export type Step =
  | { do: 'sign-in'; forced: boolean }
  | { do: 'consent' }
  | { do: 'code' }
  | { do: 'refuse'; error: OAuthError };

type Request = Pick<
  AuthorizationRequest,
  'prompt' | 'maxAgeSeconds' | 'requiredLevel' | 'toAgree' | 'administers' | 'details'
> & {
  client: { consentRequired: boolean };
};

/** Whether earlier proofs don't count. */
const isForced = ({ prompt, maxAgeSeconds }: Pick<Request, 'prompt' | 'maxAgeSeconds'>): boolean =>
  prompt.has('login') || prompt.has('select_account') || prompt.has('create') || maxAgeSeconds === 0;

/**
 * The time from which a session's proofs count for a request, in milliseconds.
 * @param signedIn for a sign-in for this very request: the time of its oldest proof
 */
export function countsFrom(
  { maxAgeSeconds }: Pick<Request, 'maxAgeSeconds'>,
  { signedIn, now }: { signedIn: number | undefined; now: Date },
): number {
  if (signedIn !== undefined) return signedIn;
  return maxAgeSeconds === undefined ? 0 : now.getTime() - maxAgeSeconds * 1000;
}

/** Why the present session isn't enough; undefined: it is. */
function signInNeeded(
  request: Request,
  { session, missing, fresh, expectedUser }: DecisionFacts,
): 'new' | 'again' | Missing | undefined {
  if (!session) return 'new';
  if (expectedUser !== undefined && session.userId !== expectedUser) return 'again';
  if (fresh) return undefined;
  return isForced(request) ? 'again' : missing;
}

const refuse = (error: 'login_required' | 'interaction_required' | 'consent_required', description: string): Step => ({
  do: 'refuse',
  error: new OAuthError(error, description),
});

/** Decides for an impersonated session: it counts no factor of the user, and its administrator can't agree for them. */
function decideActing(request: Request, userId: string, { expectedUser, consented }: DecisionFacts): Step {
  const { prompt, maxAgeSeconds, requiredLevel, toAgree, client } = request;
  const anew = prompt.has('login') || prompt.has('select_account') || prompt.has('create');
  if (anew || maxAgeSeconds !== undefined || requiredLevel > 0)
    return refuse('login_required', 'The person themselves would have to sign in');
  if (expectedUser !== undefined && userId !== expectedUser)
    return refuse('login_required', 'Another person is signed in');
  const agreed = !needsConsent(client, toAgree) || agreementCovers(consented, toAgree);
  return agreed && !request.administers && request.details.length === 0 && !prompt.has('consent')
    ? { do: 'code' }
    : refuse('consent_required', 'The person themselves would have to agree');
}

export function authorizationDecision(request: Request, known: DecisionFacts): Step {
  if (known.session?.impersonator) return decideActing(request, known.session.userId, known);
  const silent = request.prompt.has('none');
  const needed = signInNeeded(request, known);
  if (needed) {
    if (silent && needed === 'action') return refuse('interaction_required', 'The person has something to do first');
    if (silent) return refuse('login_required', 'The person has to sign in');
    // The user who signed in for this request is not the user of the hint.
    if (known.fresh) return refuse('login_required', 'Somebody else has signed in');
    return { do: 'sign-in', forced: needed === 'again' };
  }
  if (known.agreed) return { do: 'code' };
  const agreed = agreementCovers(known.consented, request.toAgree);
  // Admin rights need a new consent each time: an earlier one would permit any program on the same machine. So do details,
  // such as a payment: each request has its own.
  if (
    request.administers ||
    request.details.length > 0 ||
    request.prompt.has('consent') ||
    (needsConsent(request.client, request.toAgree) && !agreed)
  ) {
    return silent ? refuse('consent_required', 'The person has to agree') : { do: 'consent' };
  }
  return { do: 'code' };
}
