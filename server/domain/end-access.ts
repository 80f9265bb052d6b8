// Ends users' access in every place at once: sessions with their codes and tokens, administrators' sessions, grants that outlive
// sessions, and unfinished sign-ins. The API, the realm document and users themselves end access by this file; features/people/sessions
// ends a single session. Decisions "Single sign-on and freshness".
import { DAY_SECONDS } from '../contract/durations.ts';
import type { By } from '../contract/events.ts';
import { grantIdOf } from '../crypto/refresh-token.ts';
import type { Sql } from '../db/sql.ts';
import { Fragment, fragment } from '../db/statement.ts';
import type { Tx } from '../db/transact.ts';
import { actedBy, endActing } from './acting.ts';
import { suspendAgents } from './agents.ts';
import type { OwnSession } from './principal.ts';

export type EndCause =
  | 'password-changed'
  | 'credential-removed'
  | 'disabled'
  | 'deleted'
  | 'administrator'
  | 'self'
  /** The user reported that a stranger signed in as them. */
  | 'reported'
  /** A transmitter of Shared Signals that the realm trusts said so. */
  | 'signal';

export interface EndOfAccess {
  /** Ids of users of the realm, or a query of such ids. */
  people: readonly string[] | Fragment;
  cause: EndCause;
  by: By;
  at: Date;
  /** This session stays, with its codes and tokens: the session in which the user changed their password. */
  keep?: OwnSession | undefined;
}

interface EndedRow {
  user_id: string;
  username: string;
  expires_at: Date;
}

/**
 * Ends the access of any number of users in a constant number of statements. Call it after the write that removes the access, and
 * before users are deleted. A sign-in at the same moment then waits for this transaction, or this transaction waits for it.
 */
export async function endAccess(
  tx: Pick<Tx, 'sql' | 'record'>,
  realm: string,
  { people, cause, by, at, keep }: EndOfAccess,
): Promise<void> {
  const { sql, record } = tx;
  const them = people instanceof Fragment ? people : fragment`select unnest(${people}::uuid[])`;
  const ofPerson = cause === 'disabled' || cause === 'deleted';
  // A sign-in locks the user besides the credentials (domain/proof.ts), so locking the user is enough.
  if (ofPerson) await sql`select from realm_user where realm_id = ${realm} and id in (${them}) order by id for update`;

  const sessions = await sql<EndedRow & { id: string; clients: string[] }>`
    with ended as (
      delete from session where realm_id = ${realm} and user_id in (${them}) ${exceptSession(keep)}
      returning realm_id, id, user_id, expires_at
    ) select e.id, array(
      select c.client_id from session_client sc join client c on c.realm_id = sc.realm_id and c.id = sc.client
      where sc.realm_id = e.realm_id and sc.session_id = e.id order by 1) as clients, e.user_id, u.username, e.expires_at from ended e join realm_user u on u.realm_id = e.realm_id and u.id = e.user_id`;
  // After the sessions: that write waited for clients that were exchanging a code of the users for a grant.
  const grants = await endOfflineGrants(sql, realm, { which: fragment`f.user_id in (${them})`, at });
  const administrators = await sql<EndedRow>`
    with ended as (
      delete from admin_session where realm_id = ${realm} and user_id in (${them}) ${exceptAdminSession(keep)}
      returning realm_id, user_id, expires_at
    ) select e.user_id, u.username, e.expires_at from ended e join realm_user u on u.realm_id = e.realm_id and u.id = e.user_id`;
  await endActing(tx, realm, { which: actedBy(them), by, at });
  // A credential that a sign-in enrols is confirmed when the sign-in ends, so it is removed with it.
  await sql`
    delete from device_enrolment where realm_id = ${realm} and user_id in (${them}) and not to_confirm and used_at is null`;
  // Any other sign-in ends with the credential that proved it.
  if (ofPerson) {
    const which = fragment`t.user_id in (${them})`;
    await suspendAgents(tx, realm, { which, cause: `owner-${cause}`, by });
  }
  // Links for the users and links made by them: an attacker with the password may have requested one.
  if (ofPerson || cause === 'password-changed' || cause === 'reported')
    await sql`
      with them as (${them})
      delete from enrolment_link where (realm_id = ${realm} and user_id in (select * from them))
        or (made_by ->> 'realm' = ${realm} and made_by ->> 'id' in (select id::text from them them (id)))`;
  if (ofPerson || cause === 'administrator' || cause === 'reported' || cause === 'signal')
    await sql`
      delete from sign_in where realm_id = ${realm} and state #>> '{user,id}' in (select id::text from (${them}) them (id))`;

  const tell = (
    type: 'SESSION_ENDED' | 'TOKEN_REVOKED',
    row: EndedRow,
    data: object,
    clientId: string | null = null,
  ) => {
    // An expired row that is still stored had ended before.
    if (row.expires_at <= at) return;
    const subject = { type: 'user', id: row.user_id, name: row.username } as const;
    record({ type, realm, by, subject, clientId, data: { ...data, reason: cause } });
  };
  for (const row of sessions)
    tell('SESSION_ENDED', row, { sessionId: row.id, ...(row.clients.length > 0 && { clients: row.clients }) });
  for (const row of administrators) tell('SESSION_ENDED', row, { administrator: true });
  for (const row of grants) tell('TOKEN_REVOKED', row, { what: 'refresh_token' }, row.client_id);
}

/** Ends grants that outlive sessions, and refuses their access tokens. @param which a condition on the grant's row `f` */
export async function endOfflineGrants(sql: Sql, realm: string, { which, at }: { which: Fragment; at: Date }) {
  const grants = await sql<EndedRow & { id: string; client_id: string; seconds: number }>`
    with ended as (
      update refresh_family f set revoked_at = ${at}
      where f.realm_id = ${realm} and ${which} and f.session_id is null and f.revoked_at is null
      returning f.realm_id, f.id, f.user_id, f.client, f.expires_at
    ) select e.id, e.user_id, u.username, e.expires_at, c.client_id, greatest(c.access_token_ttl_seconds, ${LONGEST}::int) as seconds
      from ended e join realm_user u on u.realm_id = e.realm_id and u.id = e.user_id
        join client c on c.realm_id = e.realm_id and c.id = e.client`;
  await refuseTokensOf(sql, realm, grants, at);
  return grants;
}

/** The longest lifetime, in seconds, that a realm can set for access tokens. */
export const LONGEST = DAY_SECONDS;

const exceptSession = (keep: OwnSession | undefined): Fragment =>
  keep && 'sessionId' in keep ? fragment`and id <> ${keep.sessionId}` : fragment``;
const exceptAdminSession = (keep: OwnSession | undefined): Fragment =>
  keep && 'adminSession' in keep ? fragment`and token_hash <> ${keep.adminSession}` : fragment``;

/** Refuses access tokens of these grants from now on. @param grants each with the longest lifetime of its access tokens, in seconds */
export async function refuseTokensOf(
  sql: Sql,
  realm: string,
  grants: readonly { id: string; seconds: number }[],
  at: Date,
): Promise<void> {
  if (grants.length === 0) return;
  await sql`
    insert into revoked_token (realm_id, jti, expires_at)
    select ${realm}, gid, ${at}::timestamptz + seconds * interval '1 second'
    from unnest(${grants.map(({ id }) => grantIdOf(id))}::uuid[], ${grants.map(({ seconds }) => seconds)}::int[]) as ended (gid, seconds)
    on conflict do nothing`;
}
