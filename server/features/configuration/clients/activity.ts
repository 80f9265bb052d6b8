// Records which clients get tokens, by the hour, and the hour of each client's last token. Events are counted in the process and written together each second,
// outside of all requests. A process that ends abruptly loses up to a second's counts. Decisions "Import, export,
// plan".
import { HOUR_MS } from '../../../contract/durations.ts';
import type { EventType } from '../../../contract/events.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Bus } from '../../../events/bus.ts';
import { type Counted, createTally, type Tally } from '../../../schedule/tally.ts';

const GET_TOKENS: ReadonlySet<EventType> = new Set(['TOKEN_ISSUED', 'TOKEN_REFRESHED', 'WORKLOAD_TOKEN_ISSUED']);
const WRITE_MS = 1_000;
const MOST_WAITING = 10_000;

interface Count {
  realm: string;
  client: string;
  hour: number;
}

export function createClientActivity({
  sql,
  bus,
  log,
  now,
}: {
  sql: Sql;
  bus: Pick<Bus, 'on'>;
  log: { warn(fields: object, message: string): void };
  now(): Date;
}): Pick<Tally<Count>, 'start' | 'stop'> {
  async function write(counts: readonly Counted<Count>[]): Promise<void> {
    // Sorted, so that servers that write the same rows don't deadlock. The lock leaves out a client that is being deleted.
    const rows = counts.map(({ row, count }) => ({ ...row, hour: new Date(row.hour), tokens: count }));
    await sql`
      with counted as materialized (
        select c.realm_id, c.id, w.hour, w.tokens
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as w (realm text, client text, hour timestamptz, tokens int)
          join client c on c.realm_id = w.realm and c.client_id = w.client
        order by 1, 2, 3
        for key share of c
      ), used as (
        insert into client_use (realm_id, client, since, used_at)
        select realm_id, id, max(hour), max(hour) from counted group by 1, 2 order by 1, 2
        on conflict (realm_id, client) do update set used_at = excluded.used_at
          where client_use.used_at is null or client_use.used_at < excluded.used_at
      )
      insert into client_activity (realm_id, client, hour, tokens)
      select realm_id, id, hour, tokens from counted order by 1, 2, 3
      on conflict (realm_id, client, hour) do update set tokens = client_activity.tokens + excluded.tokens`;
  }
  const tally = createTally<Count>({
    write,
    soonMs: WRITE_MS,
    most: MOST_WAITING,
    failed: (err) => log.warn({ err }, 'Which clients got tokens could not be written down'),
  });

  bus.on(({ type, realm, clientId }) => {
    if (!GET_TOKENS.has(type) || !clientId) return;
    const hour = Math.floor(now().getTime() / HOUR_MS) * HOUR_MS;
    tally.add(`${realm} ${hour} ${clientId}`, { realm, client: clientId, hour });
  });
  return { start: tally.start, stop: tally.stop };
}
