// Owns: realm roles, which a role may contain (composites), which every new user gets (default).
// Does not own: client roles' own endpoints, who holds a role (users, groups, clients), admin roles (admin-access).
// Implements: decisions "Role"; specification 4.10.
import type { By } from '../../contract/events.ts';
import type { Changes } from '../../contract/names.ts';
import { Problem } from '../../contract/problem.ts';
import type { Composite, Role, RoleInput } from '../../contract/roles.ts';
import { renameOwned } from '../../db/ownership.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import { changedFields } from '../../http/changed-fields.ts';
import type { Expect } from '../../http/etag.ts';
import { canonical } from './composite.ts';
import * as store from './store.ts';

const missing = () => new Problem('not-found', 'There is no such role');
const taken = (name: string) => new Problem('name-taken', `The name ${name} is taken`);
const subjectOf = ({ id, name }: Role) => ({ type: 'object', id, name }) as const;

function compositeOf(children: readonly [string | null, string][]): Composite {
  const roles: string[] = [];
  // No plain object: a client may be called `constructor`.
  const clientRoles = new Map<string, string[]>();
  for (const [clientId, name] of children) {
    if (clientId === null) roles.push(name);
    else clientRoles.set(clientId, [...(clientRoles.get(clientId) ?? []), name]);
  }
  return { roles, clientRoles: Object.fromEntries(clientRoles) };
}

const toWire = (row: store.RoleWithChildren): Role => ({
  id: row.id,
  name: row.name,
  description: row.description,
  composite: compositeOf(row.children),
  default: row.is_default,
  attributes: row.attributes,
});

const toRow = ({ id, name, description, default: is_default, attributes }: Role): store.RoleRow => ({
  id,
  name,
  description,
  is_default,
  attributes,
});

function merged(current: Role, input: Changes<RoleInput>): Role {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const next: Role = { ...current, ...given, id: current.id };
  return { ...next, composite: canonical(next.composite) };
}

export function createRoles({ sql, transact, newId }: { sql: Sql; transact: Transact; newId: () => string }) {
  async function load(on: Sql, realm: string, id: string): Promise<Role> {
    const row = await store.find(on, realm, id);
    if (!row) throw missing();
    return toWire(row);
  }

  /** Ids of what the composite names; a name that isn't there, or a circle, is a fault. */
  async function childrenOf(on: Sql, realm: string, role: Role): Promise<string[]> {
    const { roles = [], clientRoles = {} } = role.composite;
    const wanted = [
      ...roles.map((name, i) => ({ clientId: null, role: name, path: `composite.roles[${i}]` })),
      ...Object.entries(clientRoles).flatMap(([clientId, names]) =>
        names.map((name, i) => ({ clientId, role: name, path: `composite.clientRoles.${clientId}[${i}]` })),
      ),
    ];
    const found = await store.named(on, realm, wanted);
    const there = new Set(found.map((row) => JSON.stringify([row.client_id, row.name])));
    const errors = wanted
      .filter(({ clientId, role: name }) => !there.has(JSON.stringify([clientId, name])))
      .map(({ path, role: name }) => ({ path, message: `there is no role ${name}` }));
    if (errors.length > 0)
      throw new Problem('invalid-request', 'The composite names roles that do not exist', { errors });
    const ids = found.map((row) => row.id);
    if (await store.anyContains(on, realm, ids, role.id))
      throw new Problem('invalid-request', undefined, {
        errors: [{ path: 'composite', message: 'the role would contain itself' }],
      });
    return ids;
  }

  return {
    list: async (
      realm: string,
      search: { after: string; limit: number; search: string | undefined },
    ): Promise<Role[]> => (await store.list(sql, realm, search)).map(toWire),

    get: (realm: string, id: string): Promise<Role> => load(sql, realm, id),

    create: (by: By, realm: string, input: RoleInput): Promise<Role> =>
      transact(realm, async ({ sql: on, record }) => {
        const blank: Role = {
          id: newId(),
          name: input.name,
          description: null,
          composite: {},
          default: false,
          attributes: {},
        };
        const role = merged(blank, input);
        if (!(await store.insert(on, realm, toRow(role)))) throw taken(role.name);
        await store.setChildren(on, realm, role.id, await childrenOf(on, realm, role));
        record({ type: 'ROLE_CREATED', realm, by, subject: subjectOf(role) });
        return load(on, realm, role.id);
      }),

    update: (by: By, realm: string, id: string, input: Changes<RoleInput>, expect: Expect): Promise<Role> =>
      transact(realm, async ({ sql: on, record }) => {
        await store.lockComposites(on, realm);
        const before = await load(on, realm, id);
        expect(before);
        const role = merged(before, input);
        const fields = changedFields(merged(before, {}), role);
        if (fields.length === 0) return before;
        if (!(await store.update(on, realm, toRow(role)))) throw taken(role.name);
        if (fields.includes('composite')) await store.setChildren(on, realm, id, await childrenOf(on, realm, role));
        if (fields.includes('name')) await renameOwned(on, realm, ['role'], before.name, role.name);
        record({ type: 'ROLE_UPDATED', realm, by, subject: subjectOf(role), data: { fields } });
        return load(on, realm, id);
      }),

    remove: (by: By, realm: string, id: string, expect: Expect): Promise<void> =>
      transact(realm, async ({ sql: on, record }) => {
        await store.lockComposites(on, realm);
        const role = await load(on, realm, id);
        expect(role);
        if (!(await store.remove(on, realm, id))) throw missing();
        record({ type: 'ROLE_DELETED', realm, by, subject: subjectOf(role) });
      }),
  };
}
export type Roles = ReturnType<typeof createRoles>;
