// SQL of the links by which users set up a credential.
import type { LinkAction } from '../../../contract/enrolment-links.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Maker } from '../../../domain/admin-rights.ts';

export interface Link {
  id: Buffer;
  userId: string;
  action: LinkAction;
  replaces: boolean;
  madeBy: Maker;
  expiresAt: Date;
}

/** Stores a link in place of the user's former one. */
export const put = (sql: Sql, realm: string, { id, userId, action, replaces, madeBy, expiresAt }: Link) => sql`
  insert into enrolment_link (realm_id, user_id, link_hash, action, replaces, made_by, expires_at)
  values (${realm}, ${userId}, ${id}, ${action}, ${replaces}, ${JSON.stringify(madeBy)}::jsonb, ${expiresAt})
  on conflict (realm_id, user_id) do update set
    link_hash = excluded.link_hash, action = excluded.action, replaces = excluded.replaces,
    made_by = excluded.made_by, expires_at = excluded.expires_at`;

export const person = async (sql: Sql, realm: string, userId: string) =>
  (
    await sql<{ id: string; username: string; enabled: boolean }>`
      select id, username, enabled from realm_user where realm_id = ${realm} and id = ${userId}`
  )[0];

export interface Found {
  user: { id: string; username: string };
  action: LinkAction;
  replaces: boolean;
  madeBy: Maker;
}

/** @param lock makes other requests with the same link wait */
export async function find(
  sql: Sql,
  realm: string,
  id: Buffer,
  { now, lock = false }: { now: Date; lock?: boolean },
): Promise<Found | undefined> {
  const [row] = await sql<Omit<Found, 'user'> & { id: string; username: string }>`
    select u.id, u.username, l.action, l.replaces, l.made_by as "madeBy"
    from enrolment_link l join realm_user u on u.realm_id = l.realm_id and u.id = l.user_id
    where l.realm_id = ${realm} and l.link_hash = ${id} and l.expires_at > ${now} and u.enabled and l.made_by is not null
    ${lock ? fragment`for update of l` : fragment``}`;
  if (!row) return undefined;
  const { id: userId, username, ...link } = row;
  return { user: { id: userId, username }, ...link };
}

/** @returns whether the user had one */
export const remove = async (sql: Sql, realm: string, userId: string): Promise<boolean> =>
  (await sql`delete from enrolment_link where realm_id = ${realm} and user_id = ${userId} returning user_id`).length >
  0;
