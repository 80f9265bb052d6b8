// SQL of transaction tokens: a client's policy.
import type { Sql } from '../../../db/sql.ts';

export interface TxnPolicyRow {
  name: string;
  scopes: Record<string, string[]>;
  replaces: boolean;
  ttl_seconds: number;
}

/** The enabled policy of the client for the trust domain. */
export async function policyFor(
  sql: Sql,
  realm: string,
  { clientId, trustDomain }: { clientId: string; trustDomain: string },
): Promise<TxnPolicyRow | undefined> {
  const [row] = await sql<TxnPolicyRow>`
    select name, scopes, replaces, ttl_seconds from transaction_token_policy
    where realm_id = ${realm} and client_id = ${clientId} and trust_domain = ${trustDomain} and enabled`;
  return row;
}
