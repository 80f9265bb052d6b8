// SQL of the links by which people say that a sign-in wasn't theirs.
import { fragment, type Sql } from '../../db/sql.ts';

export interface Report {
  id: Buffer;
  userId: string;
  sessionId: string;
  /** Where the link goes. */
  email: string;
  /** Of the sign-in. */
  begunAt: Date;
  expiresAt: Date;
}

export const insert = (sql: Sql, realm: string, report: Report) => sql`
  insert into sign_in_report (realm_id, link_hash, user_id, session_id, email, begun_at, expires_at)
  values (${realm}, ${report.id}, ${report.userId}, ${report.sessionId}, ${report.email}, ${report.begunAt}, ${report.expiresAt})`;

export interface Found {
  id: string;
  username: string;
  sessionId: string;
  begunAt: Date;
  /** Whoever keeps it. */
  hasPassword: boolean;
  /** The link went to the address that is theirs now. */
  theirAddress: boolean;
}

/** @param lock makes others with the same link wait */
export const find = async (
  sql: Sql,
  realm: string,
  id: Buffer,
  { now, lock = false }: { now: Date; lock?: boolean },
): Promise<Found | undefined> =>
  (
    await sql<Found>`
      select u.id, u.username, r.session_id as "sessionId", coalesce(r.begun_at, r.expires_at - interval '7 days') as "begunAt", exists (
        select from credential c where c.realm_id = u.realm_id and c.user_id = u.id and c.type = 'password'
      ) as "hasPassword", u.email_verified and u.email is not distinct from r.email as "theirAddress"
      from sign_in_report r join realm_user u on u.realm_id = r.realm_id and u.id = r.user_id
      where r.realm_id = ${realm} and r.link_hash = ${id} and r.expires_at > ${now} and u.enabled
      ${lock ? fragment`for update of r` : fragment``}`
  )[0];

export const remove = (sql: Sql, realm: string, id: Buffer) =>
  sql`delete from sign_in_report where realm_id = ${realm} and link_hash = ${id}`;

/** Where the person hears of it; undefined: nowhere. */
export const addressOf = async (sql: Sql, realm: string, userId: string): Promise<string | undefined> =>
  (
    await sql<{ email: string }>`
      select email from realm_user
      where realm_id = ${realm} and id = ${userId} and email_verified and email is not null`
  )[0]?.email;
