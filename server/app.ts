// The composition root: what a start needs is built once, in dependency order: tokens, keys, settings, metrics, and the routes of
// these. The rest is later.ts, which is loaded when it is first asked for. It decides nothing; rules are the features'.
// Design "Composition root". Specification: all of it.
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { createAudit } from './audit.ts';
import { bootstrapOptions, watched } from './config.ts';
import { eventTypes } from './contract/events.ts';
import { MASTER } from './contract/realms.ts';
import { createDpopNonces } from './crypto/dpop-nonce.ts';
import { createPasswords } from './crypto/passwords.ts';
import type { Argon2Parameters } from './crypto/phc.ts';
import { type Changes, listenForChanges } from './db/changes.ts';
import { createDpop } from './domain/dpop.ts';
import { createRateLimit } from './domain/rate-limit.ts';
import { createSubjects } from './domain/subjects.ts';
import { createDenials } from './events/denials.ts';
import { createMetrics } from './events/metrics.ts';
import { keepChanges } from './features/authentication/new-device/store.ts';
import { createClientActivity } from './features/configuration/clients/activity.ts';
import { createClientViews } from './features/configuration/clients/view.ts';
import { createTokens } from './features/configuration/issued-tokens/service.ts';
import type { GenerateKeyPair } from './features/configuration/keys/generate.ts';
import { createKeys } from './features/configuration/keys/service.ts';
import { messageTerms } from './features/configuration/messaging/message-job.ts';
import type { ResolveTxt } from './features/configuration/organizations/service.ts';
import { createRealms } from './features/configuration/realms/service.ts';
import { hasMetadataAddresses, metadataTerms } from './features/configuration/saml-clients/refresh-job.ts';
import { createSettings } from './features/configuration/settings/service.ts';
import { deliveryJob } from './features/configuration/webhooks/delivery.ts';
import type { Recovery } from './features/operations/bootstrap/recovery.ts';
import type { Bootstrapped } from './features/operations/bootstrap/service.ts';
import { createSettled } from './features/operations/bootstrap/settled.ts';
import { components } from './features/operations/monitoring/components.ts';
import { actuatorRoutes, countRequests } from './features/operations/monitoring/routes.ts';
import { createMonitoring } from './features/operations/monitoring/service.ts';
import { dueTerms, hasTargets, provisioningTerms } from './features/operations/scim/provision-jobs.ts';
import { agentReviews } from './features/people/agents/reviews.ts';
import { hasSyncs, scheduleTerms, syncTerms } from './features/people/user-federation/sync-jobs.ts';
import { createBodyTime } from './http/body-time.ts';
import { trackConnections } from './http/connections.ts';
import { type HttpOptions, openHttp } from './http/fastify.ts';
import { onDemand } from './http/on-demand.ts';
import { type ApiDocumentation, describeRoutes } from './http/openapi.ts';
import { adminAudience } from './http/own-addresses.ts';
import { answerReady } from './http/ready.ts';
import { createInfrastructure, type InfrastructureDeps } from './infrastructure.ts';
import { janitor } from './jobs/janitor.ts';
import type { Terms } from './jobs/job.ts';
import { lazyJob as laterJob } from './jobs/later.ts';
import { createProtocol } from './protocol.ts';
import { once } from './schedule/once.ts';

export const VERSION = '0.1.0';

