// Owns: the search over everything that the caller may see: which kinds, in which realms, exact hits first.
// Does not own: lists of one kind (their features), the indexes (migration names_of_all_realms).
// Implements: decisions "Search".

import type { z } from 'zod';
import type { Permission } from '../../../contract/permissions.ts';
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

/** The hits on one kind: exact ones first, each object once. */
function hitsOf(rows: readonly store.HitRow[]): SearchHit[] {
  const hits = rows.map(({ match, ...row }) => ({ ...row, exact: match !== 'part' }));
  const found = new Map<string, SearchHit>();
  for (const hit of hits.sort((a, b) => Number(b.exact) - Number(a.exact))) {
    const key = `${hit.realm} ${hit.id}`;
    if (!found.has(key)) found.set(key, hit);
  }
  return [...found.values()];
}

export function createSearch({ sql, transact }: { sql: Sql; transact: Transact }) {
  return {
    async find(principal: Principal, { q, realm, kinds, limit }: z.output<typeof search.query>): Promise<SearchResult> {
      const anywhere = await store.hasTrigrams(sql);
      const result: SearchResult = { hits: [], more: [], notSearched: [] };
      const places = new Map<SearchKind, store.Visible>();
      for (const kind of searchKinds.filter((one) => kinds?.includes(one) ?? true)) {
        const visible = visibleTo(principal, kind, realm);
        if (!visible) continue;
        const several = visible.realms === 'all' || visible.realms.length + (visible.limited ? 1 : 0) > 1;
        if (kind === 'user' && !anywhere && several) result.notSearched.push(kind);
        else places.set(kind, visible);
      }
      const matches: store.Match[] = [
        ...(isUuid(q) ? (['id'] as const) : []),
        'whole',
        ...(q.length >= PART_FROM ? (['part'] as const) : []),
      ];
      const wanted = { q, matches, places, anywhere, limit: limit + 1 };
      const rows = await transact(undefined, async (tx) => {
        // For a few of many matches the planner would read a table from its beginning: it expects some everywhere, but those of new
        // realms are all at its end.
        await tx.sql`set local enable_seqscan = off`;
        return store.find(tx.sql, wanted);
      });
      for (const kind of places.keys()) {
        const hits = hitsOf(rows.filter((row) => row.kind === kind));
        result.hits.push(...hits.slice(0, limit));
        if (hits.length > limit) result.more.push(kind);
      }
      return result;
    },
  };
}
export type Search = ReturnType<typeof createSearch>;
