// The composition root's part for administrators: the admin API and its sign-in pages, everything below /admin.
// Loaded when somebody first asks for it (http/on-demand.ts). It decides nothing; rules are the features'. Specification 4.
import type { RouteOptions } from 'fastify';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Passwords } from './crypto/passwords.ts';
import type { Seal } from './crypto/seal.ts';
import type { RealmSql } from './db/realm-share.ts';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import { isReached } from './domain/reach.ts';
import { createReseal } from './domain/reseal.ts';
import type { Metrics } from './events/metrics.ts';
import { invitationRoutes } from './features/authentication/invitations/routes.ts';
import { authorizationServiceRoutes } from './features/configuration/authorization-services/routes.ts';
import { createAuthorizationServices } from './features/configuration/authorization-services/service.ts';
import { clientScopeRoutes } from './features/configuration/client-scopes/routes.ts';
import { clientRoutes } from './features/configuration/clients/routes.ts';
import { createClientSecrets } from './features/configuration/clients/secrets.ts';
import { flowRoutes } from './features/configuration/flows/routes.ts';
import { keyRoutes } from './features/configuration/keys/routes.ts';
import type { Keys } from './features/configuration/keys/service.ts';
import { organizationRoutes } from './features/configuration/organizations/routes.ts';
import { createOrganizations, type ResolveTxt } from './features/configuration/organizations/service.ts';
import { createRealmHealth } from './features/configuration/realms/health.ts';
import { realmRoutes } from './features/configuration/realms/routes.ts';
import type { Realms } from './features/configuration/realms/service.ts';
import { createSamlClientImport } from './features/configuration/saml-clients/import.ts';
import { samlClientImportRoutes } from './features/configuration/saml-clients/routes.ts';
import { settingsRoutes } from './features/configuration/settings/routes.ts';
import type { SettingsService } from './features/configuration/settings/service.ts';
import { subjectClaimRoutes } from './features/configuration/settings/subject-claim.ts';
import { userProfileRoutes } from './features/configuration/user-profile/routes.ts';
import { deliveryRoutes } from './features/configuration/webhooks/routes.ts';
import { createWebhooks, type WebhooksDeps } from './features/configuration/webhooks/service.ts';
import { createAdminGrants } from './features/operations/admin-access/grants.ts';
import { adminLoginPages } from './features/operations/admin-access/pages.ts';
import { adminAccessRoutes } from './features/operations/admin-access/routes.ts';
import type { Access } from './features/operations/admin-access/service.ts';
import type { AdminSignIn } from './features/operations/admin-access/sign-in.ts';
import { type AdminSurface, guardAdmin } from './features/operations/admin-access/surface.ts';
import { eventRoutes } from './features/operations/events/routes.ts';
import { monitoringAdminRoutes } from './features/operations/monitoring/admin-routes.ts';
import { countRequests } from './features/operations/monitoring/routes.ts';
import type { Monitoring } from './features/operations/monitoring/service.ts';
import { scimTargetRoutes } from './features/operations/scim/provision-routes.ts';
import { scimTokenRoutes } from './features/operations/scim/token-routes.ts';
import { createScimTokens } from './features/operations/scim/tokens.ts';
import { agentRoutes } from './features/people/agents/routes.ts';
import { createAgents } from './features/people/agents/service.ts';
import { gdprAdminRoutes } from './features/people/gdpr/routes.ts';
import type { Gdpr } from './features/people/gdpr/service.ts';
import { sessionRoutes } from './features/people/sessions/routes.ts';
import { coverage } from './features/people/users/service.ts';
import { createClientProvisioning } from './features/protocol/registration/provisioning.ts';
import { provisioningRoutes } from './features/protocol/registration/routes.ts';
import type { Federation } from './federation.ts';
import { type HttpOptions, openHttp } from './http/fastify.ts';
import type { Surface } from './http/on-demand.ts';
import type { Outbound } from './http/outbound.ts';
import type { Messaging } from './messaging.ts';
import type { People } from './people.ts';
import { createRealmDocument } from './realm-document.ts';
import { createResourceApi } from './resource/api.ts';
import { mountResources, type Resources } from './resources.ts';
import { sealedColumns } from './sealed-columns.ts';
import { createUserAdministration } from './user-administration.ts';

export interface AdminApiDeps {
  config: Config;
  pool: pg.Pool;
  databaseUrl: string;
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  log: Logger;
  realms: Realms;
  resources: Resources;
  settings: SettingsService;
  keys: Keys;
  people: People;
  passwords: Passwords;
  gdpr: Gdpr;
  access: Access;
  adminSignIn: AdminSignIn;
  messaging: Pick<Messaging, 'mount'>;
  federation: Pick<Federation, 'mount'>;
  metrics: Metrics;
  monitoring: Monitoring;
  denied: AdminSurface['denied'];
  enqueue: WebhooksDeps['enqueue'];
  resolveTxt: ResolveTxt;
  outbound: Pick<Outbound, 'fetch'>;
  /** Of the application that hands requests over. */
  listener: Omit<HttpOptions, 'requests' | 'ready'>;
  now: () => Date;
  newId: () => string;
}

