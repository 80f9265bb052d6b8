// A cache of the realms that have a subscription, so that events of other realms cost no query. It may be outdated: a transaction that
// relies on "none" checks it when it commits (db/transact.ts).
import type { Sql } from '../db/sql.ts';
import { type Fragment, fragment, type Statement, statement } from '../db/statement.ts';
import type { EventConsumer } from './consumer.ts';

const TTL_MS = 10_000;
const MAX_REALMS = 10_000;

const realmColumn = fragment`realm`;

export function createSubscriptions({ now, consumers }: { now(): Date; consumers: readonly EventConsumer[] }) {
  /** The condition for a query that has the realm's name as `realm`. */
  const wanted: Fragment = [...new Set(consumers.map((consumer) => consumer.wanted))].reduce(
    (any, isWanted) => fragment`${any} or ${isWanted(realmColumn)}`,
    fragment`false`,
  );
  const known = new Map<string, { subscribed: boolean; until: number }>();
  return {
    /** The realms with a subscription; unknown ones are read in one query. */
    async among(sql: Sql, realms: readonly string[]): Promise<ReadonlySet<string>> {
      const at = now().getTime();
      if (known.size > MAX_REALMS) known.clear();
      const unknown = realms.filter((realm) => (known.get(realm)?.until ?? 0) <= at);
      if (unknown.length > 0) {
        const rows = await sql<{ realm: string }>`
          select realm from unnest(${unknown}::text[]) as realm where ${wanted}`;
        const until = at + TTL_MS;
        for (const realm of unknown) known.set(realm, { subscribed: false, until });
        for (const { realm } of rows) known.set(realm, { subscribed: true, until });
      }
      return new Set(realms.filter((realm) => known.get(realm)?.subscribed));
    },
    /** A statement that fails with a division by zero if one of the realms has a subscription. */
    nobodyIn: (realms: readonly string[]): Statement =>
      statement`select 1 / (not exists (select from unnest(${realms}::text[]) as realm where ${wanted}))::int as none`,
    /** Drops one realm from the cache, or all. */
    drop(realm: string | undefined): void {
      if (realm === undefined) known.clear();
      else known.delete(realm);
    },
  };
}
export type Subscriptions = ReturnType<typeof createSubscriptions>;
