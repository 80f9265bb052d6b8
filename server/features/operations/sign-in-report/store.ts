// SQL of the sign-in report. Every statement reads a bounded number of rows by an index.
import type { Sql } from '../../../db/sql.ts';

export interface ReportedUser {
  username: string;
  /** The password was reported as stolen. */
  reported: boolean;
  /** The enabled identity providers that the user is linked to. */
  providers: string[];
}

export async function findUser(sql: Sql, realm: string, userId: string): Promise<ReportedUser | undefined> {
  const [row] = await sql<ReportedUser>`
    select u.username, exists (
        select from credential c where c.realm_id = u.realm_id and c.user_id = u.id and c.type = 'password'
          and (c.secret ->> 'reported')::boolean) as reported,
      array(
        select p.alias from identity_link l
        join identity_provider p on p.realm_id = l.realm_id and p.id = l.provider_id
        where l.realm_id = u.realm_id and l.user_id = u.id and p.enabled order by p.alias) as providers
    from realm_user u where u.realm_id = ${realm} and u.id = ${userId}`;
  return row;
}

/** The identity providers that sign-ins can use. @param aliases those that a flow names */
export async function offeredProviders(sql: Sql, realm: string, aliases: readonly string[]) {
  const [row] = await sql<{ named: string[]; showsProvider: boolean }>`
    select
      array(select alias from identity_provider where realm_id = ${realm} and alias = any(${aliases}) and enabled) as named,
      exists (select from identity_provider where realm_id = ${realm} and enabled and not hidden) as "showsProvider"`;
  return row ?? { named: [], showsProvider: false };
}

export interface AttemptRow {
  id: string;
  at: Date;
  type: string;
  outcome: 'success' | 'failure' | 'denied';
  ip_address: string | null;
  client_id: string | null;
  reason: string | null;
  risk: unknown;
}

/** A user can have any number of tokens and so of events: only the last ones are looked through. */
const LAST_EVENTS = 2000;

/** The user's last attempts to sign in, newest first. */
export const lastAttempts = (sql: Sql, realm: string, userId: string, limit: number) => sql<AttemptRow>`
  select id, occurred_at as at, type, outcome, ip_address, client_id, data ->> 'reason' as reason, data -> 'risk' as risk
  from (
    select id, occurred_at, type, outcome, ip_address, client_id, data from event
    where realm_id = ${realm} and subject ->> 'id' = ${userId} and subject ->> 'type' = 'user'
    order by id desc limit ${LAST_EVENTS}::int) e
  where type in ('LOGIN_SUCCESS', 'LOGIN_FAILURE', 'ADMIN_LOGIN_SUCCESS', 'ADMIN_LOGIN_FAILURE', 'MFA_CHALLENGE', 'USER_LOCKED',
    'USER_UNLOCKED')
  order by id desc limit ${limit}`;
