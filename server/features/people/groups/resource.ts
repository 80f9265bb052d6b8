// Owns: the tree of groups and the roles that a group gives its members; the same by the admin API and in the realm document.
// Does not own: memberships (users), how a group reaches tokens (domain/person.ts).
// Implements: decisions "Group"; specification 2.10, 4.10.
import { groups, longestPath, pathBytes } from '../../../contract/groups.ts';
import { type FieldError, Problem } from '../../../contract/problem.ts';
import { jsonText } from '../../../db/json.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { groupReached } from '../../../domain/reach.ts';
import { rolesOfRow, tieRoles } from '../../../domain/role-ties.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { asSet, clientRoleKey, joinPaths, strings } from '../../../resource/items.ts';
import type { Fields, PlannedChange, Saved, Wanted } from '../../../resource/part.ts';
import type { Row } from '../../../resource/table.ts';

const KIND = 'group';
const TIES = { table: 'group_role', owner: 'group_id', role: 'role_id' } as const;
const held = rolesOfRow(TIES);

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const sets = (map: unknown): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(Object(map))
      .map(([clientId, names]): [string, string[]] => [clientId, asSet(strings(names)) ?? []])
      .filter(([, names]) => names.length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

const invalid = (path: string, message: string) =>
  new Problem('invalid-request', undefined, { errors: [{ path, message }] });

/** The path that the request's `name` and `parentId` make. A missing field keeps its present value. */
async function pathIn(sql: Sql, realm: string, input: Fields, before: Row | undefined): Promise<string> {
  const name = typeof input.name === 'string' ? input.name : nameOf(before?.key ?? '');
  const path = `${await parentIn(sql, realm, input, before)}/${name}`;
  if (before && path.startsWith(`${before.key}/`)) throw invalid('parentId', 'the group would be inside itself');
  if (typeof input.path === 'string' && input.path !== path && input.path !== before?.key)
    throw invalid('path', 'follows from name and parentId: change those instead');
  return path;
}

async function parentIn(sql: Sql, realm: string, input: Fields, before: Row | undefined): Promise<string> {
  if (input.parentId === undefined) return before ? parentOf(before.key) : '';
  if (input.parentId === null) return '';
  const [parent] = await sql<{ path: string }>`
    select path from user_group where realm_id = ${realm} and id = ${input.parentId}`;
  if (!parent) throw new Problem('not-found', 'There is no such parent group');
  return parent.path;
}

/** The groups inside a moved group move with it. None of their paths may become longer than `longestPath`. */
async function tooDeep(sql: Sql, realm: string, changes: readonly Wanted[]) {
  const moved = changes.filter((c) => c.kind === KIND && c.renamedFrom !== undefined);
  if (moved.length === 0) return [];
  const [row] = await sql`
    select from unnest(${moved.map((m) => m.renamedFrom)}::text[], ${moved.map((m) => m.key)}::text[]) as m (was, now)
    join user_group g on g.realm_id = ${realm} and starts_with(g.path, m.was || '/')
    where octet_length(g.path) - octet_length(m.was) + octet_length(m.now) > ${longestPath} limit 1`;
  return row
    ? [{ path: 'parentId', message: `a group in it would have a path of more than ${longestPath} bytes` }]
    : [];
}

/**
 * Until the end of the transaction, no other transaction can create or rename a group of the realm. `differingInCase`
 * would not see such a group before it is committed.
 */
export async function lockPaths(sql: Sql, realm: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('user_group ' || ${realm}, 0))`;
}

/**
 * New paths that differ from another group's in case only: SCIM and most directories would take the two for one. Pairs
 * from before stay as they are.
 */
async function differingInCase(sql: Sql, realm: string, changes: readonly Wanted[]): Promise<FieldError[]> {
  const groups = changes.filter(({ kind }) => kind === KIND);
  const placed = groups.filter((c) => c.action === 'create' || (c.action !== 'delete' && c.renamedFrom !== undefined));
  if (placed.length === 0) return [];
  const left = groups.flatMap(({ action, key, renamedFrom }) => (action === 'delete' ? key : (renamedFrom ?? [])));
  const rows = await sql<{ wanted: string; path: string }>`
    select w.path as wanted, g.path from unnest(${placed.map(({ key }) => key)}::text[]) as w (path)
    join user_group g on g.realm_id = ${realm} and lower(g.path) = lower(w.path) and g.path <> w.path
    where g.path <> all(${left}::text[])`;
  const others = new Map(rows.map(({ wanted, path }) => [wanted, path]));
  const seen = new Map<string, string>();
  return placed.flatMap(({ key, path }) => {
    const folded = key.toLowerCase();
    const other = others.get(key) ?? seen.get(folded);
    seen.set(folded, key);
    if (other === undefined || other === key) return [];
    return [{ path: joinPaths(path, 'path'), message: `differs from the group ${other} in case only` }];
  });
}

/**
 * The admin roles that reach more users by these changes, as SQL. A role that is limited to a group reaches the members of
 * all groups inside it: moving a group gives its members to the roles limited to a group above the new path but not above
 * the old one. A group that becomes `default` gives every user to the roles that reach it.
 */
function extended(changes: readonly PlannedChange[], realm: string): Fragment | undefined {
  const places = changes
    .map(({ key, renamedFrom = key, before, save }) => ({
      path: key,
      stored: renamedFrom,
      everybody: save.default === true && before?.default !== true,
    }))
    .filter(({ path, stored, everybody }) => everybody || parentOf(path) !== parentOf(stored));
  if (places.length === 0) return undefined;
  const limits = (to: Fragment) => fragment`
    select l.role_id from admin_role_group l join user_group g on g.realm_id = l.realm_id and g.id = l.group_id
    where l.realm_id = ${realm} and ${to}`;
  return fragment`
    select r.name, r.permissions from admin_role r where r.realm_id = ${realm} and r.id in (
      select reached.role_id from jsonb_to_recordset(${jsonText(places)}::jsonb) as p (path text, stored text, everybody boolean)
      cross join lateral (
        (${limits(fragment`(starts_with(p.path, g.path || '/') or p.everybody and g.path = p.stored)`)})
        except (${limits(fragment`not p.everybody and starts_with(p.stored, g.path || '/')`)})) reached)`;
}

async function link(sql: Sql, realm: string, saved: readonly Saved[]): Promise<void> {
  const moved = saved.filter((one) => one.renamedFrom !== undefined);
  if (moved.length > 0)
    await sql`
      update user_group g set path = m.now || substr(g.path, length(m.was) + 1)
      from unnest(${moved.map((m) => m.renamedFrom)}::text[], ${moved.map((m) => m.key)}::text[]) as m (was, now)
      where g.realm_id = ${realm} and starts_with(g.path, m.was || '/')`;
  await tieRoles(
    sql,
    realm,
    TIES,
    saved
      .filter(({ changed }) => changed.includes('roles') || changed.includes('clientRoles'))
      .map(({ id, before, fields }) => ({
        id,
        existed: before !== undefined,
        roles: strings(fields.roles),
        clientRoles: sets(fields.clientRoles),
      })),
  );
}

export const groupsResource = (deps: Pick<ResourceDeps, 'seal' | 'now'>) =>
  declaredResource(
    groups,
    {
      table: {
        columns: { default: { type: 'boolean', name: 'is_default' } },
        elsewhere: {
          roles: { sql: held.roles, fromRow: (names) => asSet(strings(names)) },
          clientRoles: { sql: held.clientRoles, fromRow: sets },
        },
        derived: { name: { type: 'text', of: ({ key }) => nameOf(key) } },
        ids: { parent_id: { table: 'user_group', key: 'path', of: ({ key }) => parentOf(key) || undefined } },
        facts: { name: fragment`t.name`, parentId: fragment`t.parent_id` },
      },
      reached: groupReached,
      canonical: ({ clientRoles, ...fields }) => ({
        ...fields,
        ...(clientRoles !== undefined && { clientRoles: sets(clientRoles) }),
      }),
      keyOf: pathIn,
      references: ({ key, fields }) => [
        ...(parentOf(key) === '' ? [] : [{ kind: KIND, key: parentOf(key), path: 'path' }]),
        ...Object.entries(sets(fields.clientRoles)).flatMap(([clientId, names]) =>
          names.map((role) => ({
            kind: 'clientRole',
            key: clientRoleKey(clientId, role),
            path: `clientRoles.${clientId}`,
          })),
        ),
      ],
      hold: async (sql, realm, items) => {
        if (items.length > 0) await lockPaths(sql, realm);
      },
      check: ({ key }) =>
        pathBytes(key) > longestPath
          ? [{ path: 'name', message: `makes a path of more than ${longestPath} bytes` }]
          : [],
      whole: async (sql, realm, changes) => [
        ...(await tooDeep(sql, realm, changes)),
        ...(await differingInCase(sql, realm, changes)),
      ],
      link,
      extends: extended,
      fallsWith: {
        kind: KIND,
        which: (_, removed) =>
          fragment`exists (select from unnest(${removed}::text[]) as of (path) where starts_with(t.path, of.path || '/'))`,
      },
      renames: { below: [{ kind: KIND, prefix: (path) => `${path}/` }] },
      dependents: (sql, realm, removed) => sql<{ kind: string; key: string; on: string; field: string | null }>`
        select 'group' as kind, g.path as key, p.path as on, null as field from user_group g
        join user_group p on p.realm_id = g.realm_id and p.id = g.parent_id
        where g.realm_id = ${realm} and p.path = any(${removed}::text[])
        union all
        select 'adminRole', r.name, g.path, 'groups' from user_group g
        join admin_role_group l on l.realm_id = g.realm_id and l.group_id = g.id
        join admin_role r on r.realm_id = l.realm_id and r.id = l.role_id
        where g.realm_id = ${realm} and g.path = any(${removed}::text[])`,
    },
    deps,
  );
