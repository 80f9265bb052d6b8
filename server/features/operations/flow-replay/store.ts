// SQL of a replay. Each statement reads a bounded number of rows by an index, and none is asked for one user.
import { leastIdAt } from '../../../crypto/ids.ts';
import type { Sql } from '../../../db/sql.ts';
import { type PersonRow, personColumns } from '../../../domain/person.ts';
import { type StandingRow, standingColumns } from '../../../domain/standing.ts';

export interface SignInRow {
  at: Date;
  user_id: string | null;
  client_id: string | null;
  ip_address: string | null;
  reason: string | null;
  risk: unknown;
}

/** The newest sign-ins of a period, by the time in their ids. */
export const signIns = (
  sql: Sql,
  realm: string,
  type: 'LOGIN_SUCCESS' | 'LOGIN_FAILURE',
  { from, to, limit }: { from: Date; to: Date; limit: number },
) => sql<SignInRow>`
  select occurred_at as at, subject ->> 'id' as user_id, client_id, ip_address, data ->> 'reason' as reason,
    data -> 'risk' as risk
  from event
  where realm_id = ${realm} and type = ${type} and id >= ${leastIdAt(from)}::uuid and id < ${leastIdAt(to)}::uuid
  order by id desc limit ${limit}`;

export interface UserRow extends StandingRow {
  id: string;
  username: string;
  reported: boolean;
  providers: string[];
  keeper: string | null;
}

export const users = (sql: Sql, realm: string, ids: readonly string[]) => sql<UserRow>`
  select u.id, u.username, exists (
      select from credential c where c.realm_id = u.realm_id and c.user_id = u.id and c.type = 'password'
        and (c.secret ->> 'reported')::boolean) as reported,
    array(
      select p.alias from identity_link l
      join identity_provider p on p.realm_id = l.realm_id and p.id = l.provider_id
      where l.realm_id = u.realm_id and l.user_id = u.id and p.enabled order by p.alias) as providers,
    (
      select d.alias from directory_person dp join directory d on d.realm_id = dp.realm_id and d.id = dp.directory_id
      where dp.realm_id = u.realm_id and dp.user_id = u.id limit 1) as keeper,
    ${standingColumns}
  from realm_user u where u.realm_id = ${realm} and u.id = any(${ids}::uuid[])`;

export const persons = (sql: Sql, realm: string, ids: readonly string[]) => sql<PersonRow>`
  select ${personColumns} from realm_user u where u.realm_id = ${realm} and u.id = any(${ids}::uuid[])`;

/** The flows that applications ask for instead of the realm's: their own, else that of their application. */
export const overrides = (sql: Sql, realm: string, clientIds: readonly string[]) => sql<{
  client_id: string;
  flow: string;
}>`
  select o.client_id, o.flow from (
    select c.client_id, coalesce(c.flow_override, a.flow_override) as flow
    from client c
    left join application_client ac on ac.realm_id = c.realm_id and ac.client = c.id
    left join application a on a.realm_id = ac.realm_id and a.id = ac.application_id
    where c.realm_id = ${realm} and c.client_id = any(${clientIds}::text[])
    union all
    select s.entity_id, coalesce(s.flow_override, (
      select a.flow_override from application a
      where a.realm_id = s.realm_id and s.entity_id = any(a.saml_clients) order by a.name limit 1))
    from saml_client s where s.realm_id = ${realm} and s.entity_id = any(${clientIds}::text[])
  ) o join flow f on f.realm_id = ${realm} and f.alias = o.flow`;

/** Whether a client or an application asks for the flow. */
export const isAskedFor = async (sql: Sql, realm: string, alias: string): Promise<boolean> =>
  (
    await sql<{ asked: boolean }>`
      select exists (select from client where realm_id = ${realm} and flow_override = ${alias})
        or exists (select from application where realm_id = ${realm} and flow_override = ${alias})
        or exists (select from saml_client where realm_id = ${realm} and flow_override = ${alias}) as asked`
  )[0]?.asked ?? false;
