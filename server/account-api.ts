// The composition root's part for people: the account API, everything below /realms/{realm}/account but its pages.
// It decides nothing; rules are the features'. Specification 4.6, 4.11.
import type { FastifyInstance } from 'fastify';
import type { Seal } from './crypto/seal.ts';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import type { PersonalData } from './domain/personal-data.ts';
import type { Subjects } from './domain/subjects.ts';
import { accountApiRoutes } from './features/authentication/account/api-routes.ts';
import { createAsThemselves } from './features/authentication/account/as-themselves.ts';
import { createHolders } from './features/authentication/account/holder.ts';
import { createOwnCredentials } from './features/authentication/account/own-credentials.ts';
import { createOwnDetails, type OwnDetails } from './features/authentication/account/own-details.ts';
import { createOwnPhoneWrites } from './features/authentication/account/phone.ts';
import { createStarts } from './features/authentication/account/starts.ts';
import { createPersonGuard, guardAccount, type PersonGuard } from './features/authentication/account/surface.ts';
import { createTickets } from './features/authentication/account/tickets.ts';
import { identityData } from './features/authentication/brokering/personal-data.ts';
import { enrolmentLinkData } from './features/authentication/enrolment-links/personal-data.ts';
import { invitationData } from './features/authentication/invitations/personal-data.ts';
import { newDeviceData } from './features/authentication/new-device/personal-data.ts';
import { recoveryData } from './features/authentication/recovery/personal-data.ts';
import { authorizationData } from './features/configuration/authorization-services/personal-data.ts';
import type { Tokens } from './features/configuration/issued-tokens/service.ts';
import { messagingData } from './features/configuration/messaging/personal-data.ts';
import { organizationData } from './features/configuration/organizations/personal-data.ts';
import type { SettingsService } from './features/configuration/settings/service.ts';
import type { Access } from './features/operations/admin-access/service.ts';
import { provisioningData } from './features/operations/scim/personal-data.ts';
import { planData } from './features/operations/transfer/personal-data.ts';
import { agentData } from './features/people/agents/personal-data.ts';
import { credentialData } from './features/people/credentials/personal-data.ts';
import { deviceData } from './features/people/devices/personal-data.ts';
import { historyData } from './features/people/gdpr/history.ts';
import { gdprAccountRoutes } from './features/people/gdpr/routes.ts';
import { createGdpr, type Gdpr } from './features/people/gdpr/service.ts';
import type { Sessions } from './features/people/sessions/service.ts';
import { federationData } from './features/people/user-federation/personal-data.ts';
import { profileData } from './features/people/users/personal-data.ts';
import { umaData } from './features/protocol/uma/personal-data.ts';
import type { Sharing } from './features/protocol/uma/sharing.ts';
import { sharingRoutes } from './features/protocol/uma/sharing-routes.ts';
import type { Messaging } from './messaging.ts';
import type { People } from './people.ts';

/** Every feature that keeps something of a person. */
export const personalData: readonly PersonalData[] = [
  profileData,
  credentialData,
  identityData,
  recoveryData,
  newDeviceData,
  enrolmentLinkData,
  messagingData,
  organizationData,
  invitationData,
  agentData,
  authorizationData,
  deviceData,
  provisioningData,
  umaData,
  federationData,
  planData,
  ...historyData,
];

export interface AccountApiDeps {
  sharing: Sharing;
  /** People's tokens of identity providers. */
  mountProviderTokens(app: FastifyInstance): void;
  sql: Sql;
  transact: Transact;
  seal: Seal;
  access: Pick<Access, 'covers'>;
  tokens: Pick<Tokens, 'present'>;
  subjects: Pick<Subjects, 'find'>;
  sessions: Sessions;
  settings: Pick<SettingsService, 'issuer' | 'of'>;
  own: People['own'];
  messaging: Pick<Messaging, 'notify' | 'sends'>;
  realmExists(realm: string): Promise<boolean>;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

export function createAccountApi(deps: AccountApiDeps): {
  gdpr: Gdpr;
  holders: ReturnType<typeof createHolders>;
  details: OwnDetails;
  guard: PersonGuard;
  mount(app: FastifyInstance): void;
} {
  const { sql, transact, seal, access, tokens, subjects, sessions, settings, realmExists, baseUrl, now, newId } = deps;
  const { own, messaging } = deps;
  const { notify, sends } = messaging;
  const gdpr = createGdpr({ sql, transact, seal, access, personalData, notify, now, newId });
  const holders = createHolders({ sql, tokens, subjects, sessions, settings, factors: own.factors, now });
  const asThemselves = createAsThemselves({ transact });
  const written = { asThemselves, tickets: createTickets({ seal, now }), starts: createStarts({ now }) };
  const details = createOwnDetails({ ...own, ...written, notify, sends });
  return {
    /** For administrators too. */
    gdpr,
    /** For SCIM's /Me too. */
    holders,
    details,
    guard: createPersonGuard({ baseUrl }),
    mount(app) {
      guardAccount(app, { baseUrl, realmExists, ...holders });
      gdprAccountRoutes(app, gdpr);
      sharingRoutes(app, deps.sharing);
      deps.mountProviderTokens(app);
      accountApiRoutes(app, {
        ...{ sql, transact, sessions, gdpr, notify, asThemselves, settings, baseUrl, now },
        details,
        phone: createOwnPhoneWrites({ ...own, ...written, sends }),
        methods: createOwnCredentials({ ...own, ...written, settings }),
        browsers: own.browsers,
        agents: own.agents,
        erasures: own.erasures,
        offline: own.offline,
      });
    },
  };
}
