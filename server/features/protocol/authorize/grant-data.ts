// The data that comes from an authorization request: stored with its grant, beside the proofs of the user's session, and in its
// events. Pure.
import { typesOf } from '../../../domain/authorization-details.ts';
import { type Factors, oldestOf, provenSince } from '../../../domain/factors.ts';
import type { GrantData } from '../../../domain/grant-data.ts';
import { OFFLINE } from '../../../domain/scopes.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { SsoSession } from '../../people/sessions/service.ts';
import type { AuthorizationRequest } from './checks.ts';

/** The session and the proof that a grant is based on. */
export interface Approval {
  session: SsoSession;
  /** The time from which the session's proofs count, in milliseconds. */
  since: number;
  sub: string;
}

/** A request in the events about it: no values of its details, since these may be about users. */
export const eventDataOf = ({ scopes, resources, details }: AuthorizationRequest) => ({
  scopes: scopes.map(({ name }) => name),
  resources,
  ...typesOf(details.map(({ detail }) => detail)),
});

export function grantDataOf(
  factors: Factors,
  asked: AuthorizationRequest,
  { session, since, sub }: Approval,
): GrantData {
  const { impersonator } = session;
  const counted = provenSince(session.factors, since);
  const oldest = impersonator ? session.startedAt.getTime() : oldestOf(counted);
  if (oldest === undefined) throw new OAuthError('login_required', 'The person has to sign in');
  return {
    redirectUri: asked.redirectUri,
    scopes: asked.scopes.map((s) => s.name),
    openid: asked.openid,
    resources: [...asked.resources],
    codeChallenge: asked.codeChallenge,
    nonce: asked.nonce ?? null,
    authTime: Math.floor(oldest / 1000),
    acr: String(factors.levelOf(counted)),
    amr: factors.amrOf(counted),
    ...(asked.dpopJkt !== undefined && { dpopJkt: asked.dpopJkt }),
    ...(asked.claims && { claims: asked.claims }),
    ...(asked.details.length > 0 && { authorizationDetails: asked.details.map(({ detail }) => detail) }),
    ...(sub !== session.userId && { sub }),
    ...(impersonator && { act: { realm: impersonator.realm, sub: impersonator.id } }),
    // An offline grant outlives the session, so it stores the factors with which it began.
    ...(asked.scopes.some((s) => s.name === OFFLINE) && { factors: counted }),
  };
}
