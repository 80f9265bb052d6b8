// SQL of the states and reviews of agents. resource.ts reads and writes their other fields.
import type { OwnAgent } from '../../../contract/account.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';

/** When the next review of the agent in row `t` is due, as an SQL expression. */
export const reviewDue = fragment`(coalesce(t.reviewed_at, t.created_at) + t.review_interval_days * interval '1 day')`;

export const epochMs = (of: Fragment): Fragment => fragment`(extract(epoch from ${of}) * 1000)::float8`;

/** When the agent in row `t` last did something that is in the audit log, as an SQL expression. */
export const lastUsed = fragment`(select e.occurred_at from event e where e.realm_id = t.realm_id
  and e.actor ->> 'type' = 'agent' and e.actor ->> 'id' = t.id::text order by e.id desc limit 1)`;

/** Why the agent in row `t` needs an administrator's attention, as an SQL array. */
const reasons = (at: Date): Fragment => fragment`array_remove(array[
  case when t.user_id is null then 'owner-gone' end,
  case when exists (select from realm_user u where u.realm_id = t.realm_id and u.id = t.user_id and not u.enabled)
    then 'owner-disabled' end,
  case when ${reviewDue} <= ${at}::timestamptz then 'review-due' end,
  case when t.expires_at <= ${at}::timestamptz then 'expired' end], null)`;

export const inReview = (at: Date): Fragment => fragment`and t.status <> 'revoked' and cardinality(${reasons(at)}) > 0`;

export async function reasonsOf(sql: Sql, realm: string, ids: readonly string[], at: Date) {
  const rows = await sql<{ id: string; reasons: string[] }>`
    select t.id, ${reasons(at)} as reasons from agent t where t.realm_id = ${realm} and t.id = any(${ids}::uuid[])`;
  return new Map(rows.map((row) => [row.id, row.reasons]));
}

export interface State {
  name: string;
  status: 'draft' | 'active' | 'suspended' | 'revoked';
  client_id: string | null;
  expires_at: Date | null;
  /** null: the agent has no owner. */
  owner_enabled: boolean | null;
}
/** @param of `owner`: find the agent only if this user owns it */
export async function lock(
  sql: Sql,
  realm: string,
  { id, owner = null }: { id: string; owner?: string | null },
): Promise<State | undefined> {
  const [row] = await sql<State>`
    select t.name, t.status, t.client_id, t.expires_at, (
      select u.enabled from realm_user u where u.realm_id = t.realm_id and u.id = t.user_id) as owner_enabled
    from agent t where t.realm_id = ${realm} and t.id = ${id} and (${owner}::uuid is null or t.user_id = ${owner}) for update of t`;
  return row;
}

export const setStatus = (sql: Sql, realm: string, id: string, status: State['status'], reviewedAt: Date | null) => sql`
  update agent set status = ${status}, reviewed_at = coalesce(${reviewedAt}::timestamptz, reviewed_at)
  where realm_id = ${realm} and id = ${id}`;

/** The agents that the user owns, then the agents of other owners whose clients the user has consented to. */
export const ownAgents = (sql: Sql, realm: string, userId: string) => sql<OwnAgent>`
  with consented as (
    select c.client_id from consent k join client c on c.realm_id = k.realm_id and c.id = k.client
    where k.realm_id = ${realm} and k.user_id = ${userId}
  ), mine as (
    select t.id, 'owner' as because from agent t where t.realm_id = ${realm} and t.user_id = ${userId}
    union all
    select t.id, 'consent' from agent t join consented on consented.client_id = t.client_id
    where t.realm_id = ${realm} and t.user_id is distinct from ${userId}
  )
  select t.id, t.name, t.description, t.status, t.client_id as "clientId", m.because,
    case when m.because = 'owner' and t.status = 'active' then floor(${epochMs(reviewDue)})::float8 end as "reviewDueAt"
  from mine m join agent t on t.realm_id = ${realm} and t.id = m.id order by m.because desc, t.name limit 100`;

export const isOwn = async (sql: Sql, realm: string, { id, owner }: { id: string; owner: string }) =>
  (await sql`select from agent where realm_id = ${realm} and id = ${id} and user_id = ${owner}`).length > 0;

/** The realms in which an agent must be suspended or its owner must be reminded. */
export const realmsDue = async (sql: Sql, at: Date, until: Date): Promise<string[]> =>
  (
    await sql<{ realm: string }>`
      select distinct t.realm_id as realm from agent t where t.status = 'active'
        and (t.expires_at <= ${at} or ${reviewDue} <= ${at}
          or ${reviewDue} <= ${until} and t.reminded_of is distinct from ${reviewDue})`
  ).map(({ realm }) => realm);

export interface Reminder {
  name: string;
  user_id: string;
  email: string;
  due: Date;
}
/**
 * Marks the due reminders as sent and returns them, ordered by e-mail address (messaging/limits.ts). Each review is
 * reminded of once.
 */
export const takeDueReminders = (sql: Sql, realm: string, until: Date): Promise<Reminder[]> => sql<Reminder>`
  with due as (
    update agent t set reminded_of = ${reviewDue}
    where t.realm_id = ${realm} and t.status = 'active' and ${reviewDue} <= ${until}
      and t.reminded_of is distinct from ${reviewDue}
    returning t.realm_id, t.name, t.user_id, t.reminded_of
  ) select d.name, u.id as user_id, u.email, d.reminded_of as due
    from due d join realm_user u on u.realm_id = d.realm_id and u.id = d.user_id
    where u.enabled and u.email is not null order by lower(u.email) collate "C", d.name`;

export async function userExists(sql: Sql, realm: string, userId: string): Promise<boolean> {
  const [row] = await sql`select from realm_user where realm_id = ${realm} and id = ${userId}`;
  return row !== undefined;
}
