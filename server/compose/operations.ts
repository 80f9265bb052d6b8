// The composition root's part for running the server: administrators' access, realms, the first start, SCIM, and the
// account API, which users and applications call. It decides nothing. Design "Composition root".
import type { FastifyInstance } from 'fastify';
import { accountApiRoutes } from '../features/authentication/account/api-routes.ts';
import { createAsThemselves } from '../features/authentication/account/as-themselves.ts';
import { createHolders } from '../features/authentication/account/holder.ts';
import { createOwnCredentials } from '../features/authentication/account/own-credentials.ts';
import { createOwnDetails } from '../features/authentication/account/own-details.ts';
import { createOwnPhoneWrites } from '../features/authentication/account/phone.ts';
import { createStarts } from '../features/authentication/account/starts.ts';
import { createPersonGuard, guardAccount } from '../features/authentication/account/surface.ts';
import { createTickets } from '../features/authentication/account/tickets.ts';
import { providerTokenRoutes } from '../features/authentication/brokering/provider-tokens.ts';
import { seedClientScopes } from '../features/configuration/client-scopes/seed.ts';
import { seedFlows } from '../features/configuration/flows/seed.ts';
import { seedKeys } from '../features/configuration/keys/seed.ts';
import {
  refreshMessageTemplates,
  seedMessageTemplates,
} from '../features/configuration/messaging/built-in-templates.ts';
import { createRemoval } from '../features/configuration/realms/removal.ts';
import { createRealms } from '../features/configuration/realms/service.ts';
import { refreshAdminRoles, seedAdminRoles } from '../features/operations/admin-access/seed.ts';
import { createAccess } from '../features/operations/admin-access/service.ts';
import { createAdminSignIn } from '../features/operations/admin-access/sign-in.ts';
import type { Recovery } from '../features/operations/bootstrap/recovery.ts';
import { createBootstrap } from '../features/operations/bootstrap/service.ts';
import { createHolds } from '../features/operations/holds/service.ts';
import { createScim } from '../features/operations/scim/service.ts';
import { gdprAccountRoutes } from '../features/people/gdpr/routes.ts';
import { createGdpr } from '../features/people/gdpr/service.ts';
import { globalRevocationRoutes } from '../features/protocol/revoke/global.ts';
import { sharingRoutes } from '../features/protocol/uma/sharing-routes.ts';
import { guardProtocol } from '../http/oauth.ts';
import { personalData } from './personal-data.ts';
import type { LaterProtocol } from './protocol-later.ts';

export function createOperations(below: LaterProtocol) {
  const { resources, credentials, changed, federation } = below;
  const access = createAccess(below);
  const removal = createRemoval(below);
  const realms = createRealms({
    ...below,
    removal,
    seeds: [
      seedKeys({ ...below, generate: below.generateKeyPair }),
      seedFlows(below),
      seedClientScopes({ ...below, claims: resources.claims, scopes: resources.clientScopes }),
      seedAdminRoles,
      seedMessageTemplates,
    ],
    gone: changed,
  });
  const gdpr = createGdpr({ ...below, access, personalData });
  const bootstrap = createBootstrap({
    ...below,
    seedInto: realms.seedInto,
    refresh: [refreshAdminRoles, refreshMessageTemplates],
    access,
    clients: resources.clients,
    identities: resources.workloadIdentity,
    newPasswordFaults: credentials.newPasswordFaults,
    setPassword: credentials.setPassword,
  });

  const holders = createHolders(below);
  const asThemselves = createAsThemselves(below);
  const own = { ...below, gdpr, asThemselves, tickets: createTickets(below), starts: createStarts(below) };
  const details = createOwnDetails(own);
  const scim = createScim({ ...below, access, account: { details, holders, guard: createPersonGuard(below) } });

  const recoverAdministrator: Recovery = async (...wanted) => {
    // only its own program loads it, never a start of a server
    const { createRecovery } = await import('../features/operations/bootstrap/recovery.ts');
    return createRecovery({ ...below, access, keeperOf: federation.source.keeperOf })(...wanted);
  };
  return {
    access,
    realms,
    removal,
    gdpr,
    adminSignIn: createAdminSignIn({ ...below, attempts: below.failedSignIns }),
    bootstrap,
    scim,
    holds: createHolds(below),
    recoverAdministrator,

    /** The APIs that users' applications call: the account API, and SCIM. */
    async mountApis(http: FastifyInstance): Promise<void> {
      await http.register(async (app) => {
        guardAccount(app, { ...below, ...holders });
        gdprAccountRoutes(app, gdpr);
        sharingRoutes(app, below.sharing);
        providerTokenRoutes(app, below);
        accountApiRoutes(app, {
          ...own,
          details,
          phone: createOwnPhoneWrites(own),
          methods: createOwnCredentials(own),
        });
      });
      await http.register(async (app) => {
        below.mountDevices(app);
        below.mountBackchannel(app);
      });
      await http.register(async (app) => {
        guardProtocol(app, { realmExists: below.realmExists, baseUrl: below.baseUrl });
        globalRevocationRoutes(app, { ...below, access });
      });
      await http.register(async (app) => scim.mount(app));
    },
  };
}
export type Operations = LaterProtocol & ReturnType<typeof createOperations>;
