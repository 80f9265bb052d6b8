// The composition root's part for what every feature needs: access to PostgreSQL, sealing, events, the job queue, and
// requests to elsewhere. It decides nothing. Design "Composition root".
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Config, clusterOf } from './config.ts';
import { createSeal } from './crypto/seal.ts';
import { createTokenSeal } from './crypto/token-seal.ts';
import { batchedReadsOver } from './db/batched-reads.ts';
import { realmSqlOver } from './db/realm-share.ts';
import { type Sql, sqlOver } from './db/sql.ts';
import { createTransact } from './db/transact.ts';
import { lastAdministratorStays } from './domain/administrators.ts';
import { createBus } from './events/bus.ts';
import { createOutbox } from './events/outbox.ts';
import { webhookConsumer } from './features/configuration/webhooks/consumer.ts';
import { DELIVERY_JOB, type DeliveryJob } from './features/configuration/webhooks/delivery.ts';
import { provisioningConsumer } from './features/operations/scim/provision-jobs.ts';
import { backChannelConsumer } from './features/protocol/logout/back-channel.ts';
import { createOutbound } from './http/outbound.ts';
import { createQueue } from './jobs/queue.ts';
import { createBulkhead } from './schedule/bulkhead.ts';

export interface InfrastructureDeps {
  config: Config;
  pool: pg.Pool;
  databaseUrl: string;
  masterKey: readonly Buffer[];
  log: Logger;
  /** Outside production: a write that recorded no event fails. */
  strict: boolean;
  now: () => Date;
  newId: () => string;
}

export function createInfrastructure({
  config,
  pool,
  databaseUrl,
  masterKey,
  log,
  strict,
  now,
  newId,
}: InfrastructureDeps) {
  const sql = sqlOver(pool);
  const bulkhead = createBulkhead({ most: pool.options.max });
  const bus = createBus({ failed: (err) => log.error({ err }, 'a listener failed') });
  const queue = createQueue({ url: databaseUrl, log: (message, err) => log.warn({ err }, message) });
  const enqueueDeliveries = (on: Sql, deliveries: readonly DeliveryJob[]) =>
    queue.enqueue(on, DELIVERY_JOB, deliveries);
  const outbox = createOutbox({
    now,
    newId,
    consumers: [webhookConsumer, backChannelConsumer, provisioningConsumer],
    enqueue: queue.enqueue,
  });
  return {
    sql,
    batchedReads: batchedReadsOver(pool),
    realmSql: realmSqlOver(bulkhead, pool, sql),
    outbox,
    transact: createTransact({
      ...{ pool, bulkhead, outbox, strict },
      safeguard: lastAdministratorStays,
      committed: bus.emit,
    }),
    seal: createSeal(masterKey),
    signInSeal: createTokenSeal(masterKey, 'sign-in'),
    bus,
    queue,
    /** For webhooks. */
    enqueueDeliveries,
    outbound: createOutbound({
      allow: config.SVC_OUTBOUND_ALLOW,
      caFile: config.SVC_OUTBOUND_CA_FILE,
      cluster: clusterOf(config),
      log: (message) => log.info({ outbound: message }, 'an outbound request failed'),
    }),
  };
}
