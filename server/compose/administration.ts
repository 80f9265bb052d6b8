// The composition root's part for administrators: the admin API and its sign-in pages, everything below /admin. Loaded
// with the first request for it (http/on-demand.ts). It decides nothing; the features have the rules. Specification 4.
import { Resolver } from 'node:dns/promises';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { setUpOf, shownSettings } from '../config.ts';
import { VERSION } from '../contract/version.ts';
import { isReached } from '../domain/reach.ts';
import { createReseal } from '../domain/reseal.ts';
import { identityLinkRoutes } from '../features/authentication/brokering/admin-routes.ts';
import { providerTestRoutes } from '../features/authentication/brokering/provider-test.ts';
import { enrolmentLinkRoutes } from '../features/authentication/enrolment-links/routes.ts';
import { impersonationRoutes } from '../features/authentication/impersonation/routes.ts';
import { createImpersonation } from '../features/authentication/impersonation/service.ts';
import { invitationRoutes } from '../features/authentication/invitations/routes.ts';
import { passwordResetRoutes } from '../features/authentication/recovery/admin-routes.ts';
import { authorizationServiceRoutes } from '../features/configuration/authorization-services/routes.ts';
import { createAuthorizationServices } from '../features/configuration/authorization-services/service.ts';
import { clientScopeRoutes } from '../features/configuration/client-scopes/routes.ts';
import { clientRoutes } from '../features/configuration/clients/routes.ts';
import { createClientSecrets } from '../features/configuration/clients/secrets.ts';
import { flowRoutes } from '../features/configuration/flows/routes.ts';
import { keyRoutes } from '../features/configuration/keys/routes.ts';
import { builtInTextRoutes } from '../features/configuration/message-texts/routes.ts';
import { organizationRoutes } from '../features/configuration/organizations/routes.ts';
import { createOrganizations, type ResolveTxt } from '../features/configuration/organizations/service.ts';
import { createRealmHealth } from '../features/configuration/realms/health.ts';
import { realmRoutes } from '../features/configuration/realms/routes.ts';
import { createSamlClientImport } from '../features/configuration/saml-clients/import.ts';
import { samlClientImportRoutes } from '../features/configuration/saml-clients/routes.ts';
import { settingsRoutes } from '../features/configuration/settings/routes.ts';
import { subjectClaimRoutes } from '../features/configuration/settings/subject-claim.ts';
import { userProfileRoutes } from '../features/configuration/user-profile/routes.ts';
import { deliveryRoutes } from '../features/configuration/webhooks/routes.ts';
import { createWebhooks } from '../features/configuration/webhooks/service.ts';
import { createAdminGrants } from '../features/operations/admin-access/grants.ts';
import { createMay } from '../features/operations/admin-access/may.ts';
import { adminLoginPages } from '../features/operations/admin-access/pages.ts';
import { adminAccessRoutes } from '../features/operations/admin-access/routes.ts';
import { type AdminSurface, guardAdmin } from '../features/operations/admin-access/surface.ts';
import { isConsoleBuilt } from '../features/operations/console/files.ts';
import { diagnosticsRoutes } from '../features/operations/diagnostics/routes.ts';
import { createDiagnostics } from '../features/operations/diagnostics/service.ts';
import { eventRoutes } from '../features/operations/events/routes.ts';
import { listRoutes } from '../features/operations/expiring/routes.ts';
import { createLists } from '../features/operations/expiring/service.ts';
import { flowReplayRoutes } from '../features/operations/flow-replay/routes.ts';
import { createFlowReplays } from '../features/operations/flow-replay/service.ts';
import { holdRoutes } from '../features/operations/holds/routes.ts';
import { monitoringAdminRoutes } from '../features/operations/monitoring/admin-routes.ts';
import { countRequests } from '../features/operations/monitoring/routes.ts';
import { pagePreviewRoutes } from '../features/operations/page-preview/routes.ts';
import { createPagePreviews } from '../features/operations/page-preview/service.ts';
import { scimTargetRoutes } from '../features/operations/scim/provision-routes.ts';
import { scimTokenRoutes } from '../features/operations/scim/token-routes.ts';
import { createScimTokens } from '../features/operations/scim/tokens.ts';
import { searchRoutes } from '../features/operations/search/routes.ts';
import { createSearch } from '../features/operations/search/service.ts';
import { signInReportRoutes } from '../features/operations/sign-in-report/routes.ts';
import { createSignInReports } from '../features/operations/sign-in-report/service.ts';
import { statisticsRoutes } from '../features/operations/statistics/routes.ts';
import { createStatistics } from '../features/operations/statistics/service.ts';
import { tokenPreviewRoutes } from '../features/operations/token-preview/routes.ts';
import { createTokenPreviews } from '../features/operations/token-preview/service.ts';
import { agentRoutes } from '../features/people/agents/routes.ts';
import { createAgents } from '../features/people/agents/service.ts';
import { enrolmentTokenRoutes } from '../features/people/devices/routes.ts';
import { gdprAdminRoutes } from '../features/people/gdpr/routes.ts';
import { sessionRoutes } from '../features/people/sessions/routes.ts';
import { directoryRoutes } from '../features/people/user-federation/routes.ts';
import { createDirectories } from '../features/people/user-federation/service.ts';
import { createUserAccess } from '../features/people/users/access.ts';
import { userAccessRoutes } from '../features/people/users/access-routes.ts';
import { membershipRoutes } from '../features/people/users/membership-routes.ts';
import { createMemberships } from '../features/people/users/memberships.ts';
import { userRoutes } from '../features/people/users/routes.ts';
import { coverage, createUsers } from '../features/people/users/service.ts';
import { logoutAgainRoutes } from '../features/protocol/logout/again.ts';
import { createClientProvisioning } from '../features/protocol/registration/provisioning.ts';
import { provisioningRoutes } from '../features/protocol/registration/routes.ts';
import { connectionRoutes } from '../features/protocol/signal-transmitters/routes.ts';
import { streamAdminRoutes } from '../features/protocol/ssf/routes.ts';
import { type HttpOptions, openHttp } from '../http/fastify.ts';
import { type Meanwhile, onDemand, type Surface } from '../http/on-demand.ts';
import { createResourceApi } from '../resource/api.ts';
import { idOfClient } from '../resource/in-client.ts';
import type { Operations } from './operations.ts';
import { pageLinks } from './page-links.ts';
import { createRealmDocument } from './realm-document.ts';
import { mountResources } from './resources.ts';
import { sealedColumns } from './sealed-columns.ts';

