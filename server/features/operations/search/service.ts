// Owns: the search over everything that the caller may see: which kinds, in which realms, exact hits first.
// Does not own: lists of one kind (their features), the indexes (migration 0760).
// Implements: decisions "Search".

import type { z } from 'zod';
import type { Permission } from '../../../contract/permissions.ts';
import { MASTER } from '../../../contract/realms.ts';
import {
  type SearchHit,
  type SearchKind,
  type SearchResult,
  type search,
  searchKinds,
} from '../../../contract/search.ts';
import { isUuid } from '../../../crypto/ids.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { type Principal, reachOf } from '../../../domain/principal.ts';
import * as store from './store.ts';

const reads: Record<SearchKind, Permission> = {
  realm: 'realm:read',
  user: 'users:read',
  client: 'clients:read',
  group: 'groups:read',
  role: 'roles:read',
  organization: 'organizations:read',
};
/** From this length on a text has a trigram. */
const PART_FROM = 3;

/** Where the caller may see the kind; undefined: nowhere. */
function visibleTo(principal: Principal, kind: SearchKind, only: string | undefined): store.Visible | undefined {
  const permission = reads[kind];
  const held = [...principal.permissions].filter(([, all]) => all.has(permission)).map(([realm]) => realm);
  const reach = reachOf(principal, principal.realm, permission);
  const limited = reach && { realm: principal.realm, reach };
  if (held.includes('*')) return { realms: only === undefined ? 'all' : [only], limited: undefined };
  const realms = only === undefined ? held : held.filter((realm) => realm === only);
  const here = only === undefined || only === principal.realm ? limited : undefined;
  return realms.length === 0 && !here ? undefined : { realms, limited: here };
}

export function createSearch({ transact }: { transact: Transact }) {
  async function hitsOf(
    sql: Sql,
    kind: SearchKind,
    { q, anywhere, visible, limit }: Omit<store.Wanted, 'match'>,
  ): Promise<SearchHit[]> {
    const found = new Map<string, SearchHit>();
    const matches: store.Match[] = [
      ...(isUuid(q) ? (['id'] as const) : []),
      'whole',
      ...(q.length >= PART_FROM ? (['part'] as const) : []),
    ];
    for (const match of matches) {
      const wanted = { q, match, anywhere, visible, limit: limit + 1 };
      const rows = kind === 'user' ? await store.findUsers(sql, wanted) : await store.find(sql, kind, wanted);
      for (const row of rows) {
        const key = `${row.realm} ${row.id}`;
        if (!found.has(key)) found.set(key, { kind, ...row, exact: match !== 'part' });
      }
      if (found.size > limit) break;
    }
    return [...found.values()];
  }

  return {
    find: (principal: Principal, { q, realm, kinds, limit }: z.output<typeof search.query>): Promise<SearchResult> =>
      // the best plan depends on the text
      transact(MASTER, async ({ sql }) => {
        await sql`set local plan_cache_mode = force_custom_plan`;
        const anywhere = await store.hasTrigrams(sql);
        const result: SearchResult = { hits: [], more: [], notSearched: [] };
        for (const kind of searchKinds) {
          const visible = kinds === undefined || kinds.includes(kind) ? visibleTo(principal, kind, realm) : undefined;
          if (!visible) continue;
          const several = visible.realms === 'all' || visible.realms.length + (visible.limited ? 1 : 0) > 1;
          if (kind === 'user' && !anywhere && several) {
            result.notSearched.push(kind);
            continue;
          }
          const hits = await hitsOf(sql, kind, { q, anywhere, visible, limit });
          result.hits.push(...hits.slice(0, limit));
          if (hits.length > limit) result.more.push(kind);
        }
        return result;
      }),
  };
}
export type Search = ReturnType<typeof createSearch>;
