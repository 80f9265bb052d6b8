// The realm document's `adminRoles`: those that are not built in. Who may give which is the engine's (transfer/rights.ts).
// Specification 2.10; decisions "Admin authentication".
import { AdminRoleDocument } from '../../contract/admin-access.ts';
import { builtInAdminRoles } from '../../contract/permissions.ts';
import { asSet, declared, parsing, strings } from '../../http/document.ts';
import type { Existing, RealmPart } from '../../resource/part.ts';

export const adminRolesPart: RealmPart = {
  section: 'adminRoles',
  kind: 'adminRole',
  area: 'admin-roles',
  list: true,
  parse: parsing(
    AdminRoleDocument.refine((role) => !Object.hasOwn(builtInAdminRoles, role.name), {
      path: ['name'],
      message: 'is built in, so it cannot be declared',
    }),
    ({ name, permissions }, path) => [{ key: name, fields: declared({ permissions: asSet(permissions) }), path }],
  ),
  print: (objects) =>
    objects
      .filter(({ key }) => !Object.hasOwn(builtInAdminRoles, key))
      .map(({ key, fields }) => ({ name: key, ...fields })),
  fresh: () => ({ permissions: [] }),
  async read(sql, realm, keys) {
    const rows = await sql<{ name: string; built_in: boolean; permissions: string[] }>`
      select name, built_in, permissions from admin_role
      where realm_id = ${realm} and (${keys ?? null}::text[] is null or name = any(${keys ?? null}::text[]))`;
    return new Map(
      rows.map((row): [string, Existing] => [
        row.name,
        { fields: { permissions: asSet(row.permissions) }, permanent: row.built_in },
      ]),
    );
  },
  async write(sql, realm, { create, update, remove }) {
    const rows = [...create, ...update].map(({ key, fields }) => ({ name: key, ...fields }));
    if (rows.length > 0)
      await sql`
        insert into admin_role (realm_id, id, name, permissions)
        select ${realm}, gen_random_uuid(), name, permissions
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (name text, permissions text[])
        on conflict (realm_id, name) do update set permissions = excluded.permissions where not admin_role.built_in`;
    if (remove.length > 0)
      await sql`
        delete from admin_role where realm_id = ${realm} and name = any(${remove}::text[]) and not built_in`;
  },
  permissionsOf: ({ before, save }) => {
    const [had, has] = [new Set(strings(before?.permissions)), new Set(strings(save.permissions))];
    return [...had.symmetricDifference(has)];
  },
  events: { create: 'ADMIN_ROLE_UPDATED', update: 'ADMIN_ROLE_UPDATED', delete: 'ADMIN_ROLE_UPDATED' },
};
