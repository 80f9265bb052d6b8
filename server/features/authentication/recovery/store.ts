// SQL of links that set a new password.
import { NIL_ID } from '../../../crypto/ids.ts';
import { fragment, type Sql } from '../../../db/sql.ts';

export interface ResetLink {
  id: Buffer;
  userId: string | null;
  /** The address that the link is mailed to. */
  email: string | null;
  /** The request that the user was signing in for. */
  asked: string | undefined;
  expiresAt: Date;
}

/** For an unknown user the statement does the same work and stores nothing. */
export const insert = (sql: Sql, realm: string, { id, userId, email, asked, expiresAt }: ResetLink) => sql`
  insert into password_reset (realm_id, link_hash, user_id, email, credential_id, asked, expires_at)
  select ${realm}, ${id}, u.id, ${email}, (
    select id from credential c where c.realm_id = u.realm_id and c.user_id = u.id and c.type = 'password'
  ), ${asked ?? null}, ${expiresAt}
  from realm_user u where u.realm_id = ${realm} and u.id = ${userId ?? NIL_ID} and ${email}::text is not null`;

/** The address for a link: the confirmed address of an enabled user whose password no directory keeps. */
export const addressFor = async (sql: Sql, realm: string, userId: string): Promise<string | undefined> =>
  (
    await sql<{ email: string }>`
      select u.email from realm_user u
      join credential c on c.realm_id = u.realm_id and c.user_id = u.id and c.type = 'password'
        and c.secret ->> 'phc' is not null
      where u.realm_id = ${realm} and u.id = ${userId} and u.enabled and u.email_verified and u.email is not null`
  )[0]?.email;

export const isKeptElsewhere = async (sql: Sql, realm: string, userId: string): Promise<boolean> =>
  (
    await sql`
      select from directory_person where realm_id = ${realm} and user_id = ${userId}
      union all
      select from credential where realm_id = ${realm} and user_id = ${userId} and type = 'password' and secret ? 'directory'
      limit 1`
  ).length > 0;

export interface Found {
  id: string;
  username: string;
  email: string;
  asked: string | null;
}

/**
 * Finds a link as long as the user's address and password are unchanged. @param lock makes requests with other links of the
 * same user wait
 */
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

/** Deletes all links of the user: using one makes the others void. */
export const removeOf = (sql: Sql, realm: string, userId: string) =>
  sql`delete from password_reset where realm_id = ${realm} and user_id = ${userId}`;
