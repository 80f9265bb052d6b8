// Stored clients that contradict a security profile, for the warnings of a plan that sets it for the realm.
import type { SecurityProfile } from '../../../contract/security-profiles.ts';
import type { Sql } from '../../../db/sql.ts';
import { type Profiled, profileFaults } from './profile.ts';

/** The most clients that are read. */
const MOST = 1_000;

/** @param except clients that the same plan changes: they have warnings of their own */
export async function clientsAgainstProfile(
  sql: Sql,
  realm: string,
  { profile, except }: { profile: SecurityProfile; except: readonly string[] },
): Promise<{ clientId: string; lacks: string }[]> {
  const rows = await sql<Profiled & { clientId: string }>`
    select client_id as "clientId", token_endpoint_auth_method as "tokenEndpointAuthMethod",
      client_assertion_audience as "clientAssertionAudience", redirect_uris as "redirectUris",
      reuse_refresh_tokens as "reuseRefreshTokens", id_token_signed_response_alg as "idTokenSignedResponseAlg",
      access_token_signed_response_alg as "accessTokenSignedResponseAlg",
      userinfo_signed_response_alg as "userinfoSignedResponseAlg",
      authorization_signed_response_alg as "authorizationSignedResponseAlg",
      introspection_signed_response_alg as "introspectionSignedResponseAlg",
      token_endpoint_auth_signing_alg as "tokenEndpointAuthSigningAlg",
      request_object_signing_alg as "requestObjectSigningAlg"
    from client where realm_id = ${realm} and client_id <> all(${[...except]}::text[])
    order by client_id collate "C" limit ${MOST}`;
  return rows.flatMap(({ clientId, ...client }) => {
    const [first] = profileFaults(client, profile);
    return first ? [{ clientId, lacks: `${first.path} ${first.message}` }] : [];
  });
}
