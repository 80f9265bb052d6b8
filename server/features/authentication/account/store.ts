// SQL of what the account page and its API show to a user.
import type { OwnApplication } from '../../../contract/account.ts';
import type { Sql } from '../../../db/sql.ts';
import { readPersonRow, rolesOf } from '../../../domain/person.ts';
import { ACCOUNT_SCOPE } from '../../../domain/scopes.ts';
import { credentialTypes } from '../../../domain/standing.ts';

export interface Profile {
  username: string;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
}

/** The user of a client's token, and whether the user has consented that the client acts in the account. */
export async function tokenHolder(
  sql: Sql,
  realm: string,
  { userId, clientId }: { userId: string | null; clientId: string | undefined },
) {
  const [row] = await sql<{
    userId: string;
    username: string;
    types: string[];
    administers: boolean;
    agreed: boolean;
  }>`
    select u.id as "userId", u.username, ${credentialTypes},
      exists (select from admin_grant g where g.realm_id = u.realm_id and g.user_id = u.id) as administers,
      exists (
        select from consent s join client c on c.realm_id = s.realm_id and c.id = s.client
        where s.realm_id = u.realm_id and s.user_id = u.id and c.client_id = ${clientId ?? null}
          and ${ACCOUNT_SCOPE} = any(s.scopes)) as agreed
    from realm_user u where u.realm_id = ${realm} and u.id = ${userId} and u.enabled`;
  return row;
}

/** The authenticators of the flows that sign people in: the realm's, and those that applications have instead. */
export async function usedAuthenticators(sql: Sql, realm: string): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }>`
    with recursive bound as (
      select coalesce(settings ->> 'browserFlow', 'browser') as alias from realm where realm_id = ${realm}
      union select flow_override from client where realm_id = ${realm} and flow_override is not null
      union select flow_override from application where realm_id = ${realm} and flow_override is not null
      union select flow_override from saml_client where realm_id = ${realm} and flow_override is not null
    ), used as (
      select e.flow_alias, e.execution_id, e.authenticator_id from flow_execution e join bound b on b.alias = e.flow_alias
      where e.realm_id = ${realm} and e.parent_id is null and e.requirement <> 'DISABLED'
      union all
      select e.flow_alias, e.execution_id, e.authenticator_id from flow_execution e
        join used u on u.flow_alias = e.flow_alias and u.execution_id = e.parent_id
      where e.realm_id = ${realm} and e.requirement <> 'DISABLED'
    )
    select distinct authenticator_id as id from used where authenticator_id is not null`;
  return new Set(rows.map(({ id }) => id));
}

/** Locks the user's row: two changes of the same user's credentials run one after the other. */
export const lockPerson = (sql: Sql, realm: string, userId: string) =>
  sql`select from realm_user where realm_id = ${realm} and id = ${userId} for no key update`;

/** Whether the user has an identity at an enabled provider, apart from the one with the id `without`. */
export const hasIdentity = async (sql: Sql, realm: string, userId: string, without: string): Promise<boolean> =>
  (
    await sql`
      select from identity_link l join identity_provider p on p.realm_id = l.realm_id and p.id = l.provider_id
      where l.realm_id = ${realm} and l.user_id = ${userId} and l.id <> ${without} and p.enabled limit 1`
  ).length > 0;

/** The names that users see of clients, as pairs with their client ids. */
export async function clientTitles(sql: Sql, realm: string, clientIds: readonly string[]): Promise<[string, string][]> {
  const rows = await sql<{ clientId: string; title: string }>`
    select c.client_id as "clientId", coalesce(c.name, a.display_name, c.client_id) as title
    from client c
      left join application_client ac on ac.realm_id = c.realm_id and ac.client = c.id
      left join application a on a.realm_id = ac.realm_id and a.id = ac.application_id
    where c.realm_id = ${realm} and c.client_id = any(${clientIds})
    union all
    select s.entity_id, coalesce(s.name, s.entity_id) from saml_client s
    where s.realm_id = ${realm} and s.entity_id = any(${clientIds})`;
  return rows.map(({ clientId, title }) => [clientId, title]);
}

/** The descriptions of client scopes, as pairs with their names. */
export async function scopeDescriptions(
  sql: Sql,
  realm: string,
  names: readonly string[],
): Promise<[string, string | null][]> {
  const rows = await sql<{ name: string; description: string | null }>`
    select name, description from client_scope where realm_id = ${realm} and name = any(${names})`;
  return rows.map(({ name, description }) => [name, description]);
}

