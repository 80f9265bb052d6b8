// Which realms have webhooks, kept in process, so that the events of all others cost no look-up of deliveries.
// What it says may be outdated: the transaction that relies on "none" checks it when it commits (db/transact.ts).
import type { Sql } from '../db/sql.ts';

const TTL_MS = 10_000;
const MAX_REALMS = 10_000;

export function createSubscriptions({ now }: { now(): Date }) {
  const known = new Map<string, { subscribed: boolean; until: number }>();
  return {
    /** Those of the realms that have a webhook; asks for all that it doesn't know in one query. */
    async among(sql: Sql, realms: readonly string[]): Promise<ReadonlySet<string>> {
      const at = now().getTime();
      if (known.size > MAX_REALMS) known.clear();
      const unknown = realms.filter((realm) => (known.get(realm)?.until ?? 0) <= at);
      if (unknown.length > 0) {
        const rows = await sql<{ realm: string }>`
          select realm from unnest(${unknown}::text[]) as realm where exists (select from webhook where realm_id = realm)`;
        const until = at + TTL_MS;
        for (const realm of unknown) known.set(realm, { subscribed: false, until });
        for (const { realm } of rows) known.set(realm, { subscribed: true, until });
      }
      return new Set(realms.filter((realm) => known.get(realm)?.subscribed));
    },
    /** Forgets one realm, or all. */
    drop(realm: string | undefined): void {
      if (realm === undefined) known.clear();
      else known.delete(realm);
    },
  };
}
export type Subscriptions = ReturnType<typeof createSubscriptions>;
