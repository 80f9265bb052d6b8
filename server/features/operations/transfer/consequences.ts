// Counts the live sessions, users and active clients that a plan touches. The count is made on request and bounded, so that a
// plan of a large realm stays cheap. effects.ts finds the effects. Decisions "Import, export, plan".
import type { Consequence } from '../../../contract/transfer.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { PlannedChange } from '../../../resource/part.ts';
import { effectsOf } from './effects.ts';

/** The most consequences in an answer, the largest first. */
const MOST_TOLD = 50;
/** The most effects of a plan that are examined. */
const MOST_EFFECTS = 200;
/** A client that got tokens within this time is active. */
const ACTIVE_MS = 24 * 3_600_000;
/** Effects on more clients count the whole realm's users, not those of each client. */
const FEW_CLIENTS = 100;
/** The highest count for each client, role or realm. */
const MOST_COUNTED = 10_000;

interface Counted {
  n: number;
  sessions: number;
  people: number;
  clients: number;
}

/** The clients, SAML clients, groups and roles that the effects concern, by `asked.n`. */
const named = (realm: string) => fragment`
  of_clients as (
    select a.n, c.id from asked a cross join unnest(a.clients) as k (client_id)
      join client c on c.realm_id = ${realm} and c.client_id = k.client_id
    union
    select a.n, c.id from asked a join client c on c.realm_id = ${realm} and c.flow_override = a.flow
    union
    select a.n, c.id from asked a join application p on p.realm_id = ${realm} and p.flow_override = a.flow
      join application_client ac on ac.realm_id = p.realm_id and ac.application_id = p.id
      join client c on c.realm_id = ac.realm_id and c.id = ac.client and c.flow_override is null
    union
    select a.n, l.client from asked a join client_scope s on s.realm_id = ${realm} and s.name = a.scope
      join client_scope_link l on l.realm_id = s.realm_id and l.scope_id = s.id
    union
    select a.n, l.client from asked a join claim k on k.realm_id = ${realm} and k.name = a.claim
      join client_scope_claim sc on sc.realm_id = k.realm_id and sc.claim_id = k.id
      join client_scope_link l on l.realm_id = sc.realm_id and l.scope_id = sc.scope_id
    union
    select a.n, c.id from asked a join client c on c.realm_id = ${realm} and (a.resource = any(c.allowed_resources)
        or c.allowed_resources = '{}' and not exists
          (select from client_registration g where g.realm_id = c.realm_id and g.client = c.id))
      where a.resource is not null
    union
    select a.n, c.id from asked a
      join client c on c.realm_id = ${realm} and c.token_endpoint_auth_method = a."authMethod"
        and case when a."authMethod" = 'tls_client_auth' then c.tls_client_auth_authorities else c.client_assertion_audience end is null
    union
    select a.n, g.client from asked a
      join client_registration g on g.realm_id = ${realm} and g.document_fresh_until is not null where a."byDocument"
  ), of_saml_clients as (
    select a.n, c.id from asked a cross join unnest(a."samlClients") as k (entity_id)
      join saml_client c on c.realm_id = ${realm} and c.entity_id = k.entity_id
    union
    select a.n, c.id from asked a join saml_client c on c.realm_id = ${realm} and c.flow_override = a.flow
    union
    select a.n, c.id from asked a join application p on p.realm_id = ${realm} and p.flow_override = a.flow
      join saml_client c on c.realm_id = ${realm} and c.entity_id = any(p.saml_clients) and c.flow_override is null
  ), of_roles as (
    select a.n, r.id from asked a join role r on r.realm_id = ${realm} and r.name = a.role
      and r.client is not distinct from
        (select c.id from client c where c.realm_id = ${realm} and c.client_id = a.role_client)
    union
    select o.n, rc.role_id from of_roles o join role_composite rc on rc.realm_id = ${realm} and rc.child_id = o.id
  ), of_groups as (
    (select o.n, gr.group_id as id from of_roles o join group_role gr on gr.realm_id = ${realm} and gr.role_id = o.id
     union
     select a.n, g.id from asked a join user_group g on g.realm_id = ${realm} and g.path = a."group")
    union
    select o.n, g.id from of_groups o join user_group g on g.realm_id = ${realm} and g.parent_id = o.id
  )`;

/** The users whom the effects concern, by `asked.n`. */
const people = (realm: string) => fragment`
  select o.n, p.user_id from of_roles o cross join lateral
    (select user_id from user_role where realm_id = ${realm} and role_id = o.id limit ${MOST_COUNTED}) p
  union all
  select o.n, p.user_id from of_groups o cross join lateral
    (select user_id from group_member where realm_id = ${realm} and group_id = o.id limit ${MOST_COUNTED}) p
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
    join organization o on o.realm_id = ${realm} and o.name = a.organization cross join lateral
    (select user_id from organization_member where realm_id = ${realm} and organization_id = o.id
      limit ${MOST_COUNTED}) p
  union all
  select a.n, p.object_id from asked a
    join scim_target t on t.realm_id = ${realm} and t.name = a."scimTarget" cross join lateral
    (select object_id from scim_link where realm_id = ${realm} and target_id = t.id and kind = 'user'
      limit ${MOST_COUNTED}) p`;