/** Everything impure comes from outside: tests give a fixed clock or another outbound guard. */
export interface AppOptions extends InfrastructureDeps {
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

export interface App {
  http: FastifyInstance;
  /** The application behind it that has the pages and the interfaces which a start does without; this loads it. */
  later(): Promise<FastifyInstance>;
  api: ApiDocumentation;
  /** Seeds what is missing (master, its administrator) and begins to listen for changes; then it can serve. */
  start(): Promise<Pick<Bootstrapped, 'administrator' | 'first'>>;
  /** Without a start: gives master an administrator again. */
  recoverAdministrator: Recovery;
  /** Starts the job queue, which no request waits for. */
  work(): Promise<void>;
  /** Readiness off, requests finished, jobs handed back, connections closed. */
  stop(): Promise<void>;
}

/** A name server that doesn't answer delays a request for seconds, no longer. */
const systemResolveTxt: ResolveTxt = (name) => new Resolver({ timeout: 2_000, tries: 2 }).resolveTxt(name);

export async function buildApp({
  retryDelaysSeconds,
  generateKeyPair: generate,
  passwordCost,
  resolveTxt,
  bodyMs,
  failureMs,
  soonMs,
  ...given
}: AppOptions): Promise<App> {
  const { config, pool, databaseUrl, log, now, newId } = given;
  const { baseUrl } = config;
  const infrastructure = createInfrastructure(given);
  const { sql, transact, seal, bus, queue, enqueueDeliveries, outbound } = infrastructure;

  /** What most of them need. */
  const shared = { ...infrastructure, enqueue: queue.enqueue, baseUrl, now, newId };
  const warn = (message: string): void => log.warn(message);

  // What each feature keeps in process is dropped when a realm changes, here or in another replica.
  const caches: { drop(realm: string | undefined): void }[] = [infrastructure.outbox];
  const changed = (realm: string | undefined) => {
    for (const cache of caches) cache.drop(realm);
  };
  bus.on(({ type, realm }) => {
    if (eventTypes[type].configuration || type === 'ADMIN_GRANT_CHANGED') changed(realm);
  });

  const audit = createAudit({ config, sql, transact, seal, bus, log, now, newId, soonMs });
  const settings = createSettings({ sql, transact, baseUrl, now });
  const keys = createKeys({ sql, transact, seal, now, newId, generate });
  const subjects = createSubjects({ sql, seal, settings, now });
  const attempts = createRateLimit({ now });
  const passwords = createPasswords({ threads: config.SVC_PASSWORD_THREADS, parameters: passwordCost });
  const denied = createDenials({ transact, realmExists: (realm) => realms.exists(realm) });
  const realms = createRealms({
    ...shared,
    seeds: async () => (await later.get()).seeds,
    denied,
    gone: changed,
  });
  const metrics = createMetrics({
    histogram: config.SVC_HTTP_HISTOGRAM,
    realmExists: realms.exists,
    existing: realms.existing,
    forwarding: audit.status,
  });
  bus.on(metrics.count);
  const clientActivity = createClientActivity({ sql, bus, log, now });
  const monitoring = createMonitoring({
    sql,
    now,
    metrics,
    components: components({ sql, now, ...watched(config) }),
    build: { name: 'realmkeeper', version: VERSION },
    eventRetentionDays: config.SVC_EVENT_RETENTION_DAYS,
    forwarding: () => audit.status(),
    denied,
  });
  const nonces = createDpopNonces({ keyring: given.masterKey, now });
  const dpop = createDpop({ sql, nonces, baseUrl, now });
  const clients = createClientViews({ sql, now });
  const tokens = createTokens({ keys, settings, clients, sql, dpop, now });
  const protocol = createProtocol({
    ...shared,
    passwords,
    settings,
    keys,
    clients,
    tokens,
    dpop,
    subjects,
    metrics,
    realmExists: realms.exists,
    deliveries: { enqueue: queue.enqueue, ...(retryDelaysSeconds && { retryDelaysSeconds }) },
    exchangesAMinute: config.SVC_WORKLOAD_RATE_LIMIT,
    failureMs,
    proven: async () => (await later.get()).people,
    uma: async () => (await later.get()).protocol.uma,
    log,
  });

  const ready = answerReady(protocol.ready, metrics.request);
  const listener: Omit<HttpOptions, 'requests' | 'ready'> = {
    log,
    trustProxy: config.SVC_TRUST_PROXY ?? false,
    otherAddresses: config.SVC_OTHER_ADDRESSES,
    bodyTime: createBodyTime(bodyMs),
  };
  /** The parts that a start doesn't need. */
  const later = once(async () => {
    const { createLater } = await import('./later.ts');
    return createLater({
      ...shared,
      config,
      log,
      settings,
      keys,
      subjects,
      passwords,
      attempts,
      metrics,
      denied,
      realms,
      dpop,
      clients,
      tokens,
      protocol,
      listener,
      generate,
      retryDelaysSeconds,
    });
  });
  caches.push(settings, keys, subjects, realms, protocol, { drop: (realm) => later.made?.drop(realm) });

  const jobLater = <Payload>(terms: Terms<Payload>, isDue?: () => Promise<boolean>) =>
    laterJob(terms, async () => (await later.get()).job(terms.name), isDue);
  queue.takes([
    jobLater(messageTerms),
    deliveryJob({
      ...shared,
      gaveUp: metrics.deadLetter,
      ...(retryDelaysSeconds && { retryDelaysSeconds }),
    }),
    ...protocol.jobs,
    jobLater(provisioningTerms),
    jobLater(dueTerms, () => hasTargets(sql)),
    jobLater(syncTerms),
    jobLater(scheduleTerms, () => hasSyncs(sql)),
    agentReviews({ ...shared, send: async (...message) => (await later.get()).messaging.send(...message) }),
    jobLater(metadataTerms, () => hasMetadataAddresses(sql)),
    janitor({
      ...shared,
      keep: keepChanges,
      eventRetentionDays: config.SVC_EVENT_RETENTION_DAYS,
      forwarding: audit.forwarding,
    }),
  ]);

  const http = await openHttp({ ...listener, requests: 'req', ready });
  const admin = onDemand(http, ['/admin'], async () => {
    const [{ createAdminApi }, rest] = await Promise.all([import('./admin-api.ts'), later.get()]);
    return createAdminApi({
      ...shared,
      ...rest,
      config,
      pool,
      databaseUrl,
      log,
      realms,
      settings,
      keys,
      passwords,
      metrics,
      monitoring,
      denied,
      enqueue: enqueueDeliveries,
      resolveTxt: resolveTxt ?? systemResolveTxt,
      listener,
    });
  });
  const laterSurface = onDemand(http, ['/realms', '/assets'], async () => (await later.get()).surface());
  countRequests(http, metrics.request);
  const api = describeRoutes(http, {
    baseUrl,
    version: VERSION,
    more: async () => [...(await laterSurface.surface()).routes, ...(await admin.surface()).routes],
  });
  // the address without a path, which people type first
  http.get('/', { schema: { hide: true } }, async (_, reply) => reply.redirect('/admin/login'));
  await http.register(async (anonymous) => {
    actuatorRoutes(anonymous, { monitoring, metricsType: metrics.contentType });
  });
  await protocol.mount(http);
  const connections = trackConnections(http.server);
  let changes: Promise<Changes> | undefined;
  /** @throws in one sentence where the master key is a wrong one, before anything is written under it */
  const readKeys = () =>
    keys.published(MASTER).catch((cause: Error) => {
      throw new Error(`The keys of ${MASTER} can't be read: ${cause.message}`, { cause });
    });
  const settle = createSettled({ sql, passwords, adminAudience: adminAudience(baseUrl) });
  return {
    http,
    later: async () => (await laterSurface.surface()).app,
    api,
    async start() {
      changes = listenForChanges({ url: databaseUrl, changed, log: (m, err) => log.warn({ err }, m) });
      await Promise.all([changes, readKeys(), http.ready()]);
      keys.drop(MASTER);
      await audit.prepare();
      const options = bootstrapOptions(config);
      const { username } = options.administrator;
      if (await settle(options)) return { administrator: { username, password: undefined }, first: false };
      const { bootstrap } = await later.get();
      const { warnings, ...started } = await bootstrap.run(options);
      for (const warning of warnings) warn(warning);
      return started;
    },
    async recoverAdministrator(...wanted) {
      const recover = await (await later.get()).recovery(readKeys);
      return recover(...wanted);
    },
    async work() {
      audit.start();
      clientActivity.start();
      await queue.start();
    },
    async stop() {
      monitoring.drain();
      connections.drain();
      // Balancers hear of it by the readiness probe, and meanwhile requests are still served.
      if (config.SVC_DRAIN_SECONDS > 0) await sleep(config.SVC_DRAIN_SECONDS * 1000);
      await connections.during(() => http.close());
      await Promise.all([admin.close(), laterSurface.close()]);
      await protocol.stop();
      await Promise.all([queue.stop(), audit.stop(), clientActivity.stop()]);
      (await later.settled())?.close();
      await outbound.close();
      await (await changes?.catch(() => undefined))?.stop();
      await passwords.stop();
    },
  };
}
