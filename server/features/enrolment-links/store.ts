// SQL of links by which people set up a way to sign in.
import type { LinkAction } from '../../contract/enrolment-links.ts';
import { fragment, type Sql } from '../../db/sql.ts';

export interface Link {
  id: Buffer;
  userId: string;
  action: LinkAction;
  replaces: boolean;
  expiresAt: Date;
}

/** In place of the one that the person had. */
export const put = (sql: Sql, realm: string, { id, userId, action, replaces, expiresAt }: Link) => sql`
  insert into enrolment_link (realm_id, user_id, link_hash, action, replaces, expires_at)
  values (${realm}, ${userId}, ${id}, ${action}, ${replaces}, ${expiresAt})
  on conflict (realm_id, user_id) do update set
    link_hash = excluded.link_hash, action = excluded.action, replaces = excluded.replaces, expires_at = excluded.expires_at`;

export const person = async (sql: Sql, realm: string, userId: string) =>
  (
    await sql<{ id: string; username: string; enabled: boolean }>`
      select id, username, enabled from realm_user where realm_id = ${realm} and id = ${userId}`
  )[0];

export interface Found {
  user: { id: string; username: string };
  action: LinkAction;
  replaces: boolean;
}

/** @param lock makes others with the same link wait */
export async function find(
  sql: Sql,
  realm: string,
  id: Buffer,
  { now, lock = false }: { now: Date; lock?: boolean },
): Promise<Found | undefined> {
  const [row] = await sql<{ id: string; username: string; action: LinkAction; replaces: boolean }>`
    select u.id, u.username, l.action, l.replaces
    from enrolment_link l join realm_user u on u.realm_id = l.realm_id and u.id = l.user_id
    where l.realm_id = ${realm} and l.link_hash = ${id} and l.expires_at > ${now} and u.enabled
    ${lock ? fragment`for update of l` : fragment``}`;
  return row && { user: { id: row.id, username: row.username }, action: row.action, replaces: row.replaces };
}

export const remove = (sql: Sql, realm: string, userId: string) =>
  sql`delete from enrolment_link where realm_id = ${realm} and user_id = ${userId}`;
