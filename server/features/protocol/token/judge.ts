// The conditions for redeeming a code or a refresh token: pure. The same code accepts a request and explains a refusal.
// The rows stay locked until they are written (redeem.ts). RFC 6749 §4.1.3, §6; RFC 7636 §4.6; RFC 8707 §2.2.
import { pkceHolds } from '../../../crypto/pkce.ts';
import { type AuthorizationDetail, detailsCovered } from '../../../domain/authorization-details.ts';
import type { GrantData } from '../../../domain/grant-data.ts';
import type { CodeRow, FamilyRow } from '../../../domain/grants.ts';
import type { Poll } from '../../../domain/polled-codes.ts';
import { OPENID } from '../../../domain/scopes.ts';
import { confirmationOf, isProven, type Sender } from '../../../domain/sender.ts';
import type { OAuthErrorCode } from '../../../http/oauth-error.ts';

export interface Passed {
  ok: true;
  resources: readonly string[];
  /** With `openid`. */
  scopes: readonly string[];
}
export interface Refused {
  ok: false;
  error: OAuthErrorCode;
  /** Public. */
  description: string;
  /** The cause, for the audit log. */
  reason?: string;
  /**
   * The refusal's effect. `nothing`: the client may ask again. `use up`: the code is lost. `end`: the grant ends too.
   * `reuse`: the code or token was used before, which ends the grant and is an event of its own.
   */
  effect: 'nothing' | 'use up' | 'end' | 'reuse';
}
export type Verdict = Passed | Refused;

/** The part of a grant that a request asks for. */
export interface Wanted {
  now: Date;
  /** What the client proved of itself. */
  sender: Sender;
  /** Resources that the client may use; none: all that were granted. */
  resources: readonly string[];
  presentResources(): readonly string[];
  /** undefined: all that were granted. */
  details: readonly AuthorizationDetail[] | undefined;
}
export interface CodeRequest extends Wanted {
  /** undefined: a client that follows OAuth 2.1 (§10.2), where PKCE binds the code to it. */
  redirectUri: string | undefined;
  verifier: string | undefined;
}
export interface RefreshRequest extends Wanted {
  presented: Buffer;
  /** undefined: all that were granted. */
  scopes: readonly string[] | undefined;
  /** Whether the user's proofs still meet the demands of the client's flow and the realm. */
  isEnough(family: FamilyRow): boolean;
}

/** What of the request does not fit the authorization request of its code; undefined: all fits. */
function faultOf(
  { redirectUri, codeChallenge, dpopJkt }: GrantData,
  request: Pick<CodeRequest, 'redirectUri' | 'verifier' | 'sender'>,
): string | undefined {
  if (request.redirectUri === undefined && codeChallenge === null)
    return 'redirect_uri is missing, and there is no PKCE';
  if (request.redirectUri !== undefined && redirectUri !== request.redirectUri) return 'redirect_uri differs';
  if (!pkceHolds(codeChallenge, request.verifier)) return 'the PKCE verifier does not hold';
  if (dpopJkt !== undefined && dpopJkt !== request.sender.jkt) return 'the proof is not of the key that was named';
  return undefined;
}

export function judgeCode(code: CodeRow | undefined, request: CodeRequest): Verdict {
  const refuse = refusing('The code is not valid');
  if (!code) return refuse('nothing', 'no such code for this client');
  const fault = faultOf(code.request, request);
  // A caller that could not have redeemed the code must not end what it gave (OAuth 2.1 §7.5.3).
  if (code.used_at)
    return fault === undefined
      ? refuse('reuse', 'the code was used before')
      : refuse('nothing', `the code was used before, and ${fault}`);
  if (code.expires_at <= request.now) return refuse('use up', 'the code has expired');
  if (fault !== undefined) return refuse('use up', fault);
  if (!code.user_enabled) return refuse('use up', 'the user is disabled');
  return narrowed(code.request, { ...request, scopes: undefined });
}

