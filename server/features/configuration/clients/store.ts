// SQL of the rows that depend on clients: their scopes, and rows that are deleted with a client. Each statement takes many
// clients. resource.ts writes the clients' own rows, account-store.ts their service accounts' roles.
import { jsonText } from '../../../db/json.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { clientRolePrefix } from '../../../resource/items.ts';
import type { Saved } from '../../../resource/part.ts';

/** The use of a client is noted from its creation on: the list of unused clients finds by it those that never got a token. */
export const noteCreation = (sql: Sql, realm: string, clients: readonly Saved[]) => sql`
  insert into client_use (realm_id, client, since)
  select c.realm_id, c.id, c.created_at from client c
  where c.realm_id = ${realm} and c.id = any(${clients.flatMap(({ id }) => id ?? [])}::uuid[])
  on conflict do nothing`;

/** Replaces the scopes of these clients. */
export async function setScopes(sql: Sql, realm: string, clients: readonly Saved[]): Promise<void> {
  const rows = jsonText(
    clients.map(({ key, fields: { defaultClientScopes, optionalClientScopes } }) => ({
      clientId: key,
      defaultClientScopes,
      optionalClientScopes,
    })),
  );
  await sql`
    with wanted as (
      select c.id as client, s.id as scope_id, bool_and(w.optional) as optional
      from jsonb_to_recordset(${rows}::jsonb) as x ("clientId" text, "defaultClientScopes" text[], "optionalClientScopes" text[])
      join client c on c.realm_id = ${realm} and c.client_id = x."clientId"
      cross join lateral (
        select unnest(x."defaultClientScopes") as name, false as optional
        union all select unnest(x."optionalClientScopes"), true) w
      join client_scope s on s.realm_id = ${realm} and s.name = w.name
      group by c.id, s.id
    ), dropped as (
      delete from client_scope_link l using client c, jsonb_to_recordset(${rows}::jsonb) as x ("clientId" text)
      where c.realm_id = ${realm} and c.client_id = x."clientId" and l.realm_id = ${realm} and l.client = c.id
        and not exists (select from wanted w where w.client = l.client and w.scope_id = l.scope_id)
    )
    insert into client_scope_link (realm_id, client, scope_id, optional)
    select ${realm}, client, scope_id, optional from wanted
    on conflict (realm_id, client, scope_id) do update set optional = excluded.optional
      where client_scope_link.optional is distinct from excluded.optional`;
}

/** The claim's new name, if it is the one that contains a client's roles by the client's name (contract/claims.ts). */
const followed = fragment`case coalesce(t.claim, t.name)
  when 'resource_access.' || r.was then 'resource_access.' || r.now
  when 'resource_access.' || r.was || '.roles' then 'resource_access.' || r.now || '.roles'
  else t.claim end`;

/** Renames the client in claims of its roles. */
export async function renameInClaims(sql: Sql, realm: string, clients: readonly Saved[]): Promise<void> {
  const renamed = clients.flatMap(({ renamedFrom: was, key: now }) => (was === undefined ? [] : [{ was, now }]));
  if (renamed.length === 0) return;
  const rows = jsonText(renamed);
  await sql`
    with renamed as (select * from jsonb_to_recordset(${rows}::jsonb) as x (was text, now text)), own as (
      update protocol_mapper t set value = r.now, claim = ${followed} from renamed r
      where t.realm_id = ${realm} and t.source = 'clientRoles' and t.value = r.was
    )
    update claim t set value = r.now, claim = ${followed} from renamed r
    where t.realm_id = ${realm} and t.source = 'clientRoles' and t.value = r.was`;
}

/** Objects that are deleted with removed clients, or that prevent their removal. */
export const dependents = (sql: Sql, realm: string, removed: readonly string[]) => sql<{
  kind: string;
  key: string;
  on: string;
  field: string | null;
}>`
  select 'workloadIdentity' as kind, name as key, client_id as on, 'clientId' as field from workload_identity
  where realm_id = ${realm} and client_id = any(${removed}::text[])
  union all
  select 'application', a.name, c.client_id, 'clients' from client c
  join application_client ac on ac.realm_id = c.realm_id and ac.client = c.id
  join application a on a.realm_id = ac.realm_id and a.id = ac.application_id
  where c.realm_id = ${realm} and c.client_id = any(${removed}::text[])
  union all
  select 'adminRole', r.name, c.client_id, 'clients' from client c
  join admin_role_client l on l.realm_id = c.realm_id and l.client = c.id
  join admin_role r on r.realm_id = l.realm_id and r.id = l.role_id
  where c.realm_id = ${realm} and c.client_id = any(${removed}::text[])
  union all
  select 'claim', name, value, 'value' from claim
  where realm_id = ${realm} and source = 'clientRoles' and value = any(${removed}::text[])
  union all
  select 'protocolMapper', ${clientRolePrefix(fragment`c.client_id`)} || m.name, m.value, 'value'
  from protocol_mapper m join client c on c.realm_id = m.realm_id and c.id = m.client
  where m.realm_id = ${realm} and m.source = 'clientRoles' and m.value = any(${removed}::text[])
    and c.client_id <> all(${removed}::text[])
  union all
  select o.kind, o.key, c.client_id, null from managed_object o
  join unnest(${removed}::text[]) as c (client_id) on o.kind in ('serviceAccountRoles', 'authorizationService')
      and o.key = c.client_id
    or o.kind in ('clientRole', 'protocolMapper') and starts_with(o.key, ${clientRolePrefix(fragment`c.client_id`)})
  where o.realm_id = ${realm}`;
