// The realm document's `roles` and `clientRoles` (a map of clientId to roles). Specification 2.10; decisions "Role".
import { z } from 'zod';
import { name } from '../../contract/names.ts';
import type { FieldError } from '../../contract/problem.ts';
import { type Composite, RoleDocument } from '../../contract/roles.ts';
import type { Sql } from '../../db/sql.ts';
import { clientRoleKey, declared, parsing, splitClientRoleKey } from '../../http/document.ts';
import type { Batch, Existing, Fields, Item, RealmPart, Reference, Saved, Wanted } from '../../resource/part.ts';
import { canonical, inCircles } from './composite.ts';
import { lockComposites } from './store.ts';

interface Row {
  key: string;
  description: string | null;
  is_default: boolean;
  attributes: Record<string, string[]>;
  roles: string[];
  client_roles: Record<string, string[]>;
}

const itemOf = (key: string, { name: _, composite, ...fields }: RoleDocument, path: string): Item => ({
  key,
  fields: declared({ ...fields, composite: composite && canonical(composite) }),
  path,
});
const existing = (row: Row): Existing => ({
  fields: {
    description: row.description,
    default: row.is_default,
    attributes: row.attributes,
    composite: canonical({ roles: row.roles, clientRoles: row.client_roles }),
  },
});
const compositeOf = (fields: Fields): Composite => {
  const parsed = RoleDocument.shape.composite.safeParse(fields.composite);
  return parsed.success && parsed.data ? parsed.data : {};
};
const refersTo = ({ fields }: Item): Reference[] => {
  const { roles = [], clientRoles = {} } = compositeOf(fields);
  return [
    ...roles.map((key) => ({ kind: 'role', key, path: 'composite.roles' })),
    ...Object.entries(clientRoles).flatMap(([clientId, names]) =>
      names.map((role) => ({
        kind: 'clientRole',
        key: clientRoleKey(clientId, role),
        path: `composite.clientRoles.${clientId}`,
      })),
    ),
  ];
};
const fresh = () => ({ description: null, default: false, attributes: {}, composite: canonical({}) });
const events = { create: 'ROLE_CREATED', update: 'ROLE_UPDATED', delete: 'ROLE_DELETED' } as const;

/** Composites of the saved roles; `owner` says whose roles: realm roles have no client. */
async function linkComposites(
  sql: Sql,
  realm: string,
  saved: readonly { clientId: string | null; role: string; fields: Fields; changed: readonly string[] }[],
): Promise<void> {
  const rows = saved
    .filter((s) => s.changed.includes('composite'))
    .map(({ clientId, role, fields }) => {
      const { roles = [], clientRoles = {} } = compositeOf(fields);
      const children = [
        ...roles.map((child) => ({ client: null, child })),
        ...Object.entries(clientRoles).flatMap(([client, names]) => names.map((child) => ({ client, child }))),
      ];
      return { clientId, role, children };
    });
  if (rows.length === 0) return;
  await sql`
    with parent as (
      select r.id, p.children
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as p ("clientId" text, role text, children jsonb)
      left join client c on c.realm_id = ${realm} and c.client_id = p."clientId"
      join role r on r.realm_id = ${realm} and r.name = p.role and r.client is not distinct from c.id
    ), wanted as (
      select parent.id as role_id, r.id as child_id
      from parent, jsonb_to_recordset(parent.children) as k (client text, child text)
      left join client c on c.realm_id = ${realm} and c.client_id = k.client
      join role r on r.realm_id = ${realm} and r.name = k.child and r.client is not distinct from c.id
    ), dropped as (
      delete from role_composite rc using parent where rc.realm_id = ${realm} and rc.role_id = parent.id
        and not exists (select from wanted w where w.role_id = rc.role_id and w.child_id = rc.child_id)
    )
    insert into role_composite (realm_id, role_id, child_id) select ${realm}, role_id, child_id from wanted
    on conflict do nothing`;
}

const idOf = ({ clientId, role }: Names): string =>
  clientId === null ? `role ${role}` : `clientRole ${clientRoleKey(clientId, role)}`;