export const profile = async (sql: Sql, realm: string, userId: string) =>
  (
    await sql<Profile>`
      select username, email, first_name, last_name
      from realm_user where realm_id = ${realm} and id = ${userId}`
  )[0];

export interface ActivityRow {
  type: string;
  at: number;
  /** For consecutive failed sign-ins in one row: the time of the first. Otherwise equal to `at`. */
  firstAt: number;
  count: number;
  /** null, too, if they came from several addresses. */
  ipAddress: string | null;
  clientId: string | null;
  /** An administrator or the server caused the event, not the user. */
  byOther: boolean;
  /** For USER_UPDATED: the changed field that the text names. */
  field: 'email' | null;
  /** The oldest event of the row. Older rows begin after it. */
  oldest: string;
}
/** The most failed sign-ins that one page folds; earlier ones come on the next page. */
const MOST_FAILURES = 5000;

/**
 * The user's events, newest first. Consecutive failed sign-ins of a day are one row, so that they hide no other event.
 * @param types the types to return; `before`: only events older than this id; `limit`: the page's size and
 *   one more: a row beyond the page shows that there are older events
 */
export const activityOf = (
  sql: Sql,
  realm: string,
  userId: string,
  { types, before, limit }: { types: readonly string[]; before: string | undefined; limit: number },
) => sql<ActivityRow>`
  with mine as not materialized (
    select id, type, occurred_at, ip_address, client_id, data, actor is not null and actor ->> 'id' is distinct from ${userId} as by_other
    from event where realm_id = ${realm} and subject ->> 'id' = ${userId} and subject ->> 'type' = 'user'
      and type = any(${types}::text[]) and (${before ?? null}::uuid is null or id < ${before ?? null}::uuid)
  ), others as (
    select * from mine where type <> 'LOGIN_FAILURE' order by id desc limit ${limit}
  ), failures as (
    select *, (select count(*) from others o where o.id > m.id) as place from (
      select * from mine where type = 'LOGIN_FAILURE'
        and ((select count(*) from others) < ${limit} or id > (select id from others order by id limit 1))
      order by id desc limit ${MOST_FAILURES}) m
  ), shown as (
    select id, id as oldest, type, occurred_at, occurred_at as first_at, 1 as times, ip_address, client_id, by_other, data
    from others
    union all
    select (array_agg(id order by id desc))[1], (array_agg(id order by id))[1], 'LOGIN_FAILURE', max(occurred_at), min(occurred_at),
      count(*)::int, case when min(ip_address) = max(ip_address) then min(ip_address) end,
      case when min(client_id) = max(client_id) then min(client_id) end, bool_and(by_other), '{}'
    from failures group by place, date_trunc('day', occurred_at at time zone 'UTC')
  )
  select type, floor(extract(epoch from occurred_at) * 1000)::bigint as at,
    floor(extract(epoch from first_at) * 1000)::bigint as "firstAt", times as count, ip_address as "ipAddress",
    client_id as "clientId", by_other as "byOther", oldest,
    case when type = 'USER_UPDATED' and data -> 'fields' ?| array['email', 'emailVerified'] then 'email' end as field
  from shown order by id desc limit ${limit}`;

const MOST_APPLICATIONS = 500;

/** The visible applications that the user may open. */
export async function applicationsOf(sql: Sql, realm: string, userId: string): Promise<OwnApplication[]> {
  const person = await readPersonRow(sql, realm, userId);
  const roles = person ? rolesOf(person.roles).realm : [];
  return sql<OwnApplication>`
    select a.name, a.display_name as "displayName", a.description, a.url, a.icon_url as "iconUrl",
      lower(coalesce(a.display_name, a.name)) as shown
    from application a
    where a.realm_id = ${realm} and a.enabled and a.visible and (
      not exists (select from application_role ar where ar.realm_id = a.realm_id and ar.application_id = a.id)
      or exists (
        select from application_role ar join role r on r.realm_id = ar.realm_id and r.id = ar.role_id
        where ar.realm_id = a.realm_id and ar.application_id = a.id and r.client is null and r.name = any(${roles}::text[])))
    order by shown, a.name limit ${MOST_APPLICATIONS}`;
}
