// Realms' flows as sign-ins use them, each divided by separateFirstSteps into the steps of first sign-ins and the rest.
// Cached in this process.
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import { separateFirstSteps } from './first-steps.ts';
import * as store from './store.ts';
import { nest, type TreeNode } from './tree.ts';

export function createFlowTrees({ sql, now }: { sql: Sql; now: () => Date }) {
  const trees = createRealmCache<ReturnType<typeof separateFirstSteps> | undefined>({
    now,
    async load(realm, alias) {
      const flow = await store.read(sql, realm, alias);
      return flow && separateFirstSteps(nest(await store.executions(sql, realm, alias)));
    },
  });
  return {
    get: (realm: string, alias: string) => trees.get(realm, alias),
    /** The flow's steps for a user who signs in with an identity provider for the first time. */
    firstSteps: async (realm: string, alias: string): Promise<TreeNode[]> =>
      (await trees.get(realm, alias))?.first ?? [],
    drop: trees.drop,
  };
}
export type FlowTrees = ReturnType<typeof createFlowTrees>;
