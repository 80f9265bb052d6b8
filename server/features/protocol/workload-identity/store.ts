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
