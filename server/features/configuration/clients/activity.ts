// Records which clients get tokens, by the hour, and the hour of each client's last token. Events are counted in the process and written together each second,
// outside of all requests. A process that ends abruptly loses up to a second's counts. Decisions "Import, export,
// plan".
import { HOUR_MS } from '../../../contract/durations.ts';
import type { EventType } from '../../../contract/events.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Bus } from '../../../events/bus.ts';
import { createRecurring, type Recurring } from '../../../schedule/recurring.ts';

const GET_TOKENS: ReadonlySet<EventType> = new Set(['TOKEN_ISSUED', 'TOKEN_REFRESHED', 'WORKLOAD_TOKEN_ISSUED']);
const WRITE_MS = 1_000;
/** The most waiting counts. Beyond it, for example while the database is away, further ones are dropped. */
const MOST_WAITING = 10_000;

interface Count {
  realm: string;
  client: string;
  hour: number;
  tokens: number;
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
}): Pick<Recurring, 'start' | 'stop'> {
  let waiting = new Map<string, Count>();

  /** @returns whether the count is the first for its client and hour */
  function add(key: string, count: Count): boolean {
    const known = waiting.get(key);
    if (known) known.tokens += count.tokens;
    else if (waiting.size < MOST_WAITING) waiting.set(key, { ...count });
    return known === undefined;
  }

  async function write(): Promise<void> {
    const counts = waiting;
    waiting = new Map();
    try {
      await put([...counts.values()]);
    } catch (error) {
      for (const [key, count] of counts) add(key, count);
      throw error;
    }
  }

  async function put(counts: readonly Count[]): Promise<void> {
    // Sorted, so that servers that write the same rows don't deadlock. The lock leaves out a client that is being deleted.
    const rows = counts.map((row) => ({ ...row, hour: new Date(row.hour) }));
    if (rows.length === 0) return;
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
  const failed = (err: unknown) => log.warn({ err }, 'Which clients got tokens could not be written down');
  const writing = createRecurring({
    run: () => write().then(() => 'idle'),
    soonMs: WRITE_MS,
    idleMs: HOUR_MS,
    longestMs: 60 * WRITE_MS,
    failed,
  });

  bus.on(({ type, realm, clientId }) => {
    if (!GET_TOKENS.has(type) || !clientId) return;
    const hour = Math.floor(now().getTime() / HOUR_MS) * HOUR_MS;
    const key = `${realm} ${hour} ${clientId}`;
    if (add(key, { realm, client: clientId, hour, tokens: 1 })) writing.ask();
  });

  return {
    start: writing.start,
    async stop() {
      await writing.stop();
      await write().catch(failed);
    },
  };
}
