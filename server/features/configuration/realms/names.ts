// The names of existing realms, which every surface needs with each request: cached in this process, and dropped when a
// realm changes.
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import * as store from './store.ts';

export function createRealmNames({ sql, now }: { sql: Sql; now: () => Date }) {
  const cache = createRealmCache({
    now,
    load: async (realm) => (await store.read(sql, realm)) !== undefined,
  });
  return {
    exists: (realm: string): Promise<boolean> => cache.get(realm, ''),
    /** The existing ones of `names`, in one query. */
    existing: async (names: readonly string[]): Promise<Set<string>> =>
      new Set((await store.existingRealms(sql, names)).map((row) => row.realm_id)),
    drop: cache.drop,
  };
}
