// Finds the references that other objects lose when a plan removes objects, though no document names them: groups and
// roles lose a removed role, clients a removed scope, a removed client its parts. The plan's record contains them, so
// that undo restores them. consequences.ts counts the users. Decisions "Import, export, plan" (History).
import { fragment, type Sql } from '../../../db/sql.ts';
import { differences } from '../../../resource/change.ts';
import { clientRolePrefix, splitClientRoleKey } from '../../../resource/items.ts';
import type { Existing, PlannedChange, RealmPart } from '../../../resource/part.ts';
import { nameOf } from '../../../resource/references.ts';
import { MOST_RECORDED, type RecordedChange, recordedChange } from './applied-plan.ts';
import type { Recorded } from './history-store.ts';
import { objectsOf } from './objects.ts';
import { deletion } from './plan.ts';

interface Tied {
  kind: string;
  key: string;
}

/** Objects that are tied to what these changes remove; more than {@link MOST_RECORDED} where there are more. */
async function tiedTo(sql: Sql, realm: string, changes: readonly PlannedChange[]): Promise<Tied[]> {
  const gone = (kind: string) => changes.filter((c) => c.action === 'delete' && c.kind === kind).map(({ key }) => key);
  const [roles, clients, scopes, claims, adminRoles] = [
    gone('role'),
    gone('client'),
    gone('clientScope'),
    gone('claim'),
    gone('adminRole'),
  ];
  const clientRoles = gone('clientRole').map(splitClientRoleKey);
  if ([roles, clients, scopes, claims, adminRoles, clientRoles].every(({ length }) => length === 0)) return [];
  return sql<Tied>`
    with gone_client as (
      select id, client_id, ${clientRolePrefix(fragment`client_id`)} as prefix from client
      where realm_id = ${realm} and client_id = any(${clients}::text[])
    ), gone_role as (
      select id from role where realm_id = ${realm} and client is null and name = any(${roles}::text[])
      union
      select r.id from role r join client c on c.realm_id = r.realm_id and c.id = r.client
        join jsonb_to_recordset(${JSON.stringify(clientRoles)}::jsonb) as k ("clientId" text, role text)
          on k."clientId" = c.client_id and k.role = r.name
      where r.realm_id = ${realm}
      union
      select r.id from role r join gone_client c on c.id = r.client where r.realm_id = ${realm}
    ), tied as (
      select 'group' as kind, g.path as key from gone_role o
        join group_role gr on gr.realm_id = ${realm} and gr.role_id = o.id
        join user_group g on g.realm_id = ${realm} and g.id = gr.group_id
      union
      select case when c.id is null then 'role' else 'clientRole' end,
        coalesce(${clientRolePrefix(fragment`c.client_id`)}, '') || r.name from gone_role o
        join role_composite rc on rc.realm_id = ${realm} and rc.child_id = o.id
        join role r on r.realm_id = ${realm} and r.id = rc.role_id
        left join client c on c.realm_id = ${realm} and c.id = r.client
      union
      select 'serviceAccountRoles', c.client_id from gone_role o
        join client_role cr on cr.realm_id = ${realm} and cr.role_id = o.id
        join client c on c.realm_id = ${realm} and c.id = cr.client
      union
      select 'serviceAccountRoles', c.client_id from admin_role r
        join admin_grant g on g.realm_id = r.realm_id and g.role_id = r.id
        join client c on c.realm_id = g.realm_id and c.id = g.client
        where r.realm_id = ${realm} and r.name = any(${adminRoles}::text[])
      union
      select 'client', c.client_id from client_scope s
        join client_scope_link l on l.realm_id = s.realm_id and l.scope_id = s.id
        join client c on c.realm_id = l.realm_id and c.id = l.client
        where s.realm_id = ${realm} and s.name = any(${scopes}::text[])
      union
      select 'clientScope', s.name from claim k
        join client_scope_claim sc on sc.realm_id = k.realm_id and sc.claim_id = k.id
        join client_scope s on s.realm_id = sc.realm_id and s.id = sc.scope_id
        where k.realm_id = ${realm} and k.name = any(${claims}::text[])
      union
      select 'clientRole', c.prefix || r.name from gone_client c join role r on r.realm_id = ${realm} and r.client = c.id
      union
      select 'protocolMapper', c.prefix || m.name from gone_client c
        join protocol_mapper m on m.realm_id = ${realm} and m.client = c.id
      union
      select 'serviceAccountRoles', client_id from gone_client
    )
    select kind, key from tied order by kind, key limit ${MOST_RECORDED + 1}`;
}

/**
 * Reads the dependent objects before a plan is written, and again after it.
 * @returns a function for the second read: the record with the losses; undefined if they are too many to keep
 */
export async function watchTies(
  sql: Sql,
  realm: string,
  { parts, changes }: { parts: readonly RealmPart[]; changes: readonly PlannedChange[] },
): Promise<(planned: Recorded) => Promise<Recorded | undefined>> {
  const tied = await tiedTo(sql, realm, changes);
  if (tied.length === 0) return async (planned) => planned;
  if (tied.length > MOST_RECORDED) return async () => undefined;
  const before = await objectsOf(sql, realm, parts, tied);

  return async ({ changes: said, moves }) => {
    const after = await objectsOf(sql, realm, parts, tied);
    const byKind = new Map(parts.map((part) => [part.kind, part]));
    const recorded = new Map(said.map((change) => [nameOf(change.kind, change.key), change]));
    for (const { kind, key } of tied) {
      const [part, name] = [byKind.get(kind), nameOf(kind, key)];
      const [was, is, change] = [before.get(name), after.get(name), recorded.get(name)];
      if (!part || !was || (change && change.action !== 'update')) continue;
      const lost = lostOf(part, key, was, is);
      if (change && lost) recorded.set(name, { ...change, fields: merged(change.fields, lost.fields) });
      else if (lost) recorded.set(name, lost);
    }
    return recorded.size > MOST_RECORDED ? undefined : { changes: [...recorded.values()], moves };
  };
}

function lostOf(part: RealmPart, key: string, was: Existing, is: Existing | undefined): RecordedChange | undefined {
  if (!is) return saysNothing(part, key, was) ? undefined : recordedChange(part, deletion(part.kind, key, was));
  const fields = differences(was.fields, is.fields);
  return fields.length === 0 ? undefined : { action: 'update', kind: part.kind, key, fields, tied: true };
}

/** If the plan itself changes a field, its values win. */
const merged = (said: RecordedChange['fields'], lost: RecordedChange['fields']): RecordedChange['fields'] => [
  ...said,
  ...lost.filter(({ path }) => said.every((field) => field.path !== path)),
];

/** Whether a document omits the object: a service account without roles, which is deleted only with its client. */
export const saysNothing = (part: Pick<RealmPart, 'print'>, key: string, { fields }: Existing): boolean => {
  const printed = part.print([{ key, fields }]);
  return Array.isArray(printed) && printed.length === 0;
};
