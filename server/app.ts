// The composition root: every service is built once, in dependency order, and every route is mounted.
// It decides nothing; rules are the features'. Design "Composition root". Specification: all of it.
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { createAccountApi } from './account-api.ts';
import { createAudit } from './audit.ts';
import { bootstrapOptions, watched } from './config.ts';
import { eventTypes } from './contract/events.ts';
import { MASTER } from './contract/realms.ts';
import { createDpopNonces } from './crypto/dpop-nonce.ts';
import type { Argon2Parameters } from './crypto/phc.ts';
import { type Changes, listenForChanges } from './db/changes.ts';
import { createDpop } from './domain/dpop.ts';
import { createRateLimit } from './domain/rate-limit.ts';
import { createSubjects } from './domain/subjects.ts';
import { createDenials } from './events/denials.ts';
import { createMetrics } from './events/metrics.ts';
import { keepChanges } from './features/authentication/new-device/store.ts';
import { seedClientScopes } from './features/configuration/client-scopes/seed.ts';
import { createClientActivity } from './features/configuration/clients/activity.ts';
import { createClientViews } from './features/configuration/clients/view.ts';
import { seedFlows } from './features/configuration/flows/seed.ts';
import { createTokens } from './features/configuration/issued-tokens/service.ts';
import type { GenerateKeyPair } from './features/configuration/keys/generate.ts';
import { seedKeys } from './features/configuration/keys/seed.ts';
import { createKeys } from './features/configuration/keys/service.ts';
import {
  refreshMessageTemplates,
  seedMessageTemplates,
} from './features/configuration/messaging/built-in-templates.ts';
import type { ResolveTxt } from './features/configuration/organizations/service.ts';
import { createRealms } from './features/configuration/realms/service.ts';
import { samlMetadataRefresh } from './features/configuration/saml-clients/refresh.ts';
import { createSettings } from './features/configuration/settings/service.ts';
import { deliveryJob } from './features/configuration/webhooks/delivery.ts';
import { adminArrival } from './features/operations/admin-access/arrival.ts';
import { refreshAdminRoles, seedAdminRoles } from './features/operations/admin-access/seed.ts';
import { createAccess } from './features/operations/admin-access/service.ts';
import { createAdminSignIn } from './features/operations/admin-access/sign-in.ts';
import type { Recovery } from './features/operations/bootstrap/recovery.ts';
import { type Bootstrapped, createBootstrap } from './features/operations/bootstrap/service.ts';
import { components } from './features/operations/monitoring/components.ts';
import { actuatorRoutes, countRequests } from './features/operations/monitoring/routes.ts';
import { createMonitoring } from './features/operations/monitoring/service.ts';
import { agentReviews } from './features/people/agents/reviews.ts';
import { createBreaches } from './features/people/credentials/breaches.ts';
import { createFederation } from './federation.ts';
import { createBodyTime } from './http/body-time.ts';
import { trackConnections } from './http/connections.ts';
import { type HttpOptions, openHttp } from './http/fastify.ts';
import { onDemand } from './http/on-demand.ts';
import { type ApiDocumentation, describeRoutes } from './http/openapi.ts';
import { answerReady } from './http/ready.ts';
import { createInfrastructure, type InfrastructureDeps } from './infrastructure.ts';
import { janitor } from './jobs/janitor.ts';
import { createMessaging } from './messaging.ts';
import { createPeople } from './people.ts';
import { createProtocol } from './protocol.ts';
import { createResources } from './resources.ts';
import { createScim } from './scim.ts';
import { createSelfMadeClients } from './self-made-clients.ts';

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
}

export interface App {
  http: FastifyInstance;
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

