// Computes the resources that a target should hold for some users and groups, from their present state.
import { fragment, type Sql } from '../../../db/sql.ts';
import { readProfile, visibleTo } from '../../../domain/user-profile.ts';
import type { Values } from './body.ts';
import { parseFilter } from './filter.ts';
import { sqlOf } from './filter-sql.ts';
import { digestOf, groupBody, userBody } from './provision-shape.ts';
import type { Link, Target } from './provision-store.ts';
import { placeOf, userType } from './schema.ts';
import { type ScimUserRow, userColumns, userSelect, usersOf } from './user-store.ts';
import { userResource } from './user-wire.ts';

export interface Plan {
  name: string;
  body: Values;
  digest: string;
}

/** The wanted resources by object. An object without one must not exist at the target. */
export async function plannedObjects(
  sql: Sql,
  realm: string,
  target: Target,
  links: readonly Pick<Link, 'kind' | 'object_id'>[],
): Promise<Map<string, Plan>> {
  const ids = (kind: string) => links.filter((link) => link.kind === kind).map((link) => link.object_id);
  const [users, groups] = [target.users ? ids('user') : [], target.groups ? ids('group') : []];
  const found = new Map<string, Plan>();
  if (users.length > 0) {
    const profile = await readProfile(sql, realm);
    const condition = target.filter
      ? sqlOf(parseFilter(target.filter), userColumns(realm, profile), (path) => placeOf(userType, path))
      : fragment`true`;
    const rows = await sql<ScimUserRow>`
      select ${userSelect} ${usersOf(realm)} and u.id = any(${users}::uuid[]) and ${condition}`;
    const visible = (all: ScimUserRow['attributes']) => visibleTo(profile, 'admin', all);
    for (const row of rows) {
      const resource = userResource(row, { base: '', visible });
      // An administrator chooses the mappings, and so the attributes that the target gets.
      const body = userBody({ ...row, attributes: visible(row.attributes) }, resource, target.mappings);
      found.set(row.id, { name: row.username, body, digest: digestOf(body) });
    }
  }
  if (groups.length > 0) {
    const rows = await sql<{ id: string; path: string }>`
      select id, path from user_group where realm_id = ${realm} and id = any(${groups}::uuid[])`;
    for (const { id, path } of rows) {
      const body = groupBody(id, path);
      found.set(id, { name: path, body, digest: digestOf(body) });
    }
  }
  return found;
}
