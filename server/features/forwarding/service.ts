// Owns: forwarding the audit log to a SIEM: each event at least once and in order, by a cursor that moves on once the receiver has it.
// Does not own: the log's order (events/position.ts, chain.ts), where events go (receivers.ts), in which shape (ecs.ts, ocsf.ts).
// Implements: specification 6.1. While the receiver is away events wait in the log, and nobody else does.
import type { Sql } from '../../db/sql.ts';
import { forgetDeparted } from '../../events/log.ts';
import { type Forwarded, NotTaken, type Receiver } from './event.ts';
import { TIMEOUT_MS } from './receivers.ts';
import * as store from './store.ts';

/** Of one batch; and how long the process that sends is believed to live. */
const BATCH = 500;
const HELD_SECONDS = (2 * TIMEOUT_MS) / 1000;
/** Batches before others may look. */
const RUN = 100;
const COUNTED = 100_000;
const MAX_ERROR_LENGTH = 500;

export interface ForwardingDeps {
  sql: Sql;
  receiver: Receiver;
  holder: string;
  now: () => Date;
}

const forwarded = (row: store.ForwardedRow): Forwarded => ({
  id: row.id,
  type: row.type,
  occurredAt: row.occurred_at.getTime(),
  realmId: row.realm_id,
  actor: row.actor,
  subject: row.subject,
  clientId: row.client_id,
  ipAddress: row.ip_address,
  outcome: row.outcome,
  data: row.data,
  block: row.block === null || row.hash === null ? null : { number: row.block, hash: row.hash },
});

export function createForwarding({ sql, receiver, holder, now }: ForwardingDeps) {
  let stopping = false;
  let notBefore = 0;

  /** @returns whether there is more */
  async function sendOne(at: store.Cursor): Promise<store.Cursor | undefined> {
    const rows = await store.next(sql, at, BATCH);
    const last = rows.at(-1);
    if (!last) return undefined;
    await receiver.send(rows.map(forwarded));
    const kept = await store.sent(sql, holder, last, { count: rows.length, at: now(), seconds: HELD_SECONDS });
    return kept && rows.length === BATCH ? last : undefined;
  }

  async function sendAll(): Promise<'again' | 'idle'> {
    let at = await store.take(sql, holder, HELD_SECONDS);
    for (let batches = 0; at && !stopping; batches += 1) {
      if (batches === RUN) return 'again';
      at = await sendOne(at);
    }
    await forgetDeparted(sql);
    return 'idle';
  }

  return {
    begin: () => store.begin(sql),
    /** @throws what the receiver, or the way to it, says; it is noted */
    async run(): Promise<'again' | 'soon' | 'idle'> {
      if (now().getTime() < notBefore) return 'soon';
      if (!(await store.waiting(sql))) return 'idle';
      try {
        return await sendAll();
      } catch (error) {
        if (error instanceof NotTaken) notBefore = now().getTime() + error.retryAfterMs;
        const words = error instanceof Error ? error.message : 'failed';
        await store.failed(sql, holder, words.slice(0, MAX_ERROR_LENGTH));
        throw error;
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
  };
}