export async function consequencesOf(
  sql: Sql,
  realm: string,
  { planned, now }: { planned: readonly PlannedChange[]; now: Date },
): Promise<Consequence[]> {
  const effects = effectsOf(planned).slice(0, MOST_EFFECTS);
  if (effects.length === 0) return [];
  const asked = JSON.stringify(
    effects.map(({ touched: { role, ...touched } }, n) => ({
      n,
      ...touched,
      role: role?.name,
      role_client: role?.client,
    })),
  );
  const live = fragment`s.realm_id = ${realm} and s.expires_at > ${now}`;
  const good = fragment`f.realm_id = ${realm} and f.revoked_at is null and f.expires_at > ${now}`;
  const active = fragment`select ca.client from client_activity ca
    where ca.realm_id = ${realm} and ca.hour > ${new Date(now.getTime() - ACTIVE_MS)}`;
  const rows = await sql<Counted>`
    with recursive asked as (
      select * from jsonb_to_recordset(${asked}::jsonb) as a
        (n int, clients text[], "samlClients" text[], scope text, claim text, resource text, "authMethod" text,
          "byDocument" boolean, flow text, role text, role_client text, "adminRole" text, "identityProvider" text,
          directory text, "group" text, organization text, "scimTarget" text, authenticators text[], everybody boolean)
    ), bound as (
      select coalesce(settings ->> 'browserFlow', 'browser') as flow from realm where realm_id = ${realm}
    ), everywhere as (
      select n from asked where everybody or flow = (select flow from bound)
    ), ${named(realm)}, of_people as (${people(realm)}
    ), of_administrators as (
      select a.n, g.user_id, g.client from asked a
        join admin_role r on r.realm_id = ${realm} and r.name = a."adminRole"
        join admin_grant g on g.realm_id = r.realm_id and g.role_id = r.id
    ), of_few as (
      select n from of_clients group by n having count(*) <= ${FEW_CLIENTS}
    ), touched as (
      select o.n, t.session_id, t.user_id, o.id as client from of_clients o join of_few using (n) cross join lateral (
        (select s.id as session_id, s.user_id from session_client sc
          join session s on s.realm_id = sc.realm_id and s.id = sc.session_id
          where sc.realm_id = ${realm} and sc.client = o.id and ${live} limit ${MOST_COUNTED})
        union all
        (select f.session_id, f.user_id from refresh_family f where ${good} and f.client = o.id limit ${MOST_COUNTED})
      ) t
      union all
      select o.n, t.session_id, t.user_id, o.id from (
        (select sc.session_id, s.user_id, sc.client from (select s.id, s.user_id from session s where ${live} limit ${MOST_COUNTED}) s
          join session_client sc on sc.realm_id = ${realm} and sc.session_id = s.id)
        union all
        (select f.session_id, f.user_id, f.client from refresh_family f where ${good} limit ${MOST_COUNTED})
      ) t join of_clients o on o.id = t.client where o.n not in (select n from of_few)
      union all
      select o.n, null, null, o.id from of_clients o join (${active}) ca on ca.client = o.id
      union all
      select o.n, t.id, t.user_id, o.id from of_saml_clients o cross join lateral
        (select s.id, s.user_id from saml_session ss join session s on s.id = ss.session_id and ${live}
          where ss.realm_id = ${realm} and ss.client = o.id limit ${MOST_COUNTED}) t
      union all
      select p.n, s.id, p.user_id, null from of_people p left join session s on ${live} and s.user_id = p.user_id
      union all
      select o.n, null, null, cr.client from of_roles o
        join client_role cr on cr.realm_id = ${realm} and cr.role_id = o.id
      union all
      select o.n, s.id, o.user_id, o.client from of_administrators o
        left join admin_session s on s.realm_id = ${realm} and s.user_id = o.user_id and s.expires_at > ${now}
      union all
      select a.n, s.id, s.user_id, null from asked a cross join lateral
        (select s.id, s.user_id, s.factors from session s where ${live} limit ${MOST_COUNTED}) s
        where a.authenticators is not null and exists
          (select from jsonb_array_elements(s.factors) f where f ->> 'authenticator' = any(a.authenticators))
      union all
      select a.n, null, null, ca.client from asked a cross join lateral (${active}) ca where a.everybody
      union all
      select e.n, s.id, s.user_id, sc.client from everywhere e cross join lateral
        (select s.id, s.user_id from session s where ${live} limit ${MOST_COUNTED}) s
        left join session_client sc on sc.realm_id = ${realm} and sc.session_id = s.id
    )
    select n, count(distinct session_id)::int as sessions, count(distinct user_id)::int as people,
      count(distinct client)::int as clients
    from touched group by n`;
  const counted = new Map(rows.map((row) => [row.n, row]));
  return effects
    .map(({ kind, key, message, locksOut }, n) => {
      const { sessions = 0, people: persons = 0, clients = 0 } = counted.get(n) ?? {};
      return { kind, key, message, locksOut, sessions, people: persons, clients };
    })
    .sort((one, other) => Number(other.locksOut) - Number(one.locksOut) || sumOf(other) - sumOf(one))
    .slice(0, MOST_TOLD);
}

const sumOf = ({ sessions, people: persons, clients }: Consequence): number => sessions + persons + clients;
