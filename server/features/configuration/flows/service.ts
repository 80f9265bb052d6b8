// Owns: a realm's sign-in flows for administrators: trees, clones, names, and the objects that use them.
// Does not own: running a flow (authentication/sign-in), the authenticators (authentication/authenticators), binding (settings, clients).
// Implements: specification 2.1, 2.2, 3 (Flow), 4.1; decisions "Reading and writing".

import { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import type { Authenticator, Execution, ExecutionInput, Flow, TreeInput } from '../../../contract/flows.ts';
import { inEnglish } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import type { Expect } from '../../../http/etag.ts';
import { refuseDeclaredOnly } from '../../../resource/declared-only.ts';
import { isFirstAlone, separateFirstSteps } from './first-steps.ts';
import * as store from './store.ts';
import {
  type AuthenticatorEntry,
  copyOf,
  flatten,
  nest,
  rowsOf,
  sameTree,
  type TreeNode,
  validateTree,
} from './tree.ts';
import type { FlowTrees } from './trees.ts';

export interface FlowDeps {
  sql: Sql;
  transact: Transact;
  settings: { of(realm: string): Promise<{ browserFlow: string } | undefined> };
  trees: Pick<FlowTrees, 'get'>;
  registry: readonly AuthenticatorEntry[];
  newId: () => string;
}

type FlowEvent = 'FLOW_CREATED' | 'FLOW_UPDATED' | 'FLOW_DELETED';

const noFlow = (alias: string) => new Problem('not-found', `There is no flow ${alias}`);
const toWire = (realm: string, row: store.FlowRow, executions: readonly Execution[]): Flow => ({
  realmId: realm,
  alias: row.alias,
  builtIn: row.built_in,
  executions: flatten(nest(executions)),
});

export function createFlows({ sql, transact, settings, trees, registry, newId }: FlowDeps) {
  const tell = (tx: Tx, type: FlowEvent, realm: string, by: By, alias: string, data: Record<string, unknown> = {}) =>
    tx.record({ type, realm, by, subject: { type: 'object', id: alias, name: alias }, data: { alias, ...data } });

  /** @throws Problem `declared-only` */
  const refuseLocked = (tx: Tx, realm: string, key: string, renamedFrom = key): Promise<void> =>
    refuseDeclaredOnly(tx.sql, realm, [{ kind: 'flow', key, renamedFrom }]);

  async function get(realm: string, alias: string, on: Sql = sql): Promise<Flow> {
    const row = await store.read(on, realm, alias);
    if (!row) throw noFlow(alias);
    return toWire(realm, row, await store.executions(on, realm, alias));
  }

  async function bound(realm: string): Promise<string> {
    const policy = await settings.of(realm);
    if (!policy) throw new Problem('not-found', `There is no realm ${realm}`);
    return policy.browserFlow;
  }

  /** The rows of a request's tree, or its faults. The stored tree itself is always accepted. */
  function accept(input: TreeInput, stored: readonly Execution[]): Execution[] {
    const read = rowsOf(input.executions, { newId, registry });
    if ('errors' in read) throw refused(read.errors);
    if (sameTree(read.rows, stored)) return read.rows;
    const errors = validateTree(read.rows, registry, read.paths);
    if (errors.length > 0) throw refused(errors);
    return read.rows;
  }
  const refused = (errors: { path: string; message: string }[]) =>
    new Problem('invalid-request', errors.map((e) => e.message).join('; '), { errors });

  function nameMatches(input: TreeInput, realm: string, flow: store.FlowRow): void {
    const errors = [
      ...(input.alias !== undefined && input.alias !== flow.alias
        ? [{ path: 'alias', message: 'a flow is renamed by PATCH' }]
        : []),
      ...(input.realmId !== undefined && input.realmId !== realm
        ? [{ path: 'realmId', message: 'is another realm' }]
        : []),
      ...(input.builtIn !== undefined && input.builtIn !== flow.built_in
        ? [{ path: 'builtIn', message: 'cannot be changed' }]
        : []),
    ];
    if (errors.length > 0) throw new Problem('invalid-request', undefined, { errors });
  }

  const save = (by: By, realm: string, alias: string, input: TreeInput, expect: Expect): Promise<Flow> =>
    transact(realm, async (tx) => {
      const before = await get(realm, alias, tx.sql);
      expect(before);
      const row = { alias, built_in: before.builtIn };
      nameMatches(input, realm, row);
      if (sameTree(accept(input, before.executions ?? []), before.executions ?? [])) return before;
      // The lock: no other write may come between the check of the expected state and this write.
      if (!(await store.lock(tx.sql, realm, alias))) throw noFlow(alias);
      const current = await get(realm, alias, tx.sql);
      expect(current);
      await refuseLocked(tx, realm, alias);
      const rows = accept(input, current.executions ?? []);
      await store.replaceExecutions(tx.sql, realm, alias, rows);
      tell(tx, 'FLOW_UPDATED', realm, by, alias, { executions: rows.length });
      return toWire(realm, row, rows);
    });

  return {
    /** The registry, as GET /authenticators shows it. */
    authenticators: (): Authenticator[] =>
      registry.map(({ id, displayName, factorClass, levelOfAssurance, category, configSchema }) => ({
        id,
        displayName: inEnglish(displayName),
        factorClass,
        levelOfAssurance,
        category,
        configSchema: z.toJSONSchema(configSchema, { io: 'input' }),
      })),
    registry,

    /** The tree for a sign-in: that of the client's override if the flow still exists, else the realm's. */
    async treeFor(
      realm: string,
      override: string | undefined,
    ): Promise<{ alias: string; tree: TreeNode[]; firstAlone?: boolean }> {
      const overriding = override === undefined ? undefined : await trees.get(realm, override);
      if (override !== undefined && overriding)
        return { alias: override, tree: overriding.rest, firstAlone: isFirstAlone(overriding) };
      const alias = await bound(realm);
      return { alias, tree: (await trees.get(realm, alias))?.rest ?? [] };
    },
    tree: async (realm: string, alias: string): Promise<TreeNode[] | undefined> =>
      (await trees.get(realm, alias))?.rest,

    /**
     * A tree that is not saved, as sign-ins would use it, and each execution's place in the request. @throws Problem
     * `invalid-request` with the faults for which {@link save} would refuse it
     */
    unsaved(executions: readonly ExecutionInput[]): { tree: TreeNode[]; paths: ReadonlyMap<string, string> } {
      const read = rowsOf(executions, { newId, registry });
      const errors = 'errors' in read ? read.errors : validateTree(read.rows, registry, read.paths);
      if ('errors' in read || errors.length > 0) throw refused(errors);
      return { tree: separateFirstSteps(nest(read.rows)).rest, paths: read.paths };
    },

    list: async (
      realm: string,
      after: { alias: string; builtIn: boolean } | undefined,
      limit: number,
    ): Promise<Flow[]> => {
      const last = after && { alias: after.alias, built_in: after.builtIn };
      const rows = await store.list(sql, realm, last, limit);
      return rows.map((row) => ({ realmId: realm, alias: row.alias, builtIn: row.built_in }));
    },
    get: (realm: string, alias: string): Promise<Flow> => get(realm, alias),
    getBound: async (realm: string): Promise<Flow> => get(realm, await bound(realm)),
    save,
    saveBound: async (by: By, realm: string, input: TreeInput, expect: Expect): Promise<Flow> =>
      save(by, realm, await bound(realm), input, expect),

    create: (by: By, realm: string, input: { alias: string; copyFromAlias?: string | undefined }): Promise<Flow> =>
      transact(realm, async (tx) => {
        const { alias, copyFromAlias } = input;
        await refuseLocked(tx, realm, alias);
        const source = copyFromAlias === undefined ? undefined : await get(realm, copyFromAlias, tx.sql);
        if (!(await store.insert(tx.sql, realm, alias, false)))
          throw new Problem('name-taken', `There is a flow ${alias} already`);
        const rows = copyOf(source?.executions ?? [], newId);
        if (rows.length > 0) await store.replaceExecutions(tx.sql, realm, alias, rows);
        tell(tx, 'FLOW_CREATED', realm, by, alias, copyFromAlias === undefined ? {} : { copyFromAlias });
        return toWire(realm, { alias, built_in: false }, rows);
      }),

    rename: (by: By, realm: string, alias: string, to: string, expect: Expect): Promise<Flow> =>
      transact(realm, async (tx) => {
        const flow = await store.read(tx.sql, realm, alias);
        if (!flow) throw noFlow(alias);
        const current = await get(realm, alias, tx.sql);
        expect(current);
        if (to === alias) return current;
        if (flow.built_in) throw new Problem('flow-built-in', `The flow ${alias} is seeded and cannot be renamed`);
        if (!(await store.lock(tx.sql, realm, alias))) throw noFlow(alias);
        await refuseLocked(tx, realm, to, alias);
        if (!(await store.rename(tx.sql, realm, alias, to)))
          throw new Problem('name-taken', `There is a flow ${to} already`);
        await store.renameBindings(tx.sql, realm, alias, to);
        tell(tx, 'FLOW_UPDATED', realm, by, to, { renamedFrom: alias });
        return get(realm, to, tx.sql);
      }),

    remove: (by: By, realm: string, alias: string, expect: Expect): Promise<void> =>
      transact(realm, async (tx) => {
        const flow = await store.lock(tx.sql, realm, alias);
        if (!flow) throw noFlow(alias);
        expect(await get(realm, alias, tx.sql));
        await refuseLocked(tx, realm, alias);
        if (flow.built_in) throw new Problem('flow-built-in', `The flow ${alias} is seeded and cannot be deleted`);
        const users = await store.boundTo(tx.sql, realm, alias);
        if (users.length > 0)
          throw new Problem(
            'flow-in-use',
            `The flow ${alias} signs people in for ${users.join(', ')}: bind another first`,
          );
        await store.remove(tx.sql, realm, alias);
        tell(tx, 'FLOW_DELETED', realm, by, alias);
      }),
  };
}
export type Flows = ReturnType<typeof createFlows>;
