// The realm document's `groups`: flat, by path; a parent is declared too or exists. Specification 2.10; decisions "Group".
import { GroupDocument } from '../../contract/groups.ts';
import { asSet, declared, parsing, strings } from '../../http/document.ts';
import type { Existing, RealmPart, Saved } from '../../resource/part.ts';

interface Row {
  path: string;
  attributes: Record<string, string[]>;
  roles: string[];
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
const depthOf = (path: string): number => path.split('/').length;

export const groupsPart: RealmPart = {
  section: 'groups',
  kind: 'group',
  area: 'groups',
  list: true,
  parse: parsing(GroupDocument, ({ path: key, roles, attributes }, path) => [
    { key, fields: declared({ roles: asSet(roles), attributes }), path },
  ]),
  print: (objects) => objects.map(({ key, fields }) => ({ path: key, ...fields })),
  fresh: () => ({ roles: [], attributes: {} }),
  async read(sql, realm, keys) {
    const rows = await sql<Row>`
      select g.path, g.attributes, array(select r.name from group_role gr
        join role r on r.realm_id = gr.realm_id and r.id = gr.role_id
        where gr.realm_id = g.realm_id and gr.group_id = g.id and r.client is null) as roles
      from user_group g
      where g.realm_id = ${realm} and (${keys ?? null}::text[] is null or g.path = any(${keys ?? null}::text[]))`;
    return new Map(
      rows.map((row): [string, Existing] => [
        row.path,
        { fields: { roles: asSet(row.roles), attributes: row.attributes } },
      ]),
    );
  },
  references: ({ key, fields }) => [
    ...(parentOf(key) === '' ? [] : [{ kind: 'group', key: parentOf(key), path: 'path' }]),
    ...strings(fields.roles).map((role) => ({ kind: 'role', key: role, path: 'roles' })),
  ],
  async write(sql, realm, { create, update, remove }) {
    // Level by level, so that each finds its parent: as many statements as the tree is deep.
    const levels = new Map<number, Saved[]>();
    for (const saved of create) {
      const level = levels.get(depthOf(saved.key));
      if (level) level.push(saved);
      else levels.set(depthOf(saved.key), [saved]);
    }
    for (const [, level] of [...levels].sort(([a], [b]) => a - b)) {
      const rows = level.map(({ key, fields }) => ({
        path: key,
        parent: parentOf(key),
        name: key.slice(key.lastIndexOf('/') + 1),
        attributes: fields.attributes ?? {},
      }));
      await sql`
        insert into user_group (realm_id, id, parent_id, name, path, attributes)
        select ${realm}, gen_random_uuid(), p.id, x.name, x.path, x.attributes
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (path text, parent text, name text, attributes jsonb)
        left join user_group p on p.realm_id = ${realm} and p.path = x.parent`;
    }
    const rows = JSON.stringify([...create, ...update].map(({ key, fields }) => ({ path: key, ...fields })));
    await sql`
      update user_group g set attributes = x.attributes
      from jsonb_to_recordset(${rows}::jsonb) as x (path text, attributes jsonb)
      where g.realm_id = ${realm} and g.path = x.path and g.attributes is distinct from x.attributes`;
    await sql`
      with declared as (
        select g.id, x.roles from jsonb_to_recordset(${rows}::jsonb) as x (path text, roles text[])
        join user_group g on g.realm_id = ${realm} and g.path = x.path
      ), wanted as (
        select d.id as group_id, r.id as role_id from declared d cross join lateral unnest(d.roles) as n (name)
        join role r on r.realm_id = ${realm} and r.client is null and r.name = n.name
      ), dropped as (
        delete from group_role gr using declared d, role r
        where gr.realm_id = ${realm} and gr.group_id = d.id and r.realm_id = ${realm} and r.id = gr.role_id and r.client is null
          and not exists (select from wanted w where w.group_id = gr.group_id and w.role_id = gr.role_id)
      )
      insert into group_role (realm_id, group_id, role_id) select ${realm}, group_id, role_id from wanted on conflict do nothing`;
    if (remove.length > 0)
      await sql`delete from user_group where realm_id = ${realm} and path = any(${remove}::text[])`;
  },
  dependents: (sql, realm, removed) => sql<{ kind: string; key: string; on: string }>`
    select 'group' as kind, g.path as key, p.path as on from user_group g
    join user_group p on p.realm_id = g.realm_id and p.id = g.parent_id
    where g.realm_id = ${realm} and p.path = any(${removed}::text[])`,
  events: { create: 'GROUP_CREATED', update: 'GROUP_UPDATED', delete: 'GROUP_DELETED' },
};
