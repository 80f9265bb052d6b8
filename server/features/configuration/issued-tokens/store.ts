// SQL of revoked_token, and of the other causes that end a token before its time.
import type { Sql } from '../../../db/sql.ts';

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** Whether a token was revoked by its `jti`, with its grant (`gid`), or with the session (`sid`) that it belongs to. */
export async function isRevoked(
  sql: Sql,
  realm: string,
  { ids, sid, now }: { ids: readonly (string | undefined)[]; sid: string | undefined; now: Date },
): Promise<boolean> {
  const known = ids.filter((id) => id !== undefined && UUID.test(id));
  const session = sid !== undefined && UUID.test(sid) ? sid : null;
  const [row] = await sql<{ revoked: boolean }>`
    select exists (select from revoked_token where realm_id = ${realm} and jti = any (${known}::uuid[]))
      or (${session}::uuid is not null and not exists (
        select from session where realm_id = ${realm} and id = ${session}::uuid and expires_at > ${now}
      )) as revoked`;
  return row?.revoked ?? true;
}

/** Refuses a token, or all of a grant's, until `expiresAt`; false: it was refused before. */
export async function revoke(sql: Sql, realm: string, id: string, expiresAt: Date): Promise<boolean> {
  const [row] = await sql<{ jti: string }>`
    insert into revoked_token (realm_id, jti, expires_at) values (${realm}, ${id}, ${expiresAt})
    on conflict do nothing returning jti`;
  return row !== undefined;
}

/** Whether a name is the id of a user of the realm; most names have another form and need no query. */
export const isPerson = async (sql: Sql, realm: string, name: string): Promise<boolean> =>
  UUID.test(name.toLowerCase()) &&
  (await sql`select from realm_user where realm_id = ${realm} and id = ${name}`).length > 0;
