// How many live sessions, people and active clients a plan touches: counted where it is asked for, over what is alive, and to
// a bound, so that a plan of a large realm stays cheap. What a change does is effects.ts's. Decisions "Import, export, plan".
import type { Consequence } from '../../contract/transfer.ts';
import { fragment, type Sql } from '../../db/sql.ts';
import type { PlannedChange } from '../../resource/part.ts';
import { effectsOf } from './effects.ts';

/** What more of the plan does is not said. */
const MOST_EFFECTS = 50;
/** A client that got tokens since then is active. */
const ACTIVE_MS = 24 * 3_600_000;
/** Of each client, role or realm no more are counted. */
const MOST_COUNTED = 10_000;

interface Counted {
  n: number;
  sessions: number;
  people: number;
  clients: number;
}

export async function consequencesOf(
  sql: Sql,
  realm: string,
  { planned, now }: { planned: readonly PlannedChange[]; now: Date },
): Promise<Consequence[]> {
  const effects = effectsOf(planned).slice(0, MOST_EFFECTS);
  if (effects.length === 0) return [];
  const asked = JSON.stringify(
    effects.map(({ reach: { role, ...reach } }, n) => ({ n, ...reach, role: role?.name, role_client: role?.client })),
  );
  const live = fragment`s.realm_id = ${realm} and s.expires_at > ${now}`;
  const active = fragment`select ca.client from client_activity ca
    where ca.realm_id = ${realm} and ca.hour > ${new Date(now.getTime() - ACTIVE_MS)}`;
  const rows = await sql<Counted>`
    with asked as (
      select * from jsonb_to_recordset(${asked}::jsonb) as a
        (n int, clients text[], scope text, flow text, role text, role_client text, "samlClient" text,
          "identityProvider" text, directory text, "group" text, organization text, everybody boolean)
    ), bound as (
      select coalesce(settings ->> 'browserFlow', 'browser') as flow from realm where realm_id = ${realm}
    ), everywhere as (
      select n from asked where everybody or flow = (select flow from bound)
    ), of_clients as (
      select a.n, c.id from asked a join client c on c.realm_id = ${realm} and (c.client_id = any(a.clients)
        or c.flow_override = a.flow
        or a.scope is not null and exists (select from client_scope_link l
          join client_scope cs on cs.realm_id = l.realm_id and cs.id = l.scope_id
          where l.realm_id = c.realm_id and l.client = c.id and cs.name = a.scope))
    ), of_roles as (
      select a.n, r.id from asked a join role r on r.realm_id = ${realm} and r.name = a.role
        and r.client is not distinct from
          (select c.id from client c where c.realm_id = ${realm} and c.client_id = a.role_client)
    ), of_people as (
      select o.n, p.user_id from of_roles o cross join lateral (
        (select user_id from user_role where realm_id = ${realm} and role_id = o.id
         union
         select m.user_id from group_role gr join group_member m on m.realm_id = gr.realm_id and m.group_id = gr.group_id
          where gr.realm_id = ${realm} and gr.role_id = o.id)
        limit ${MOST_COUNTED}
      ) p
      union all
      select a.n, p.user_id from asked a
        join identity_provider i on i.realm_id = ${realm} and i.alias = a."identityProvider" cross join lateral
        (select user_id from identity_link where realm_id = ${realm} and provider_id = i.id limit ${MOST_COUNTED}) p
      union all
      select a.n, p.user_id from asked a
        join directory d on d.realm_id = ${realm} and d.alias = a.directory cross join lateral
        (select user_id from directory_person where realm_id = ${realm} and directory_id = d.id limit ${MOST_COUNTED}) p
      union all
      select a.n, p.user_id from asked a
        join user_group g on g.realm_id = ${realm} and (g.path = a."group" or starts_with(g.path, a."group" || '/'))
        cross join lateral
        (select user_id from group_member where realm_id = ${realm} and group_id = g.id limit ${MOST_COUNTED}) p
      union all
      select a.n, p.user_id from asked a
        join organization o on o.realm_id = ${realm} and o.name = a.organization cross join lateral
        (select user_id from organization_member where realm_id = ${realm} and organization_id = o.id
          limit ${MOST_COUNTED}) p
    ), touched as (
      select o.n, t.session_id, t.user_id, o.id as client from of_clients o cross join lateral (
        (select s.id as session_id, s.user_id from session_client sc
          join session s on s.realm_id = sc.realm_id and s.id = sc.session_id
          where sc.realm_id = ${realm} and sc.client = o.id and ${live} limit ${MOST_COUNTED})
        union all
        (select f.session_id, f.user_id from refresh_family f
          where f.realm_id = ${realm} and f.client = o.id and f.revoked_at is null and f.expires_at > ${now}
          limit ${MOST_COUNTED})
      ) t
      union all
      select p.n, s.id, p.user_id, null from of_people p left join session s on ${live} and s.user_id = p.user_id
      union all
      select a.n, s.id, s.user_id, c.id from asked a
        join saml_client c on c.realm_id = ${realm} and c.entity_id = a."samlClient"
        join saml_session ss on ss.realm_id = ${realm} and ss.client = c.id
        join session s on s.id = ss.session_id and ${live}
      union all
      select o.n, null, null, o.id from of_clients o where exists (${active} and ca.client = o.id)
      union all
      select a.n, null, null, ca.client from asked a cross join lateral (${active}) ca where a.everybody
      union all
      select o.n, null, null, cr.client from of_roles o
        join client_role cr on cr.realm_id = ${realm} and cr.role_id = o.id
      union all
      select e.n, s.id, s.user_id, sc.client from everywhere e cross join lateral
        (select s.id, s.user_id from session s where ${live} limit ${MOST_COUNTED}) s
        left join session_client sc on sc.realm_id = ${realm} and sc.session_id = s.id
    )
    select n, count(distinct session_id)::int as sessions, count(distinct user_id)::int as people,
      count(distinct client)::int as clients
    from touched group by n`;
  const counted = new Map(rows.map((row) => [row.n, row]));
  return effects.map(({ kind, key, message, locksOut }, n) => {
    const { sessions = 0, people = 0, clients = 0 } = counted.get(n) ?? {};
    return { kind, key, message, locksOut, sessions, people, clients };
  });
}