export async function createAdminApi(deps: AdminApiDeps): Promise<Surface> {
  const { config, sql, transact, seal, log, realms, settings, keys, people, access, metrics, denied, now, newId } =
    deps;
  const { baseUrl } = config;
  const signIn = deps.adminSignIn;
  const { credentials, enrolments, registry } = people;
  const { passwords } = deps;
  const realmExists = realms.exists;
  const realmDocument = createRealmDocument({
    sql,
    realmSql: deps.realmSql,
    transact,
    pool: deps.pool,
    databaseUrl: deps.databaseUrl,
    seal,
    credentials,
    registry,
    resources: deps.resources,
    realms,
    documentEnvironment: config.documentEnvironment,
    reservedManagers: config.SVC_RESERVED_MANAGERS,
    denied,
    bulkFailed: (err) => log.info({ err }, 'an import could not be inserted in bulk, and was staged'),
    baseUrl,
    now,
    newId,
  });
  const { sessions } = people;
  const userAdministration = createUserAdministration({
    sql,
    transact,
    access,
    passwords,
    credentials,
    enrolments,
    enrolmentLinks: people.enrolmentLinks,
    settings,
    links: people.links,
    sessions,
    baseUrl,
    now,
    newId,
  });

  const app = await openHttp({ ...deps.listener, requests: 'admin' });
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  countRequests(app, metrics.request);
  await app.register(async (pages) =>
    adminLoginPages(pages, { authenticate: access.authenticate, signIn, realmExists, baseUrl }),
  );
  await app.register(async (admin) => {
    const { authenticate } = access;
    const reaches: AdminSurface['reaches'] = (...asked) => isReached(sql, ...asked);
    guardAdmin(admin, { baseUrl, authenticate, realmExists, reaches, denied, countWrite: metrics.adminWrite });
    const grants = createAdminGrants({ sql, transact, now });
    adminAccessRoutes(admin, { signIn, grants, baseUrl });
    realmRoutes(admin, {
      realms,
      health: createRealmHealth({
        sql,
        keys,
        seal,
        reseal: createReseal({ sql, transact, seal, columns: sealedColumns }),
      }),
      issuer: settings.issuer,
      baseUrl,
    });
    realmDocument.mount(admin);
    settingsRoutes(admin, { settings, sql });
    subjectClaimRoutes(admin, settings);
    userProfileRoutes(admin, { sql, transact, newId });
    provisioningRoutes(admin, createClientProvisioning({ sql, transact, settings, now, newId }));
    scimTargetRoutes(admin, { sql, transact, now });
    scimTokenRoutes(admin, createScimTokens({ sql, realmSql: deps.realmSql, transact, now, newId }));
    keyRoutes(admin, keys);
    flowRoutes(admin, people.flows, sql);
    sessionRoutes(admin, { sessions, offline: people.own.offline, mustCover: coverage(access) });
    eventRoutes(admin, { sql, seal });
    const api = createResourceApi({ sql, transact, parts: realmDocument.parts, newId });
    mountResources(admin, deps.resources, { api, sql });
    const { organizations } = deps.resources;
    const { resolveTxt } = deps;
    invitationRoutes(admin, { invitations: people.invitations, settings, baseUrl });
    deps.federation.mount(admin);
    organizationRoutes(admin, createOrganizations({ sql, transact, api, resource: organizations, resolveTxt, now }));
    deliveryRoutes(admin, createWebhooks({ sql, transact, newId, enqueue: deps.enqueue }));
    clientScopeRoutes(admin, { api, scopes: deps.resources.clientScopes, claims: deps.resources.claims });
    clientRoutes(admin, {
      api,
      clients: deps.resources.clients,
      secrets: createClientSecrets({ transact, clients: deps.resources.clients, passwords, now }),
    });
    agentRoutes(admin, createAgents({ sql, transact, api, of: deps.resources.agents, now }));
    const { samlClients } = deps.resources;
    samlClientImportRoutes(admin, createSamlClientImport({ sql, api, of: samlClients, outbound: deps.outbound, now }));
    deps.messaging.mount(admin);
    const services = createAuthorizationServices({
      sql,
      api,
      clients: deps.resources.clients,
      of: deps.resources.authorizationServices,
      now,
    });
    authorizationServiceRoutes(admin, { services, sql });
    userAdministration.mount(admin);
    gdprAdminRoutes(admin, deps.gdpr);
    monitoringAdminRoutes(admin, deps.monitoring);
  });
  await app.ready();
  return { app, routes };
}
