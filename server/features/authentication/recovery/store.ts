// SQL of links that set a new password.
import { fragment, type Sql } from '../../../db/sql.ts';

export interface ResetLink {
  id: Buffer;
  userId: string | null;
  /** Where the link goes. */
  email: string | null;
  /** What the person was on their way to. */
  asked: string | undefined;
  expiresAt: Date;
}

/** Where the person is nobody it does as much, and keeps nothing. */
export const insert = (sql: Sql, realm: string, { id, userId, email, asked, expiresAt }: ResetLink) => sql`
  insert into password_reset (realm_id, link_hash, user_id, email, credential_id, asked, expires_at)
  select ${realm}, ${id}, u.id, ${email}, (
    select id from credential c where c.realm_id = u.realm_id and c.user_id = u.id and c.type = 'password'
  ), ${asked ?? null}, ${expiresAt}
  from realm_user u where u.realm_id = ${realm} and u.id = ${userId ?? NOBODY} and ${email}::text is not null`;

/** Where a link for the person's password may go: a confirmed address of somebody who has one that no directory keeps. */
export const addressFor = async (sql: Sql, realm: string, userId: string): Promise<string | undefined> =>
  (
    await sql<{ email: string }>`
      select u.email from realm_user u
      join credential c on c.realm_id = u.realm_id and c.user_id = u.id and c.type = 'password'
        and c.secret ->> 'phc' is not null
      where u.realm_id = ${realm} and u.id = ${userId} and u.enabled and u.email_verified and u.email is not null`
  )[0]?.email;

const NOBODY = '00000000-0000-0000-0000-000000000000';

export interface Found {
  id: string;
  username: string;
  email: string;
  asked: string | null;
}

/** As long as nothing has changed of what it rests on. @param lock makes others of the same person wait */
export async function find(
  sql: Sql,
  realm: string,
  id: Buffer,
  { now, lock = false }: { now: Date; lock?: boolean },
): Promise<Found | undefined> {
  const [row] = await sql<Found>`
    select u.id, u.username, u.email, r.asked
    from password_reset r join realm_user u on u.realm_id = r.realm_id and u.id = r.user_id
    where r.realm_id = ${realm} and r.link_hash = ${id} and r.expires_at > ${now} and u.enabled and u.email_verified and u.email = r.email
      and r.credential_id is not distinct from (
        select c.id from credential c where c.realm_id = u.realm_id and c.user_id = u.id and c.type = 'password')
    ${lock ? fragment`for update` : fragment``}`;
  return row;
}

/** All of theirs: one use of one is the end of the others. */
export const removeOf = (sql: Sql, realm: string, userId: string) =>
  sql`delete from password_reset where realm_id = ${realm} and user_id = ${userId}`;