/** What each role contains. Joined here: just after many were made the planner thinks that there are none, and loops. */
async function storedTies(sql: Sql, realm: string): Promise<Map<string, string[]>> {
  const children = new Map<string, string[]>();
  const ties = await sql<{ role_id: string; child_id: string }>`
    select role_id, child_id from role_composite where realm_id = ${realm}`;
  if (ties.length === 0) return children;
  const clients = await sql<{
    id: string;
    client_id: string;
  }>`select id, client_id from client where realm_id = ${realm}`;
  const clientIds = new Map(clients.map(({ id, client_id }) => [id, client_id]));
  const roles = await sql<{ id: string; name: string; client: string | null }>`
    select id, name, client from role where realm_id = ${realm}`;
  const names = new Map(
    roles.map(({ id, name: role, client }) => [id, idOf({ clientId: clientIds.get(client ?? '') ?? null, role })]),
  );
  for (const { role_id, child_id } of ties) {
    const [parent, child] = [names.get(role_id), names.get(child_id)];
    if (parent === undefined || child === undefined) continue;
    const inside = children.get(parent);
    if (inside) inside.push(child);
    else children.set(parent, [child]);
  }
  return children;
}

/** Changed roles, a client's too, that would contain themselves. */
async function circles(sql: Sql, realm: string, changes: readonly Wanted[]): Promise<FieldError[]> {
  const changed = changes.filter(
    (c) => (c.kind === 'role' || c.kind === 'clientRole') && c.changed.includes('composite'),
  );
  const asked = changed.map((change) => ({ id: `${change.kind} ${change.key}`, inside: refersTo(change), change }));
  if (asked.every(({ inside }) => inside.length === 0)) return [];
  const children = await storedTies(sql, realm);
  for (const { id, inside } of asked)
    children.set(
      id,
      inside.map(({ kind, key }) => `${kind} ${key}`),
    );
  const round = inCircles(children);
  return asked.flatMap(({ id, inside, change }) => {
    const through = inside.find(({ kind, key }) => round.has(`${kind} ${key}`));
    if (!round.has(id) || !through) return [];
    const message = `the role would contain itself, through the ${through.kind} ${through.key}`;
    return [{ path: `${change.path}.composite`, message }];
  });
}

/** As whoever changes a role does: else the two close a circle that neither sees. */
async function holdComposites(sql: Sql, realm: string, items: readonly Item[]): Promise<void> {
  if (items.some((item) => refersTo(item).length > 0)) await lockComposites(sql, realm);
}

export const rolesPart: RealmPart = {
  section: 'roles',
  kind: 'role',
  area: 'roles',
  list: true,
  parse: parsing(RoleDocument, (role, path) => [itemOf(role.name, role, path)]),
  print: (objects) => objects.map(({ key, fields }) => ({ name: key, ...fields })),
  fresh,
  read: (sql, realm, keys) => readRoles(sql, realm, keys?.map((role) => ({ clientId: null, role })) ?? 'realm'),
  references: refersTo,
  whole: circles,
  hold: holdComposites,
  write: (sql, realm, batch) => writeRoles(sql, realm, batch, (key) => ({ clientId: null, role: key })),
  link: (sql, realm, saved) =>
    linkComposites(
      sql,
      realm,
      saved.map((s) => ({ ...s, clientId: null, role: s.key })),
    ),
  events,
};