  const audit = createAudit({ config, sql, transact, seal, bus, log, now, newId });
  const settings = createSettings({ sql, transact, baseUrl, now });
  const keys = createKeys({ sql, transact, seal, now, newId, generate });
  const subjects = createSubjects({ sql, seal, settings, now });
  const attempts = createRateLimit({ now });
  const messaging = createMessaging({
    ...shared,
    settings,
    retryDelaysSeconds,
    tried: (...of) => metrics.message(...of),
    warn,
  });
  const federation = createFederation({
    ...shared,
    passwords: () => people.passwords,
    passwordsChanged: (...told) => people.credentials.passwordsChanged(...told),
    log: warn,
  });
  const people = createPeople({
    ...shared,
    settings,
    send: messaging.send,
    notify: messaging.notify,
    sends: messaging.sends,
    pushTokens: messaging.pushTokens,
    keys,
    log: warn,
    environment: config.documentEnvironment,
    registration: config.USER_REGISTRATION_ENABLED,
    attempts,
    breached: createBreaches({ outbound, url: config.SVC_BREACHED_PASSWORDS_URL, log: warn }),
    locationHeaders: config.SVC_LOCATION_HEADERS,
    elsewhere: federation.source,
    wrongCode: (realm) => metrics.wrongCode(realm),
    threads: config.SVC_PASSWORD_THREADS,
    passwordCost,
  });
  const { passwords, credentials, registry, sessions, signIns } = people;
  const resources = createResources({ seal, passwords, baseUrl, now });
  const denied = createDenials({ transact, realmExists: (realm) => realms.exists(realm) });
  const realms = createRealms({
    ...shared,
    seeds: [
      seedKeys({ seal, now, newId, generate }),
      seedFlows({ newId, registry }),
      seedClientScopes({ claims: resources.claims, scopes: resources.clientScopes, newId }),
      seedAdminRoles,
      seedMessageTemplates,
    ],
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
  const adminSignIn = createAdminSignIn({
    ...shared,
    credentials,
    signIns,
    risk: people.risk,
    newDevices: people.newDevices,
    factors: people.factors,
    settings,
    attempts,
  });
  const nonces = createDpopNonces({ keyring: given.masterKey, now });
  const dpop = createDpop({ sql, nonces, baseUrl, now });
  const clients = createClientViews({ sql, now });
  const tokens = createTokens({ keys, settings, clients, sql, dpop, now });
  const access = createAccess({ sql, baseUrl, tokens, subjects, settings, factors: people.factors, signIns, now });
  caches.push(settings, messaging, keys, subjects, realms, people, federation);
  const bootstrap = createBootstrap({
    ...shared,
    seedInto: realms.seedInto,
    refresh: [refreshAdminRoles, refreshMessageTemplates],
    access,
    clients: resources.clients,
    identities: resources.workloadIdentity,
    passwords,
    newPasswordFaults: credentials.newPasswordFaults,
    setPassword: credentials.setPassword,
  });

  const selfMade = createSelfMadeClients({ ...shared, resources, settings });
  const protocol = createProtocol({
    ...shared,
    documents: selfMade.documents,
    send: messaging.send,
    registry,
    factors: people.factors,
    languages: people.languages,
    passwords,
    settings,
    keys,
    clients,
    tokens,
    dpop,
    subjects,
    sessions,
    signIns,
    upstreamLogout: people.upstreamLogout,
    metrics,
    realmExists: realms.exists,
    deliveries: { enqueue: queue.enqueue, ...(retryDelaysSeconds && { retryDelaysSeconds }) },
    exchangesAMinute: config.SVC_WORKLOAD_RATE_LIMIT,
    log,
  });
  caches.push(protocol);

  const account = createAccountApi({
    ...shared,
    access,
    tokens,
    subjects,
    sessions,
    settings,
    messaging,
    sharing: protocol.sharing,
    mountProviderTokens: people.mountProviderTokens,
    own: people.own,
    realmExists: realms.exists,
  });
  const scim = createScim({
    ...shared,
    access,
    passwords,
    credentials,
    resources,
    account,
    realmExists: realms.exists,
    denied,
    log,
  });
  queue.takes([
    messaging.job,
    deliveryJob({
      ...shared,
      gaveUp: metrics.deadLetter,
      ...(retryDelaysSeconds && { retryDelaysSeconds }),
    }),
    ...protocol.jobs,
    ...scim.jobs,
    ...federation.jobs,
    agentReviews({ ...shared, send: messaging.send }),
    samlMetadataRefresh({ ...shared, of: resources.samlClients, log }),
    janitor({
      ...shared,
      keep: keepChanges,
      eventRetentionDays: config.SVC_EVENT_RETENTION_DAYS,
      forwarding: audit.forwarding,
    }),
  ]);

  const ready = answerReady(protocol.ready, metrics.request);
  const listener: Omit<HttpOptions, 'requests' | 'ready'> = {
    log,
    trustProxy: config.SVC_TRUST_PROXY ?? false,
    otherAddresses: config.SVC_OTHER_ADDRESSES,
    bodyTime: createBodyTime(bodyMs),
  };
  const http = await openHttp({ ...listener, requests: 'req', ready });
  const admin = await onDemand(http, '/admin', async () => {
    const { createAdminApi } = await import('./admin-api.ts');
    return createAdminApi({
      ...shared,
      config,
      pool,
      databaseUrl,
      log,
      realms,
      resources,
      settings,
      keys,
      people,
      gdpr: account.gdpr,
      access,
      adminSignIn,
      messaging,
      federation,
      metrics,
      monitoring,
      denied,
      enqueue: enqueueDeliveries,
      resolveTxt: resolveTxt ?? systemResolveTxt,
      listener,
    });
  });
  countRequests(http, metrics.request);
  const api = describeRoutes(http, { baseUrl, version: VERSION, more: async () => (await admin.surface()).routes });
  // the address without a path, which people type first
  http.get('/', { schema: { hide: true } }, async (_, reply) => reply.redirect('/admin/login'));
  await http.register(async (anonymous) => {
    actuatorRoutes(anonymous, { monitoring, metricsType: metrics.contentType });
  });
  await http.register(async (pages) => {
    people.mountPages(pages, { ...protocol, gdpr: account.gdpr, access });
    adminArrival(pages, { ...people, signIn: adminSignIn, settings, transact, baseUrl });
  });

  await http.register(async (app) => account.mount(app));
  await http.register(async (app) => people.mountDevices(app, { realmExists: realms.exists, tokens, subjects }));
  await http.register(async (app) => scim.mount(app));
  await http.register(async (app) => selfMade.mount(app, { realmExists: realms.exists }));
  await protocol.mount(http);
  const connections = trackConnections(http.server);
  let changes: Promise<Changes> | undefined;
  /** @throws in one sentence where the master key is a wrong one, before anything is written under it */
  const readKeys = () =>
    keys.published(MASTER).catch((cause: Error) => {
      throw new Error(`The keys of ${MASTER} can't be read: ${cause.message}`, { cause });
    });
  return {
    http,
    api,
    async start() {
      changes = listenForChanges({ url: databaseUrl, changed, log: (m, err) => log.warn({ err }, m) });
      await Promise.all([changes, readKeys(), http.ready()]);
      keys.drop(MASTER);
      await audit.prepare();
      const { warnings, ...started } = await bootstrap.run(bootstrapOptions(config));
      for (const warning of warnings) warn(warning);
      return started;
    },
    async recoverAdministrator(...wanted) {
      // of its own program alone: no start of a server loads it
      const { createRecovery } = await import('./features/operations/bootstrap/recovery.ts');
      const recover = createRecovery({
        ...shared,
        ...{ access, passwords, credentials, readKeys },
        keeperOf: (...of) => federation.source.keeperOf(...of),
        registry,
      });
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
      await admin.close();
      await protocol.stop();
      await Promise.all([queue.stop(), audit.stop(), clientActivity.stop()]);
      messaging.close();
      await outbound.close();
      await (await changes?.catch(() => undefined))?.stop();
      await passwords.stop();
    },
  };
}