/** A DNS server that doesn't answer delays a request by a few seconds at most. */
const systemResolveTxt: ResolveTxt = (name) => new Resolver({ timeout: 2_000, tries: 2 }).resolveTxt(name);

/** @param listener of the application that passes requests on */
export async function createAdministration(
  deps: Operations,
  listener: Omit<HttpOptions, 'requests' | 'ready'>,
): Promise<Surface> {
  const app = await openHttp({ ...listener, requests: 'admin' });
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  countRequests(app, deps.metrics.request);
  const consoleFiles = onDemand(
    app,
    ['/admin/console'],
    () => createConsole(deps, listener),
    isConsoleBuilt() ? undefined : whileBuilding,
  );
  app.addHook('onClose', () => consoleFiles.close());
  const { authenticate } = deps.access;
  await app.register(async (pages) => adminLoginPages(pages, { ...deps, authenticate, signIn: deps.adminSignIn }));
  await app.register(async (admin) => {
    const reaches: AdminSurface['reaches'] = (...asked) => isReached(deps.sql, ...asked);
    const named: AdminSurface['idOfClient'] = (...asked) => idOfClient(deps.sql, ...asked);
    guardAdmin(admin, { ...deps, authenticate, reaches, idOfClient: named, countWrite: deps.metrics.adminWrite });
    mountServer(admin, deps);
    const realmDocument = createRealmDocument(deps);
    realmDocument.mount(admin);
    mountConfiguration(admin, { ...deps, parts: realmDocument.parts });
    mountUsers(admin, deps);
    mountInsight(admin, deps);
  });
  await app.ready();
  return { app, routes };
}

/** A server that runs from its source builds the console first, which takes longer than a browser should wait for a page. */
const whileBuilding: Meanwhile = {
  afterMs: 1_000,
  answer: async (reply) => (await import('../features/operations/console/to-come.ts')).sendConsoleToCome(reply),
};

/** The console's files, which nothing but a browser asks for. */
async function createConsole(
  { metrics }: Operations,
  listener: Omit<HttpOptions, 'requests' | 'ready'>,
): Promise<Surface> {
  const { consoleFolder, consoleRoutes } = await import('../features/operations/console/routes.ts');
  // from the source it takes longer than a plugin may
  const folder = await consoleFolder();
  const app = await openHttp({ ...listener, requests: 'console' });
  countRequests(app, metrics.request);
  await app.register(consoleRoutes, { folder });
  await app.ready();
  return { app, routes: [] };
}

