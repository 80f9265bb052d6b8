// The scopes that a client may get by a user's access token: never more than the token, the client and the user's consent allow
// together. One rule for agents and for token exchange. RFC 8693; decisions "Agent".
import type { Sql } from '../db/sql.ts';
import { OAuthError } from '../http/oauth-error.ts';
import type { Agreement } from './agreement.ts';
import type { ScopeView } from './claims.ts';
import { type PersonRow, personColumns } from './person.ts';
import { ACCOUNT_SCOPE, OFFLINE, presentScopes, type ScopesOfClient } from './scopes.ts';

/** Reads the user, and their consent for this client. */
export async function readSubject(sql: Sql, realm: string, userId: string, client: string) {
  const [row] = await sql<PersonRow & { consented: Agreement | null }>`
    select ${personColumns}, (
      select jsonb_build_object('scopes', c.scopes, 'resources', c.resources, 'claims', c.claims) from consent c
      where c.realm_id = u.realm_id and c.user_id = u.id and c.client = ${client}
    ) as consented
    from realm_user u where u.realm_id = ${realm} and u.id = ${userId} and u.enabled`;
  return row;
}

/** Whether the token was issued to this client, or names it as an audience. Another client that obtained the token can't use it. */
export const isFor = (
  { clientId, allowedResources }: { clientId: string; allowedResources: ReadonlySet<string> },
  { client_id: issuedTo, aud }: { client_id?: string | undefined; aud: string | readonly string[] },
): boolean => issuedTo === clientId || [aud].flat().some((one) => one === clientId || allowedResources.has(one));

/** The client that the claim `may_act` names (RFC 8693 §4.4). */
export const clientNamedBy = (claims: object): unknown => Object('may_act' in claims && claims.may_act).client_id;

/**
 * Whether the client may exchange the token. If `may_act` names a client, only that one may; otherwise the client that
 * the token was issued to or is for.
 */
export function mayExchange(client: Parameters<typeof isFor>[0], claims: Parameters<typeof isFor>[1]): boolean {
  const named = clientNamedBy(claims);
  return named === undefined ? isFor(client, claims) : named === client.clientId;
}

/**
 * The scopes and resources that the new token may have.
 * @param agreed undefined: this client needs no consent
 * @throws OAuthError `invalid_scope`, `invalid_target`
 */
export function scopesOnBehalf(
  client: ScopesOfClient,
  {
    scope,
    agreed,
    account = agreed?.scopes.includes(ACCOUNT_SCOPE) ?? false,
    requestedScopes,
    resources,
  }: {
    /** The `scope` of the user's token. */
    scope: string | undefined;
    agreed: Pick<Agreement, 'scopes' | 'resources'> | undefined;
    /** Whether the user has agreed that this client acts in their account, which every client needs. */
    account?: boolean;
    requestedScopes: readonly string[] | undefined;
    resources: readonly string[];
  },
): ScopeView[] {
  const said = (scope ?? '').split(' ');
  const allowed = presentScopes(client, agreed?.scopes ?? said).filter(
    ({ name }) => said.includes(name) && name !== OFFLINE && (account || name !== ACCOUNT_SCOPE),
  );
  const names = new Set(allowed.map(({ name }) => name));
  if (requestedScopes?.some((name) => !names.has(name)))
    throw new OAuthError('invalid_scope', 'The person, the token or the client has no such scope');
  if (agreed && names.size === 0)
    throw new OAuthError('invalid_scope', 'The person has agreed to nothing that this token gives');
  if (agreed && !resources.every((resource) => agreed.resources.includes(resource)))
    throw new OAuthError('invalid_target', 'The person has not agreed to a requested resource');
  return allowed.filter(({ name }) => requestedScopes?.includes(name) ?? true);
}

/** How the token's user had signed in, by the token's claims. */
export const signedInOf = (claims: {
  sid?: string | undefined;
  auth_time?: unknown;
  acr?: unknown;
  amr?: unknown;
}) => ({
  sid: claims.sid,
  authTime: typeof claims.auth_time === 'number' ? claims.auth_time : 0,
  acr: typeof claims.acr === 'string' ? claims.acr : '0',
  amr: Array.isArray(claims.amr) ? claims.amr.map(String) : [],
});
