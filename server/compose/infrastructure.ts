// The composition root's part that every feature needs: access to PostgreSQL, encryption, events, the job queue,
// outgoing requests, the names of realms. It decides nothing. Design "Composition root".
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Config, clusterOf } from '../config.ts';
import { staleOf } from '../config-database.ts';
import { eventTypes } from '../contract/events.ts';
import type { Keyring } from '../crypto/keyring.ts';
import { createPasswords, type Passwords } from '../crypto/passwords.ts';
import { createSeal } from '../crypto/seal.ts';
import { createTokenSeal } from '../crypto/token-seal.ts';
import type { Custody } from '../custody/custody.ts';
import { batchedReadsOver } from '../db/batched-reads.ts';
import { tellAccessEnds } from '../db/changes.ts';
import { realmSqlOver } from '../db/realm-share.ts';
import { type Sql, sqlOver } from '../db/sql.ts';
import { createTransact } from '../db/transact.ts';
import { accessEnds } from '../domain/access-ends.ts';
import { lastAdministratorStays } from '../domain/administrators.ts';
import { createBus } from '../events/bus.ts';
import { createOutbox } from '../events/outbox.ts';
import type { GenerateKeyPair } from '../features/configuration/keys/generate.ts';
import type { ResolveTxt } from '../features/configuration/organizations/service.ts';
import { createRealmNames } from '../features/configuration/realms/names.ts';
import { webhookConsumer } from '../features/configuration/webhooks/consumer.ts';
import { DELIVERY_JOB, type DeliveryJob } from '../features/configuration/webhooks/delivery.ts';
import { provisioningConsumer } from '../features/operations/scim/provision-jobs.ts';
import { createKeptAnswers } from '../features/protocol/introspect/kept-answers.ts';
import { backChannelConsumer } from '../features/protocol/logout/back-channel.ts';
import { signalConsumer, signalUseConsumer } from '../features/protocol/ssf/consumer.ts';
import { createOutbound } from '../http/outbound.ts';
import { createQueue } from '../jobs/queue.ts';
import { createBulkhead } from '../schedule/bulkhead.ts';

/** Everything impure is an argument: tests pass a fixed clock or another outbound guard. */
export interface AppOptions {
  config: Config;
  pool: pg.Pool;
  /** Of the database itself, also where the pool's connections go through a pooler. */
  databaseUrl: string;
  /** The keys that seal what is stored. */
  masterKey: Keyring | readonly Buffer[];
  /** Holds the keys that wrap the keyring's; absent: the keyring is configured itself. */
  custody?: Custody | undefined;
  log: Logger;
  /** Outside production: a write without an event fails. */
  strict: boolean;
  now: () => Date;
  newId: () => string;
  /** The delays between tries of a webhook delivery or a message; absent: the usual ones. */
  retryDelaysSeconds?: readonly number[];
  /** The source of realms' signing keys; absent: a generator. */
  generateKeyPair?: GenerateKeyPair;
  /** Hashes and checks passwords; absent: in threads of the server's own, at the usual cost. */
  passwords?: Passwords;
  /** Looks up DNS records of domains; absent: by the system's DNS servers. */
  resolveTxt?: ResolveTxt;
  /** The time limit for an anonymous request's body, and for pauses in an administrator's; absent: the usual one. */
  bodyMs?: number;
  /** How long a failed exchange of a workload's token takes, instead of two seconds. */
  failureMs?: number;
  /** How soon the server seals and forwards an event, instead of a second. Its pauses after failures are multiples of this. */
  soonMs?: number;
}

export function createInfrastructure(given: AppOptions) {
  const { config, pool, databaseUrl, masterKey, log, strict, now, newId } = given;
  const sql = sqlOver(pool);
  const staleMs = staleOf(config).answersMs;
  const keptAnswers = createKeptAnswers({ ms: staleMs, now });
  const bulkhead = createBulkhead({ most: pool.options.max });
  const bus = createBus({ failed: (err) => log.error({ err }, 'a listener failed') });
  const queue = createQueue({ url: databaseUrl, log: (message, err) => log.warn({ err }, message) });
  const { enqueue } = queue;
  const outbox = createOutbox({
    now,
    newId,
    consumers: [webhookConsumer, backChannelConsumer, provisioningConsumer, signalConsumer, signalUseConsumer],
    enqueue,
  });
  const transact = createTransact({
    pool,
    bulkhead,
    outbox,
    strict,
    safeguard: lastAdministratorStays,
    tell: staleMs > 0 ? (events) => tellAccessEnds(accessEnds(events)) : undefined,
    committed: bus.emit,
  });
  const names = createRealmNames({ sql, now });

  // Caches that drop a realm's values when the realm changes, here or in another replica.
  const caches: { drop(realm: string | undefined): void }[] = [outbox, names, keptAnswers];
  const changed = (realm: string | undefined) => {
    for (const cache of caches) cache.drop(realm);
  };
  bus.on(({ type, realm }) => {
    if (eventTypes[type].configuration || type === 'ADMIN_GRANT_CHANGED') changed(realm);
  });
  if (staleMs > 0)
    bus.on((event) => {
      for (const { realm, userId } of accessEnds([event])) keptAnswers.drop(realm, userId);
    });
  return {
    ...given,
    /** How old an answer may be while the database is away. */
    staleMs,
    keptAnswers,
    /** Another replica ended access; undefined: nothing is kept. */
    ended: staleMs > 0 ? keptAnswers.drop : undefined,
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
    passwords: given.passwords ?? createPasswords({ threads: config.SVC_PASSWORD_THREADS }),
    realmExists: names.exists,
    existingRealms: names.existing,
    /** Each part adds its caches of realms. */
    caches,
    changed,
  };
}
export type Infrastructure = ReturnType<typeof createInfrastructure>;
