// The composition root's part for everything that a start does without: people and their pages, resources, messages, directories, SCIM,
// SAML. app.ts loads it with the first request, job or start that needs any of it. It decides nothing; rules are the features'.
// Implements: a start, and a server that only gives tokens, do without it (performance, "start" and "memory").
import type { RouteOptions } from 'fastify';
import type { Logger } from 'pino';
import { createAccountApi } from './account-api.ts';
import type { Config } from './config.ts';
import type { Passwords } from './crypto/passwords.ts';
import type { Dpop } from './domain/dpop.ts';
import { LEVELS } from './domain/factors.ts';
import type { RateLimit } from './domain/rate-limit.ts';
import type { Subjects } from './domain/subjects.ts';
import type { Metrics } from './events/metrics.ts';
import { seedClientScopes } from './features/configuration/client-scopes/seed.ts';
import type { ClientViews } from './features/configuration/clients/view.ts';
import { seedFlows } from './features/configuration/flows/seed.ts';
import type { Tokens } from './features/configuration/issued-tokens/service.ts';
import type { GenerateKeyPair } from './features/configuration/keys/generate.ts';
import { seedKeys } from './features/configuration/keys/seed.ts';
import type { Keys } from './features/configuration/keys/service.ts';
import {
  refreshMessageTemplates,
  seedMessageTemplates,
} from './features/configuration/messaging/built-in-templates.ts';
import type { Realms } from './features/configuration/realms/service.ts';
import { samlMetadataRefresh } from './features/configuration/saml-clients/refresh.ts';
import type { SettingsService } from './features/configuration/settings/service.ts';
import { adminArrival } from './features/operations/admin-access/arrival.ts';
import { refreshAdminRoles, seedAdminRoles } from './features/operations/admin-access/seed.ts';
import { createAccess } from './features/operations/admin-access/service.ts';
import { createAdminSignIn } from './features/operations/admin-access/sign-in.ts';
import type { AdminSurface } from './features/operations/admin-access/surface.ts';
import { createBootstrap } from './features/operations/bootstrap/service.ts';
import { countRequests } from './features/operations/monitoring/routes.ts';
import { createBreaches } from './features/people/credentials/breaches.ts';
import { createFederation } from './federation.ts';
import { type HttpOptions, openHttp } from './http/fastify.ts';
import type { Surface } from './http/on-demand.ts';
import type { createInfrastructure } from './infrastructure.ts';
import { createMessaging } from './messaging.ts';
import { createPeople } from './people.ts';
import type { Protocol } from './protocol.ts';
import { createLaterProtocol } from './protocol-later.ts';
import { createResources } from './resources.ts';
import { createScim } from './scim.ts';
import { createSelfMadeClients } from './self-made-clients.ts';