/** Routes for the server, and for realms as a whole. */
function mountServer(admin: FastifyInstance, deps: Operations): void {
  adminAccessRoutes(admin, { ...deps, signIn: deps.adminSignIn, grants: createAdminGrants(deps) });
  const reseal = createReseal({ ...deps, columns: sealedColumns });
  const health = createRealmHealth({ ...deps, reseal });
  realmRoutes(admin, { ...deps, health, issuer: deps.settings.issuer });
  keyRoutes(admin, deps.keys);
  eventRoutes(admin, deps);
  holdRoutes(admin, deps.holds);
  const may = createMay(deps);
  monitoringAdminRoutes(admin, { ...deps, may });
  const diagnose = createDiagnostics({
    ...deps,
    setUp: setUpOf(deps.config, deps.seal, deps.custody),
    configuration: shownSettings(deps.config),
    version: VERSION,
    reseal,
    lists: createLists(deps),
    report: deps.monitoring.health.report,
    status: deps.audit.status,
  });
  diagnosticsRoutes(admin, { may, diagnose });
}

/** Routes for a realm's configuration. */
function mountConfiguration(
  admin: FastifyInstance,
  deps: Operations & Pick<ReturnType<typeof createRealmDocument>, 'parts'>,
): void {
  const { resources, settings, resolveTxt = systemResolveTxt } = deps;
  const api = createResourceApi(deps);
  // that a domain is verified is no configuration: the organization's domains are
  const verifying = createResourceApi({ ...deps, written: 'byServer' });
  const { clients, clientScopes, claims, organizations, agents, samlClients, authorizationServices } = resources;
  settingsRoutes(admin, deps);
  subjectClaimRoutes(admin, settings);
  userProfileRoutes(admin, deps);
  provisioningRoutes(admin, createClientProvisioning(deps));
  scimTargetRoutes(admin, deps);
  scimTokenRoutes(admin, createScimTokens(deps));
  flowRoutes(admin, deps.flows, deps.sql);
  mountResources(admin, resources, { ...deps, api });
  builtInTextRoutes(admin);
  invitationRoutes(admin, deps);
  directoryRoutes(admin, createDirectories({ ...deps, syncs: deps.federation.syncs, of: resources.userFederation }));
  organizationRoutes(admin, createOrganizations({ ...deps, api: verifying, resource: organizations, resolveTxt }));
  deliveryRoutes(admin, createWebhooks({ ...deps, enqueue: deps.enqueueDeliveries }));
  clientScopeRoutes(admin, { api, scopes: clientScopes, claims });
  clientRoutes(admin, { api, clients, secrets: createClientSecrets({ ...deps, clients }) });
  agentRoutes(admin, createAgents({ ...deps, api, of: agents }));
  providerTestRoutes(admin, { ...deps, of: resources.identityProviders });
  samlClientImportRoutes(admin, createSamlClientImport({ ...deps, api, of: samlClients }));
  streamAdminRoutes(admin, deps.streams);
  connectionRoutes(admin, deps.connecting);
  deps.messaging.mount(admin);
  const services = createAuthorizationServices({ ...deps, api, clients, of: authorizationServices });
  authorizationServiceRoutes(admin, { ...deps, services });
}

/** Routes for users, with their credentials, sessions and roles. */
function mountUsers(admin: FastifyInstance, deps: Operations): void {
  const { credentials } = deps;
  const mustCover = coverage(deps.access);
  const covering = { ...deps, mustCover };
  const { newPasswordFaults, setPassword } = credentials;
  userRoutes(admin, { ...deps, users: createUsers({ ...deps, newPasswordFaults, setPassword }) });
  sessionRoutes(admin, covering);
  logoutAgainRoutes(admin, deps);
  enrolmentTokenRoutes(admin, covering);
  passwordResetRoutes(admin, covering);
  enrolmentLinkRoutes(admin, { ...covering, links: deps.enrolmentLinks });
  identityLinkRoutes(admin, covering);
  membershipRoutes(admin, createMemberships(covering));
  impersonationRoutes(admin, createImpersonation(deps));
  userAccessRoutes(admin, createUserAccess(covering));
  gdprAdminRoutes(admin, deps.gdpr);
}

/** Routes that explain, look across kinds and realms, or count. */
function mountInsight(admin: FastifyInstance, deps: Operations): void {
  const may = createMay(deps);
  signInReportRoutes(admin, { ...deps, may, reports: createSignInReports(deps) });
  flowReplayRoutes(admin, { may, replays: createFlowReplays(deps) });
  pagePreviewRoutes(admin, createPagePreviews({ ...deps, links: pageLinks(deps) }));
  tokenPreviewRoutes(admin, { may, previews: createTokenPreviews(deps) });
  searchRoutes(admin, createSearch(deps));
  listRoutes(admin, { ...deps, may, lists: createLists(deps) });
  statisticsRoutes(admin, { ...deps, may, statistics: createStatistics(deps) });
}
