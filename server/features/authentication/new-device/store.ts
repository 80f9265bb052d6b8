// SQL of the links by which users report a sign-in as not theirs.
import { fragment, type Sql } from '../../../db/sql.ts';
import { isOwnChange } from '../../../domain/own-changes.ts';

export interface Report {
  id: Buffer;
  userId: string;
  sessionId: string;
  /** The address that the link was mailed to. */
  email: string;
  /** When the sign-in began. */
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
  /** The user has a password, here or in a directory. */
  hasPassword: boolean;
  /** The link was mailed to the user's present address. */
  theirAddress: boolean;
}

/** @param lock makes other reports of the same user wait */
export const find = async (
  sql: Sql,
  realm: string,
  id: Buffer,
  { now, lock = false }: { now: Date; lock?: boolean },
): Promise<Found | undefined> =>
  (
    await sql<Found>`
      select u.id, u.username, r.session_id as "sessionId", exists (
        select from credential c where c.realm_id = u.realm_id and c.user_id = u.id and c.type = 'password'
      ) as "hasPassword", u.email_verified and u.email is not distinct from r.email as "theirAddress"
      from sign_in_report r join realm_user u on u.realm_id = r.realm_id and u.id = r.user_id
      where r.realm_id = ${realm} and r.link_hash = ${id} and r.expires_at > ${now} and u.enabled
      ${lock ? fragment`for update of u` : fragment``}`
  )[0];

/** Older rows have no `begun_at`: their sign-in began at most seven days before they expire. */
const begunAt = fragment`coalesce(begun_at, expires_at - interval '7 days')`;

/**
 * Before rows leave the audit log (`gone`), the changes that a report would need are copied to its link. So a short
 * retention of the log loses nothing.
 */
export const keepChanges = fragment`kept as (
  update sign_in_report r set changed_fields = array(select distinct unnest(r.changed_fields || found.fields) order by 1)
  from (
    select l.realm_id, l.link_hash, array_agg(field #>> '{}') as fields
    from gone e join sign_in_report l on l.realm_id = e.realm_id and l.user_id = case
        when e.subject ->> 'id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then (e.subject ->> 'id')::uuid end
        and e.occurred_at >= ${begunAt}
      cross join lateral jsonb_path_query(e.data, '$.fields[*]') field
    where ${isOwnChange} group by l.realm_id, l.link_hash
  ) found where r.realm_id = found.realm_id and r.link_hash = found.link_hash)`;

/**
 * Deletes all links of the user: the same person may have signed in before, too.
 * @returns when the first reported sign-in began, and the changes since then that are no longer in the audit log;
 * undefined: this link was used in the meantime
 */
export async function removeAll(
  sql: Sql,
  realm: string,
  userId: string,
  id: Buffer,
  { now }: { now: Date },
): Promise<{ since: Date; changed: string[] } | undefined> {
  const [row] = await sql<{ since: Date | null; mine: boolean | null; changed: string[] }>`
    with gone as (
      delete from sign_in_report where realm_id = ${realm} and user_id = ${userId}
      returning link_hash, begun_at, expires_at, changed_fields
    ) select min(${begunAt}) as since, bool_or(link_hash = ${id}) as mine,
        array(select distinct unnest(changed_fields) from gone where expires_at > ${now}) as changed
      from gone where expires_at > ${now}`;
  return row?.mine && row.since ? { since: row.since, changed: row.changed } : undefined;
}

/** The user's confirmed address; undefined: there is none. */
export const addressOf = async (sql: Sql, realm: string, userId: string): Promise<string | undefined> =>
  (
    await sql<{ email: string }>`
      select email from realm_user
      where realm_id = ${realm} and id = ${userId} and email_verified and email is not null`
  )[0]?.email;
