// What an authorization request needs next: pure. OIDC Core §3.1.2.3 and §3.1.2.4.
import { OAuthError } from '../../http/oauth-error.ts';
import type { AuthorizationRequest } from './checks.ts';

export interface Known {
  session: { id: string; userId: string; authenticatedAt: Date; levelOfAssurance: number } | undefined;
  /** The session was begun or renewed for this very request, so it isn't asked for again. */
  fresh: boolean;
  /** The person has just agreed to this very request. */
  agreed: boolean;
  /** The person of the id_token_hint. */
  expectedUser: string | undefined;
  /** The scopes that the person has agreed to before. */
  consented: readonly string[];
  now: Date;
}

export type Step =
  | { do: 'sign-in'; forced: boolean }
  | { do: 'consent' }
  | { do: 'code' }
  | { do: 'refuse'; error: OAuthError };

type Request = Pick<AuthorizationRequest, 'prompt' | 'maxAgeSeconds' | 'requiredLevel' | 'scopes' | 'administers'> & {
  client: { consentRequired: boolean };
};

/** Why the present session isn't enough, if it isn't. */
function signInNeeded(
  request: Request,
  { session, fresh, expectedUser, now }: Known,
): 'new' | 'again' | 'more' | undefined {
  if (!session) return 'new';
  if (expectedUser !== undefined && session.userId !== expectedUser) return 'again';
  if (fresh) return undefined;
  if (request.prompt.has('login') || request.prompt.has('select_account')) return 'again';
  const age = now.getTime() - session.authenticatedAt.getTime();
  if (request.maxAgeSeconds !== undefined && age > request.maxAgeSeconds * 1000) return 'again';
  return session.levelOfAssurance < request.requiredLevel ? 'more' : undefined;
}

const refuse = (error: 'login_required' | 'consent_required', description: string): Step => ({
  do: 'refuse',
  error: new OAuthError(error, description),
});

export function decide(request: Request, known: Known): Step {
  const silent = request.prompt.has('none');
  const needed = signInNeeded(request, known);
  if (needed) {
    if (silent) return refuse('login_required', 'The person has to sign in');
    // Signed in for this request, and yet somebody else than the hint says.
    if (known.fresh) return refuse('login_required', 'Somebody else has signed in');
    return { do: 'sign-in', forced: needed === 'again' };
  }
  if (known.agreed) return { do: 'code' };
  const agreed = request.scopes.every((s) => known.consented.includes(s.name));
  // Admin rights are lent anew each time: an earlier agreement would do for any program on the same machine.
  if (request.administers || request.prompt.has('consent') || (request.client.consentRequired && !agreed)) {
    return silent ? refuse('consent_required', 'The person has to agree') : { do: 'consent' };
  }
  return { do: 'code' };
}