export const clientRolesPart: RealmPart = {
  section: 'clientRoles',
  kind: 'clientRole',
  area: 'roles',
  list: false,
  parse: parsing(z.record(name(), z.array(RoleDocument).max(5000)), (map, path) =>
    Object.entries(map).flatMap(([clientId, roles]) =>
      roles.map((role, i) => itemOf(clientRoleKey(clientId, role.name), role, `${path}.${clientId}[${i}]`)),
    ),
  ),
  print(objects) {
    const map = new Map<string, unknown[]>();
    for (const { key, fields } of objects) {
      const { clientId, role } = splitClientRoleKey(key);
      map.set(clientId, [...(map.get(clientId) ?? []), { name: role, ...fields }]);
    }
    return Object.fromEntries(map);
  },
  fresh,
  read: (sql, realm, keys) => readRoles(sql, realm, keys?.map(splitClientRoleKey) ?? 'clients'),
  references: (item) => [{ kind: 'client', key: splitClientRoleKey(item.key).clientId, path: '' }, ...refersTo(item)],
  hold: holdComposites,
  write: (sql, realm, batch) => writeRoles(sql, realm, batch, splitClientRoleKey),
  link: (sql, realm, saved) =>
    linkComposites(
      sql,
      realm,
      saved.map((s) => ({ ...s, ...splitClientRoleKey(s.key) })),
    ),
  events,
};

type Names = { clientId: string | null; role: string };

async function readRoles(
  sql: Sql,
  realm: string,
  which: readonly Names[] | 'realm' | 'clients',
): Promise<Map<string, Existing>> {
  const wanted = typeof which === 'string' ? null : JSON.stringify(which);
  const ofClients = which === 'clients';
  const rows = await sql<Row & { client_id: string | null; name: string }>`
    select c.client_id, r.name, r.description, r.is_default, r.attributes,
      array(select k.name from role_composite rc join role k on k.realm_id = rc.realm_id and k.id = rc.child_id
        where rc.realm_id = r.realm_id and rc.role_id = r.id and k.client is null) as roles,
      coalesce((select jsonb_object_agg(x.client_id, x.names) from (
        select kc.client_id, jsonb_agg(k.name) as names from role_composite rc
        join role k on k.realm_id = rc.realm_id and k.id = rc.child_id
        join client kc on kc.realm_id = k.realm_id and kc.id = k.client
        where rc.realm_id = r.realm_id and rc.role_id = r.id group by kc.client_id) x), '{}') as client_roles
    from role r left join client c on c.realm_id = r.realm_id and c.id = r.client
    where r.realm_id = ${realm} and case when ${wanted}::jsonb is null then (r.client is not null) = ${ofClients}
      else (r.name, coalesce(c.client_id, '')) in (
        select w.role, coalesce(w."clientId", '') from jsonb_to_recordset(${wanted}::jsonb) as w ("clientId" text, role text))
      end`;
  return new Map(
    rows.map((row) => {
      const key = row.client_id === null ? row.name : clientRoleKey(row.client_id, row.name);
      return [key, existing({ ...row, key })];
    }),
  );
}

async function writeRoles(
  sql: Sql,
  realm: string,
  { create, update, remove }: Batch,
  names: (key: string) => Names,
): Promise<void> {
  const rows = (saved: readonly Saved[]) =>
    JSON.stringify(saved.map(({ key, fields }) => ({ ...names(key), ...fields })));
  if (create.length > 0)
    await sql`
      insert into role (realm_id, id, client, name, description, is_default, attributes)
      select ${realm}, gen_random_uuid(), c.id, x.role, x.description, x."default", x.attributes
      from jsonb_to_recordset(${rows(create)}::jsonb)
        as x ("clientId" text, role text, description text, "default" boolean, attributes jsonb)
      left join client c on c.realm_id = ${realm} and c.client_id = x."clientId"`;
  if (update.length > 0)
    await sql`
      update role r set description = x.description, is_default = x."default", attributes = x.attributes
      from jsonb_to_recordset(${rows(update)}::jsonb)
        as x ("clientId" text, role text, description text, "default" boolean, attributes jsonb)
      left join client c on c.realm_id = ${realm} and c.client_id = x."clientId"
      where r.realm_id = ${realm} and r.name = x.role and r.client is not distinct from c.id`;
  if (remove.length > 0)
    await sql`
      delete from role r using jsonb_to_recordset(${JSON.stringify(remove.map(names))}::jsonb) as x ("clientId" text, role text)
      left join client c on c.realm_id = ${realm} and c.client_id = x."clientId"
      where r.realm_id = ${realm} and r.name = x.role and r.client is not distinct from c.id`;
}
