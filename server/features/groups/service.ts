// Owns: the tree of groups and the roles that a group gives its members.
// Does not own: who is a member (users), how a group reaches tokens (db/person.ts).
// Implements: decisions "Group"; specification 4.10.
import type { By } from '../../contract/events.ts';
import type { Group, GroupInput } from '../../contract/groups.ts';
import { Problem } from '../../contract/problem.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import type { Expect } from '../../http/etag.ts';
import * as store from './store.ts';

const MAX_PATH = 2000;

const toWire = (row: store.GroupWithRoles): Group => ({
  id: row.id,
  name: row.name,
  path: row.path,
  parentId: row.parent_id,
  roles: row.roles,
  attributes: row.attributes,
});
const missing = () => new Problem('not-found', 'There is no such group');
const subjectOf = ({ id, path }: Group) => ({ type: 'object', id, name: path }) as const;

export function createGroups({ sql, transact, newId }: { sql: Sql; transact: Transact; newId: () => string }) {
  async function pathIn(on: Sql, realm: string, input: GroupInput): Promise<string> {
    if (!input.parentId) return `/${input.name}`;
    const parent = await store.find(on, realm, input.parentId);
    if (!parent) throw new Problem('not-found', 'There is no such parent group');
    return `${parent.path}/${input.name}`;
  }

  return {
    list: async (
      realm: string,
      search: { after: string; limit: number; search: string | undefined },
    ): Promise<Group[]> => (await store.list(sql, realm, search)).map(toWire),

    create: (by: By, realm: string, input: GroupInput): Promise<Group> =>
      transact(realm, async ({ sql: on, record }) => {
        const path = await pathIn(on, realm, input);
        if (path.length > MAX_PATH)
          throw new Problem('invalid-request', undefined, {
            errors: [{ path: 'name', message: `makes a path of more than ${MAX_PATH} characters` }],
          });
        const roles = [...new Set(input.roles ?? [])];
        const row = {
          id: newId(),
          name: input.name,
          path,
          parent_id: input.parentId ?? null,
          attributes: input.attributes ?? {},
        };
        if (!(await store.insert(on, realm, row))) throw new Problem('name-taken', `There is a group ${path} already`);
        const known = await store.addRoles(on, realm, row.id, roles);
        const errors = roles.flatMap((role, i) =>
          known.has(role) ? [] : [{ path: `roles[${i}]`, message: `there is no role ${role}` }],
        );
        if (errors.length > 0)
          throw new Problem('invalid-request', 'The group names roles that do not exist', { errors });
        const group = toWire({ ...row, roles: roles.sort() });
        record({ type: 'GROUP_CREATED', realm, by, subject: subjectOf(group) });
        return group;
      }),

    /** With its subgroups; members stay, without the group. */
    remove: (by: By, realm: string, id: string, expect: Expect): Promise<void> =>
      transact(realm, async ({ sql: on, record }) => {
        const row = await store.find(on, realm, id);
        if (!row) throw missing();
        const group = toWire(row);
        expect(group);
        if (!(await store.remove(on, realm, id))) throw missing();
        record({ type: 'GROUP_DELETED', realm, by, subject: subjectOf(group) });
      }),
  };
}
export type Groups = ReturnType<typeof createGroups>;