/** Judges the code that a client polled until the user allowed it. @param what the code in a sentence */
export function judgePolledCode(code: CodeRow | undefined, request: Wanted, what: string): Verdict {
  const refuse = refusing(`${what} is not valid`);
  if (!code) return refuse('nothing', 'no such code for this client');
  if (code.used_at) return refuse('reuse', 'the code was used before');
  if (code.expires_at <= request.now) return refuse('use up', 'the code has expired');
  if (!code.user_enabled) return refuse('use up', 'the user is disabled');
  return narrowed(code.request, { ...request, scopes: undefined });
}

/** The error for a client that may not have tokens yet, or never; undefined: it may. RFC 8628 §3.5, CIBA Core §11. */
export function judgePoll(
  poll: Poll | undefined,
  now: Date,
  what: string,
): { error: OAuthErrorCode; description: string } | undefined {
  if (!poll) return { error: 'invalid_grant', description: `${what} is not valid` };
  if (poll.denied_at) return { error: 'access_denied', description: 'The person did not agree' };
  if (poll.expires_at <= now) return { error: 'expired_token', description: `${what} has expired` };
  if (poll.allowed) return undefined;
  if (poll.too_soon) return { error: 'slow_down', description: 'Ask less often: five seconds more from now on' };
  return { error: 'authorization_pending', description: 'The person has not decided yet' };
}

export function judgeRefresh(family: FamilyRow | undefined, request: RefreshRequest): Verdict {
  const refuse = refusing('The refresh token is not valid');
  if (!family) return refuse('nothing', 'no such grant of this client');
  if (family.revoked_at) return refuse('nothing', 'the grant was revoked');
  // Checked before anything that ends the grant: a thief with the token alone must not end it.
  if (!isProven({ cnf: confirmationOf(family.grant_data) }, request.sender))
    return refuse('nothing', 'the proof is not of the key that it is bound to');
  if (!family.token_hash.equals(request.presented)) return refuse('reuse', 'the token was used before');
  if (family.expires_at <= request.now) return refuse('nothing', 'the token has expired');
  if (!family.user_enabled) return refuse('end', 'the user is disabled');
  const verdict = narrowed(family.grant_data, request);
  if (!verdict.ok) return verdict;
  if (!family.session_lives) return refuse('nothing', 'its session has ended');
  if (!request.isEnough(family)) return refuse('end', 'more has to be proven than was');
  return verdict;
}

const refusing =
  (description: string) =>
  (effect: Refused['effect'], reason: string): Refused => ({
    ok: false,
    error: 'invalid_grant',
    description,
    reason,
    effect,
  });

/**
 * Narrows a grant for one token request, which can't widen it; the refresh token keeps the whole grant. A refusal
 * doesn't end the grant.
 */
function narrowed(
  granted: GrantData,
  { resources, presentResources, scopes, details }: Wanted & { scopes: readonly string[] | undefined },
): Verdict {
  const refuse = (error: OAuthErrorCode, description: string): Refused => ({
    ok: false,
    error,
    description,
    effect: 'nothing',
  });
  if (!among(granted.resources, resources)) return refuse('invalid_target', 'A requested resource was not granted');
  if (resources.length === 0 && !among(presentResources(), granted.resources))
    return refuse('invalid_target', 'A resource that was granted is not allowed any more');
  const all = granted.openid ? [OPENID, ...granted.scopes] : granted.scopes;
  if (!among(all, scopes ?? [])) return refuse('invalid_scope', 'A requested scope was not granted');
  if (!detailsCovered(details ?? [], granted.authorizationDetails ?? []))
    return refuse('invalid_authorization_details', 'Requested details were not granted');
  return {
    ok: true,
    resources: resources.length > 0 ? resources : granted.resources,
    scopes: all.filter((name) => scopes?.includes(name) ?? true),
  };
}

const among = (all: readonly string[], some: readonly string[]): boolean => some.every((one) => all.includes(one));
