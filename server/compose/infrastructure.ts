// The composition root's part for what every feature needs: access to PostgreSQL, sealing, events, the job queue, requests to
// elsewhere, which realms there are. It decides nothing. Design "Composition root".
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Config, clusterOf } from '../config.ts';
import { eventTypes } from '../contract/events.ts';
import { createPasswords } from '../crypto/passwords.ts';
import type { Argon2Parameters } from '../crypto/phc.ts';
import { createSeal } from '../crypto/seal.ts';
import { createTokenSeal } from '../crypto/token-seal.ts';
import { batchedReadsOver } from '../db/batched-reads.ts';
import { realmSqlOver } from '../db/realm-share.ts';
import { type Sql, sqlOver } from '../db/sql.ts';
import { createTransact } from '../db/transact.ts';
import { lastAdministratorStays } from '../domain/administrators.ts';
import { createBus } from '../events/bus.ts';
import { createOutbox } from '../events/outbox.ts';
import type { GenerateKeyPair } from '../features/configuration/keys/generate.ts';
import type { ResolveTxt } from '../features/configuration/organizations/service.ts';
import { createRealmNames } from '../features/configuration/realms/names.ts';
import { webhookConsumer } from '../features/configuration/webhooks/consumer.ts';
import { DELIVERY_JOB, type DeliveryJob } from '../features/configuration/webhooks/delivery.ts';
import { provisioningConsumer } from '../features/operations/scim/provision-jobs.ts';
import { backChannelConsumer } from '../features/protocol/logout/back-channel.ts';
import { createOutbound } from '../http/outbound.ts';
import { createQueue } from '../jobs/queue.ts';
import { createBulkhead } from '../schedule/bulkhead.ts';

/** Everything impure comes from outside: tests give a fixed clock or another outbound guard. */
export interface AppOptions {
  config: Config;
  pool: pg.Pool;
  databaseUrl: string;
  masterKey: readonly Buffer[];
  log: Logger;
  /** Outside production: a write that recorded no event fails. */
  strict: boolean;
  now: () => Date;
  newId: () => string;
  /** Between the tries of a webhook delivery or a message, where it isn't the usual day. */
  retryDelaysSeconds?: readonly number[];
  /** Where realms get their signing keys from, if not from a generator. */
  generateKeyPair?: GenerateKeyPair;
  /** What a password's hash costs, where it isn't the usual. */
  passwordCost?: Argon2Parameters;
  /** How domains' records are found, where it isn't the system's name servers. */
  resolveTxt?: ResolveTxt;
  /** How long a stranger's body may take, and an administrator's may bring nothing, where it isn't the usual. */
  bodyMs?: number;
  /** How long a failed exchange of a workload's token takes, instead of two seconds. */
  failureMs?: number;
  /** How soon the server seals and forwards an event, instead of a second. Its pauses after failures are multiples of this. */
  soonMs?: number;
}

export function createInfrastructure(given: AppOptions) {
  const { config, pool, databaseUrl, masterKey, log, strict, now, newId } = given;
  const sql = sqlOver(pool);
  const bulkhead = createBulkhead({ most: pool.options.max });
  const bus = createBus({ failed: (err) => log.error({ err }, 'a listener failed') });
  const queue = createQueue({ url: databaseUrl, log: (message, err) => log.warn({ err }, message) });
  const { enqueue } = queue;
  const outbox = createOutbox({
    now,
    newId,
    consumers: [webhookConsumer, backChannelConsumer, provisioningConsumer],
    enqueue,
  });
  const transact = createTransact({
    pool,
    bulkhead,
    outbox,
    strict,
    safeguard: lastAdministratorStays,
    committed: bus.emit,
  });
  const names = createRealmNames({ sql, now });

  // What each feature keeps in process is dropped when a realm changes, here or in another replica.
  const caches: { drop(realm: string | undefined): void }[] = [outbox, names];
  const changed = (realm: string | undefined) => {
    for (const cache of caches) cache.drop(realm);
  };
  bus.on(({ type, realm }) => {
    if (eventTypes[type].configuration || type === 'ADMIN_GRANT_CHANGED') changed(realm);
  });
  return {
    ...given,
    baseUrl: config.baseUrl,
    warn: (message: string): void => log.warn(message),
    sql,
    batchedReads: batchedReadsOver(pool),
    realmSql: realmSqlOver(bulkhead, pool, sql),
    transact,
    seal: createSeal(masterKey),
    signInSeal: createTokenSeal(masterKey, 'sign-in'),
    bus,
    queue,
    enqueue,
    /** For webhooks. */
    enqueueDeliveries: (on: Sql, deliveries: readonly DeliveryJob[]) => enqueue(on, DELIVERY_JOB, deliveries),
    outbound: createOutbound({
      allow: config.SVC_OUTBOUND_ALLOW,
      caFile: config.SVC_OUTBOUND_CA_FILE,
      cluster: clusterOf(config),
      log: (message) => log.info({ outbound: message }, 'an outbound request failed'),
    }),
    passwords: createPasswords({ threads: config.SVC_PASSWORD_THREADS, parameters: given.passwordCost }),
    realmExists: names.exists,
    existingRealms: names.existing,
    /** Each part adds what it keeps of realms. */
    caches,
    changed,
  };
}
export type Infrastructure = ReturnType<typeof createInfrastructure>;
