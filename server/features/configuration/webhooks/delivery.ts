// Sends deliveries: signs the stored bytes, posts them through the outbound guard, schedules the next try. Safe to
// repeat: a try with a stored outcome ends at once. Specification 6.2; decisions "Webhooks".

import { z } from 'zod';
import { HOUR_SECONDS } from '../../../contract/durations.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import { type Job, job } from '../../../jobs/job.ts';
import { createRetries, type Enqueue, JITTER } from '../../../jobs/retries.ts';
import { createConcurrencyLimit } from '../../../schedule/concurrency-limit.ts';
import { webhookSecret } from './secret.ts';
import { signedHeaders } from './signature.ts';
import * as store from './store.ts';

export const DELIVERY_JOB = 'webhook-delivery';

const DeliveryJob = z.object({
  realm: z.string(),
  webhookId: z.uuid(),
  id: z.uuid(),
  /** The number of this try, counted over the delivery's whole life. */
  attempt: z.int().default(1),
  /** The number of tries before an administrator sent the delivery again; the schedule starts again after them. */
  done: z.int().default(0),
});
export type DeliveryJob = z.input<typeof DeliveryJob>;

const MINUTE = 60;
/** Ten tries over a day: 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 3 h, 7 h, 12 h; each up to a fifth shorter or longer. */
export const RETRY_DELAYS: readonly number[] = [
  5,
  30,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR_SECONDS,
  3 * HOUR_SECONDS,
  7 * HOUR_SECONDS,
  12 * HOUR_SECONDS,
];
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_ERROR_LENGTH = 500;
/**
 * The most concurrent sends of a process: a realm whose receivers don't answer leaves most places to others, a receiver
 * most of its realm's.
 */
const PLACES = { all: 20, realm: 8, receiver: 2 };

export interface DeliveryDeps {
  sql: Sql;
  realmSql: RealmSql;
  seal: Seal;
  outbound: Pick<Outbound, 'fetch'>;
  now(): Date;
  enqueue: Enqueue;
  retryDelaysSeconds?: readonly number[];
  /** How long a receiver may take to answer. */
  timeoutMs?: number;
  /** Returns a number from 0 to 1, for the jitter. */
  random?(): number;
  /** Called for each delivery that its receiver never accepted. */
  gaveUp?(realm: string): void;
  /** Called for each stored outcome of a try. */
  tried?(realm: string, status: store.Outcome['status']): void;
}

export function deliveryJob({
  sql,
  realmSql,
  seal,
  outbound,
  now,
  enqueue,
  retryDelaysSeconds = RETRY_DELAYS,
  timeoutMs = TIMEOUT_MS,
  random = Math.random,
  gaveUp,
  tried,
}: DeliveryDeps): Job {
  async function send(realm: string, id: string, delivery: store.Sendable) {
    const body = Buffer.from(delivery.body);
    const secret = delivery.secret && webhookSecret(seal).open(delivery.secret, { realm, id: delivery.webhook_id });
    const headers = signedHeaders({
      secret: secret ?? undefined,
      deliveryId: id,
      eventType: delivery.event_type,
      at: now(),
      body,
    });
    try {
      const { status } = await outbound.fetch(delivery.url, {
        method: 'POST',
        headers,
        body,
        timeoutMs,
        maxBytes: MAX_ANSWER_BYTES,
        excess: 'cut',
        traced: true,
      });
      return { responseStatus: status, error: errorOf(status) };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return { responseStatus: null, error: error.message.slice(0, MAX_ERROR_LENGTH) };
    }
  }

  const retry = createRetries({ sql, enqueue, job: DELIVERY_JOB, delaysSeconds: retryDelaysSeconds, random });
  const limited = createConcurrencyLimit({ perKey: PLACES.realm, now });

  return job({
    name: DELIVERY_JOB,
    schema: DeliveryJob,
    // An exception here is a fault of this server, for example a lost database connection. No event may be lost by it,
    // so the queue retries for two days.
    maxAttempts: 500,
    // Soon after a send's timeout, so that a killed process's deliveries are sent again.
    expireSeconds: 15,
    concurrency: PLACES.all,
    group: { of: ({ realm, webhookId }) => `${realm}/${webhookId}`, concurrency: PLACES.receiver },
    async run({ realm, webhookId, id, attempt, done }) {
      const delivery = await store.sendableDelivery(sql, realm, id);
      if (!delivery || delivery.attempts >= attempt) return;
      const off = !delivery.enabled && delivery.event_type !== 'WEBHOOK_TEST';
      const outcome = off
        ? { result: { responseStatus: null, error: 'the webhook is disabled' } }
        : await limited(realm, () => send(realm, id, delivery));
      if ('retryAfterSeconds' in outcome) {
        const startAfterSeconds = outcome.retryAfterSeconds * (1 + JITTER * random());
        await enqueue(sql, DELIVERY_JOB, [{ realm, webhookId, id, attempt, done }], { startAfterSeconds });
        return;
      }
      const answer = outcome.result;
      const settled = { ...answer, attempt, at: now() };
      if (answer.error === null) {
        await store.recordOutcome(realmSql(realm), realm, id, { ...settled, status: 'succeeded' });
        tried?.(realm, 'succeeded');
        return;
      }
      const settle = async (status: 'retrying' | 'dead') => {
        await store.recordOutcome(realmSql(realm), realm, id, { ...settled, status });
        tried?.(realm, status);
        if (status === 'dead' && !off) gaveUp?.(realm);
      };
      await retry({ realm, webhookId, id, attempt, done }, settle, { done, final: off });
    },
  });
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? `answered ${status}; redirects are not followed` : `answered ${status}`;
}
