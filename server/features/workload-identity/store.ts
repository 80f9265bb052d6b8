// SQL of workload identity credentials.
import type { Sql } from '../../db/sql.ts';

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

export const list = (sql: Sql, realm: string, after: string | undefined, limit: number) => sql<CredentialRow>`
  select id, name, issuer, jwks_uri, subject, audience, client_id, scopes, enabled, admin_access
    from workload_identity
  where realm_id = ${realm} and (${after ?? null}::text is null or name > ${after ?? null}) order by name limit ${limit}`;

export async function find(sql: Sql, realm: string, id: string): Promise<CredentialRow | undefined> {
  const [row] = await sql<CredentialRow>`
    select id, name, issuer, jwks_uri, subject, audience, client_id, scopes, enabled, admin_access
    from workload_identity
    where realm_id = ${realm} and id = ${id}`;
  return row;
}

/** As {@link find}, and nobody else changes it until the transaction ends. */
export async function lock(sql: Sql, realm: string, id: string): Promise<CredentialRow | undefined> {
  const [row] = await sql<CredentialRow>`
    select id, name, issuer, jwks_uri, subject, audience, client_id, scopes, enabled, admin_access
    from workload_identity
    where realm_id = ${realm} and id = ${id} for update`;
  return row;
}

/** Which of the unique fields another credential has already. */
export async function clash(
  sql: Sql,
  realm: string,
  row: CredentialRow,
): Promise<{ name: string; byName: boolean } | undefined> {
  const [other] = await sql<{ name: string; by_name: boolean }>`
    select name, name = ${row.name} as by_name from workload_identity
    where realm_id = ${realm} and id <> ${row.id} and (name = ${row.name}
      or (issuer = ${row.issuer} and subject = ${row.subject} and audience = ${row.audience}))
    order by by_name desc limit 1`;
  return other && { name: other.name, byName: other.by_name };
}

/** false: somebody was quicker with the same name, or the same issuer, subject and audience. */
export async function insert(sql: Sql, realm: string, row: CredentialRow): Promise<boolean> {
  const rows = await sql`
    insert into workload_identity (realm_id, id, name, issuer, jwks_uri, subject, audience, client_id, scopes, enabled,
      admin_access)
    values (${realm}, ${row.id}, ${row.name}, ${row.issuer}, ${row.jwks_uri}, ${row.subject}, ${row.audience},
      ${row.client_id}, ${row.scopes}, ${row.enabled}, ${row.admin_access})
    on conflict do nothing returning 1`;
  return rows.length > 0;
}

export const update = (sql: Sql, realm: string, row: CredentialRow) => sql`
  update workload_identity set name = ${row.name}, issuer = ${row.issuer}, jwks_uri = ${row.jwks_uri},
    subject = ${row.subject}, audience = ${row.audience}, client_id = ${row.client_id}, scopes = ${row.scopes},
    enabled = ${row.enabled}, admin_access = ${row.admin_access}
  where realm_id = ${realm} and id = ${row.id}`;

export const remove = (sql: Sql, realm: string, id: string) =>
  sql`delete from workload_identity where realm_id = ${realm} and id = ${id}`;

/** The client that a credential acts as; it can't go away before the transaction ends. */
export async function clientOf(sql: Sql, realm: string, clientId: string): Promise<{ id: string } | undefined> {
  const [row] = await sql<{ id: string }>`
    select id from client where realm_id = ${realm} and client_id = ${clientId} for share`;
  return row;
}

/** The credential of a token: exact issuer and subject, and the first of the token's audiences that one is for. */
export async function match(
  sql: Sql,
  realm: string,
  { issuer, subject, audiences }: { issuer: string; subject: string; audiences: readonly string[] },
): Promise<CredentialRow | undefined> {
  const [row] = await sql<CredentialRow>`
    select id, name, issuer, jwks_uri, subject, audience, client_id, scopes, enabled, admin_access
    from workload_identity
    where realm_id = ${realm} and issuer = ${issuer} and subject = ${subject} and audience = any(${audiences}::text[])
    order by array_position(${audiences}::text[], audience) limit 1`;
  return row;
}
