// Owns: forwarding the audit log to a SIEM: each event at least once and in order, by a cursor that advances once the receiver has the event.
// Does not own: the log's order (events/position.ts, events/chain.ts), the receivers (receivers.ts), the formats (ecs.ts, ocsf.ts).
// Implements: specification 6.1. While the receiver is away, events wait in the log; nothing else waits for them.
import type { Sql } from '../../../db/sql.ts';
import { forgetDeparted } from '../../../events/log.ts';
import { eventOf } from '../../../events/row.ts';
import { type Forwarded, NotTaken, type Receiver, Refused, withoutEventData } from './event.ts';
import { TIMEOUT_MS } from './receivers.ts';
import * as store from './store.ts';

/** The size of a batch. HELD_SECONDS: how long the sending process holds its lease. */
const BATCH = 500;
const HELD_SECONDS = (2 * TIMEOUT_MS) / 1000;
/** The most batches in one run, after which other processes may send. */
const RUN = 100;
/** The most refusals of a single event, after which it is sent without its data. */
const MOST_REFUSED = 4;
const COUNTED = 100_000;
const MAX_ERROR_LENGTH = 500;

export interface ForwardingDeps {
  sql: Sql;
  receiver: Receiver;
  holder: string;
  log(message: string): void;
  now: () => Date;
}

const forwarded = (row: store.ForwardedRow): Forwarded => ({
  ...eventOf(row),
  block: row.block === null || row.hash === null ? null : { number: row.block, hash: row.hash },
});

export function createForwarding({ sql, receiver, holder, log, now }: ForwardingDeps) {
  let stopping = false;
  let notBefore = 0;
  /** Counts batches and halves of batches. */
  let sent = 0;

  const taken = async (rows: readonly store.ForwardedRow[], wasCut = false): Promise<boolean> => {
    const last = rows.at(-1);
    const how = { count: rows.length, cut: wasCut, at: now(), seconds: HELD_SECONDS };
    sent += 1;
    return last !== undefined && store.markSent(sql, holder, last, how);
  };

  /**
   * After several refusals an event is sent without its data, so that it doesn't delay others. If that is refused too,
   * all wait.
   */
  async function sendRefused(row: store.ForwardedRow, refused: Refused): Promise<boolean> {
    if ((await store.countRefusal(sql, holder, row.id)) < MOST_REFUSED) throw refused;
    await receiver.send([withoutEventData(forwarded(row))]);
    log(
      `the receiver of the audit log refuses the event ${row.id} of ${row.realm_id} (${refused.message}): it has it without its data`,
    );
    return taken([row], true);
  }

  /** Sends the rows; if the receiver rejects them, it sends each half. @returns false: another process sends by now */
  async function sendSome(rows: readonly store.ForwardedRow[]): Promise<boolean> {
    try {
      await receiver.send(rows.map(forwarded));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const [only] = rows;
      if (only && rows.length === 1) return sendRefused(only, error);
      const half = Math.ceil(rows.length / 2);
      return (await sendSome(rows.slice(0, half))) && sendSome(rows.slice(half));
    }
    return taken(rows);
  }

  /** @returns the position to continue from; undefined: there are no more events, or another process sends by now */
  async function sendOne(at: store.Cursor): Promise<store.Cursor | undefined> {
    const rows = await store.eventsAfter(sql, at, BATCH);
    if (rows.length === 0) return undefined;
    const kept = await sendSome(rows);
    return kept && rows.length === BATCH ? rows.at(-1) : undefined;
  }

  async function sendAll(): Promise<'again' | 'idle'> {
    let at = await store.takeCursor(sql, holder, HELD_SECONDS);
    for (let batches = 0; at && !stopping; batches += 1) {
      if (batches === RUN) return 'again';
      at = await sendOne(at);
    }
    await forgetDeparted(sql);
    return 'idle';
  }

  return {
    begin: () => store.begin(sql),
    /** @throws the fault of the receiver or the connection if no event was accepted; it is recorded */
    async run(): Promise<'again' | 'soon' | 'idle'> {
      if (now().getTime() < notBefore) return 'soon';
      if (!(await store.hasWaitingEvents(sql))) return 'idle';
      const sentBefore = sent;
      try {
        return await sendAll();
      } catch (error) {
        if (error instanceof NotTaken) notBefore = now().getTime() + error.retryAfterMs;
        const words = error instanceof Error ? error.message : 'failed';
        await store.failed(sql, holder, words.slice(0, MAX_ERROR_LENGTH));
        if (sent === sentBefore) throw error;
        // Some events were sent, so the pause stays short: with ever longer pauses, a receiver with occasional faults
        // would never catch up.
        log(`the receiver of the audit log failed and is tried again in a moment (${words})`);
        return 'soon';
      }
    },
    async stop(finished: () => Promise<void>): Promise<void> {
      stopping = true;
      await finished();
      await store.release(sql, holder).catch(() => {});
    },
  };
}
export type Forwarding = ReturnType<typeof createForwarding>;

/** For the audit configuration. */
export async function forwardingProgress(sql: Sql) {
  const found = await store.progress(sql, COUNTED);
  return {
    waiting: found?.waiting ?? 0,
    oldestWaitingAt: found?.oldest?.getTime() ?? null,
    sent: found?.sent ?? 0,
    lastSentAt: found?.last_sent_at?.getTime() ?? null,
    lastError: found?.last_error ?? null,
    cut: found?.cut ?? 0,
    lastCutId: found?.last_cut_id ?? null,
  };
}