export interface LaterDeps extends ReturnType<typeof createInfrastructure> {
  config: Config;
  log: Logger;
  settings: SettingsService;
  keys: Keys;
  subjects: Subjects;
  passwords: Passwords;
  attempts: RateLimit;
  metrics: Metrics;
  denied: AdminSurface['denied'];
  realms: Realms;
  dpop: Dpop;
  clients: ClientViews;
  tokens: Tokens;
  protocol: Protocol;
  /** Of the application that hands requests over. */
  listener: Omit<HttpOptions, 'requests' | 'ready'>;
  generate: GenerateKeyPair | undefined;
  retryDelaysSeconds: readonly number[] | undefined;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

export function createLater({ config, log, generate, retryDelaysSeconds, listener, ...given }: LaterDeps) {
  const { sql, transact, seal, outbound, queue, settings, passwords, metrics, realms } = given;
  const { subjects, tokens, baseUrl, now, newId } = given;
  const shared = { ...given, enqueue: queue.enqueue };
  const warn = (message: string): void => log.warn(message);

  const messaging = createMessaging({ ...shared, retryDelaysSeconds, tried: metrics.message, warn });
  const federation = createFederation({
    ...shared,
    passwords: () => passwords,
    passwordsChanged: (...told) => people.credentials.passwordsChanged(...told),
    log: warn,
  });
  const people = createPeople({
    ...shared,
    send: messaging.send,
    notify: messaging.notify,
    sends: messaging.sends,
    pushTokens: messaging.pushTokens,
    log: warn,
    environment: config.documentEnvironment,
    registration: config.USER_REGISTRATION_ENABLED,
    breached: createBreaches({ outbound, url: config.SVC_BREACHED_PASSWORDS_URL, log: warn }),
    locationHeaders: config.SVC_LOCATION_HEADERS,
    elsewhere: federation.source,
    wrongCode: metrics.wrongCode,
  });
  const { credentials, registry, sessions, signIns, factors } = people;
  const levels = new Set(registry.map((entry) => entry.levelOfAssurance).filter((level) => level > 0));
  if ([...levels].sort().join() !== LEVELS.join())
    throw new Error(`LEVELS of domain/factors.ts: ${[...levels].sort()}`);
  const resources = createResources({ seal, passwords, baseUrl, now });
  const adminSignIn = createAdminSignIn({
    ...shared,
    credentials,
    signIns,
    risk: people.risk,
    newDevices: people.newDevices,
    factors,
  });
  const access = createAccess({ sql, baseUrl, tokens, subjects, settings, factors, signIns, now });
  const bootstrap = createBootstrap({
    ...shared,
    seedInto: realms.seedInto,
    refresh: [refreshAdminRoles, refreshMessageTemplates],
    access,
    clients: resources.clients,
    identities: resources.workloadIdentity,
    newPasswordFaults: credentials.newPasswordFaults,
    setPassword: credentials.setPassword,
  });
  const selfMade = createSelfMadeClients({ ...shared, resources });
  const realmExists = realms.exists;
  const protocol = createLaterProtocol({
    ...shared,
    parts: given.protocol.parts,
    documents: selfMade.documents,
    send: messaging.send,
    factors,
    languages: people.languages,
    sessions,
    signIns,
    upstreamLogout: people.upstreamLogout,
    realmExists,
  });
  const account = createAccountApi({
    ...shared,
    access,
    sessions,
    messaging,
    sharing: protocol.sharing,
    mountProviderTokens: people.mountProviderTokens,
    own: people.own,
    realmExists,
  });
  const scim = createScim({ ...shared, access, credentials, resources, account, realmExists, log });
  const jobs = new Map(
    [
      messaging.job,
      ...scim.jobs,
      ...federation.jobs,
      samlMetadataRefresh({ ...shared, of: resources.samlClients, log }),
    ].map((job) => [job.name, job]),
  );
  const caches = [messaging, people, federation, protocol];

  return {
    ...{ messaging, federation, people, resources, adminSignIn, access, bootstrap, protocol },
    gdpr: account.gdpr,

    /** The seeds of a fresh realm, in order. */
    seeds: [
      seedKeys({ seal, now, newId, generate }),
      seedFlows({ newId, registry }),
      seedClientScopes({ claims: resources.claims, scopes: resources.clientScopes, newId }),
      seedAdminRoles,
      seedMessageTemplates,
    ],

    job: (name: string) => jobs.get(name),

    drop(realm: string | undefined): void {
      for (const cache of caches) cache.drop(realm);
    },

    async surface(): Promise<Surface> {
      const app = await openHttp({ ...listener, requests: 'later' });
      const routes: RouteOptions[] = [];
      app.addHook('onRoute', (route) => void routes.push(route));
      countRequests(app, metrics.request);
      await app.register(async (pages) => {
        people.mountPages(pages, { ...protocol, gdpr: account.gdpr, access });
        adminArrival(pages, { ...people, signIn: adminSignIn, settings, transact, baseUrl });
      });
      await app.register(async (part) => account.mount(part));
      await app.register(async (part) => people.mountDevices(part, { realmExists, tokens, subjects }));
      await app.register(async (part) => scim.mount(part));
      await app.register(async (part) => selfMade.mount(part, { realmExists }));
      await protocol.mount(app);
      await app.ready();
      return { app, routes };
    },

    /** Gives master an administrator again; of its own program alone. */
    async recovery(readKeys: () => Promise<unknown>) {
      const { createRecovery } = await import('./features/operations/bootstrap/recovery.ts');
      return createRecovery({
        ...shared,
        ...{ access, credentials, readKeys },
        keeperOf: (...of) => federation.source.keeperOf(...of),
        registry,
      });
    },

    close: messaging.close,
  };
}
export type Later = ReturnType<typeof createLater>;
