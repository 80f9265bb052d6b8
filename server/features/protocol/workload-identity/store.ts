// SQL of the exchange: the credential that a token matches. resource.ts writes credentials.
import type { Sql } from '../../../db/sql.ts';

export interface CredentialRow {
  id: string;
  name: string;
  issuer: string;
  jwks_uri: string | null;
  subject: string;
  audience: string;
  client_id: string;
  scopes: string;
  enabled: boolean;
  admin_access: boolean;
}

/** The credential by which a token is exchanged: with its issuer and subject, and the first of its audiences that has a credential. */
export async function match(
  sql: Sql,
  realm: string,
  { issuer, subject, audiences }: { issuer: string; subject: string; audiences: readonly string[] },
): Promise<CredentialRow | undefined> {
  const [row] = await sql<CredentialRow>`
    select id, name, issuer, jwks_uri, subject, audience, client_id, scopes, enabled, admin_access
    from workload_identity
    where realm_id = ${realm} and issuer = ${issuer} and subject = ${subject} and audience = any(${audiences}::text[])
      and use <> 'authentication'
    order by array_position(${audiences}::text[], audience) limit 1`;
  return row;
}

/** The clients that a token authenticates by a workload identity: several, if identities of several issuers fit. */
export async function clientsOf(
  sql: Sql,
  realm: string,
  { issuers, subject, audiences }: { issuers: readonly string[]; subject: string; audiences: readonly string[] },
): Promise<string[]> {
  const rows = await sql<{ client_id: string }>`
    select distinct w.client_id
    from workload_identity w join client c on c.realm_id = w.realm_id and c.client_id = w.client_id
    where w.realm_id = ${realm} and w.issuer = any(${issuers}::text[]) and w.subject = ${subject}
      and w.audience = any(${audiences}::text[]) and w.use <> 'exchange' and w.enabled
      and c.token_endpoint_auth_method in ('federated_jwt', 'spiffe_jwt')
    order by w.client_id limit 2`;
  return rows.map((row) => row.client_id);
}
