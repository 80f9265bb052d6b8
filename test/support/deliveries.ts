// Owns: the parts of the server that deliver webhooks, on a test's database, in this process or in one of their own.
// Does not own: HTTP; the admin API's tests are over the whole server (server.ts).
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bySystem } from '../../server/contract/events.ts';
import type { AnswerOf } from '../../server/contract/kind.ts';
import { type WebhookInput, webhooks as webhookKind } from '../../server/contract/webhooks.ts';
import { newId } from '../../server/crypto/ids.ts';
import { createSeal } from '../../server/crypto/seal.ts';
import { openPool, type Sql, sqlOver } from '../../server/db/sql.ts';
import { createTransact } from '../../server/db/transact.ts';
import type { Principal } from '../../server/domain/principal.ts';
import { createOutbox } from '../../server/events/outbox.ts';
import { webhookConsumer } from '../../server/features/configuration/webhooks/consumer.ts';
import { DELIVERY_JOB, type DeliveryJob, deliveryJob } from '../../server/features/configuration/webhooks/delivery.ts';
import { webhooksResource } from '../../server/features/configuration/webhooks/resource.ts';
import { createWebhooks } from '../../server/features/configuration/webhooks/service.ts';
import { createOutbound, type OutboundOptions } from '../../server/http/outbound.ts';
import { createQueue } from '../../server/jobs/queue.ts';
import { createResourceApi } from '../../server/resource/api.ts';

export interface DeliveriesOptions {
  url: string;
  outbound?: OutboundOptions;
  retryDelaysSeconds?: readonly number[];
  /** Milliseconds within which a receiver must answer. */
  timeoutMs?: number;
  /** After which a sender that says nothing more counts as dead. */
  expireSeconds?: number;
}

/** The author of subscriptions: they show the realm's events. */
const author: Principal = {
  type: 'client',
  id: '',
  name: '',
  realm: 'master',
  permissions: new Map([['*', new Set(['events:read' as const])]]),
  limited: [],
  expiresAt: null,
};

export async function startDeliveries({
  url,
  outbound: reach = {},
  retryDelaysSeconds = [0, 0],
  timeoutMs = 60_000,
  expireSeconds = 30,
}: DeliveriesOptions) {
  const pool = openPool(url);
  const sql = sqlOver(pool);
  const now = () => new Date();
  const seal = createSeal([Buffer.alloc(32, 7)]);
  const outbound = createOutbound(reach);
  const queue = createQueue({ url, log: () => {}, superviseSeconds: 1, graceMs: 500 });
  const enqueue = (on: Sql, deliveries: readonly DeliveryJob[]) => queue.enqueue(on, DELIVERY_JOB, deliveries);
  const transact = createTransact({
    pool,
    outbox: createOutbox({ now, newId, consumers: [webhookConsumer], enqueue: queue.enqueue }),
    committed: () => {},
    strict: true,
  });
  const of = webhooksResource({ seal, now });
  const api = createResourceApi({ sql, transact, parts: [of], newId });
  const caller = { principal: author, by: bySystem, expect: () => {} };
  const subscriptions = {
    create: async (realm: string, input: WebhookInput): Promise<AnswerOf<typeof webhookKind>> =>
      webhookKind.wire.parse(of.toWire(realm, await api.create(of, caller, realm, input))),
    update: (realm: string, id: string, input: WebhookInput) => api.replace(of, caller, realm, { id }, input),
    remove: (realm: string, id: string) => api.remove(of, caller, realm, { id }),
  };
  const webhooks = { ...createWebhooks({ sql, transact, newId, enqueue }), ...subscriptions };
  const givenUp: string[] = [];
  const gaveUp = (realm: string) => void givenUp.push(realm);
  const job = deliveryJob({
    sql,
    realmSql: () => sql,
    seal,
    outbound,
    now,
    enqueue: queue.enqueue,
    retryDelaysSeconds,
    timeoutMs,
    gaveUp,
  });
  queue.takes([{ ...job, expireSeconds }]);
  await queue.start();
  return {
    sql,
    webhooks,
    /** The realms of what was given up, in order. */
    givenUp,
    /** Something happens in a realm, and is committed. */
    happen: (n: number, realm = 'acme') =>
      transact(realm, async ({ record }) => record({ type: 'USER_LOCKED', realm, by: bySystem, data: { n } })),
    async stop() {
      await queue.stop();
      await outbound.close();
      await pool.end();
    },
  };
}
export type Deliveries = Awaited<ReturnType<typeof startDeliveries>>;

/** In a process of its own, which dies with `kill -9` right after it committed `count` events, where that is asked for. */
export function spawnDeliveries(options: DeliveriesOptions, run: { count: number; die: boolean }): ChildProcess {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.send({ options, run });
  return child;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [message] = await once(process, 'message');
  const { options, run } = Object(message);
  const deliveries = await startDeliveries(options);
  await Promise.all(Array.from({ length: run.count }, (_, n) => deliveries.happen(n)));
  if (run.die) process.kill(process.pid, 'SIGKILL');
}
