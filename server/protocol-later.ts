// The composition root's part for the protocol endpoints that a start does without: the pages of authorization and sign-out, requests
// that are pushed, devices, SAML, User-Managed Access, agents and workloads. It decides nothing; rules are the features'.
// Specification 4.11; decisions "Protocol paths".
import type { FastifyInstance } from 'fastify';
import type { Seal } from './crypto/seal.ts';
import type { RealmSql } from './db/realm-share.ts';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import type { Dpop } from './domain/dpop.ts';
import { type Factors, LEVELS } from './domain/factors.ts';
import { createRateLimit } from './domain/rate-limit.ts';
import type { Subjects } from './domain/subjects.ts';
import type { UpstreamLogout } from './features/authentication/brokering/logout.ts';
import type { SignIns } from './features/authentication/sign-in/service.ts';
import type { ClientViews } from './features/configuration/clients/view.ts';
import type { Tokens } from './features/configuration/issued-tokens/service.ts';
import type { Keys } from './features/configuration/keys/service.ts';
import type { Languages } from './features/configuration/message-texts/languages.ts';
import type { Send } from './features/configuration/messaging/send.ts';
import type { SettingsService } from './features/configuration/settings/service.ts';
import { createConsents } from './features/people/consent/service.ts';
import type { Sessions } from './features/people/sessions/service.ts';
import { createDevices } from './features/protocol/authorize/device.ts';
import { deviceFlowRoutes, devicePageRoutes } from './features/protocol/authorize/device-routes.ts';
import { createPushed } from './features/protocol/authorize/pushed.ts';
import { pushedRoutes } from './features/protocol/authorize/pushed-routes.ts';
import { createRequestObjects } from './features/protocol/authorize/request-objects.ts';
import { createRequestUris } from './features/protocol/authorize/request-uris.ts';
import { createAuthorizationRequests, type Documents } from './features/protocol/authorize/requests.ts';
import { authorizeRoutes } from './features/protocol/authorize/routes.ts';
import { createAuthorization } from './features/protocol/authorize/service.ts';
import { delegationGrant } from './features/protocol/delegation/grant.ts';
import { authenticationByOwnToken } from './features/protocol/delegation/own-token.ts';
import { agentDelegationRoutes } from './features/protocol/delegation/routes.ts';
import { logoutRoutes } from './features/protocol/logout/routes.ts';
import { createLogout } from './features/protocol/logout/service.ts';
import { createKeeping } from './features/protocol/saml/kept.ts';
import { createSingleLogout } from './features/protocol/saml/logout.ts';
import { samlMetadataRoutes, samlRoutes, singleLogoutRoutes } from './features/protocol/saml/routes.ts';
import { createSamlIdentityProvider } from './features/protocol/saml/service.ts';
import { createSigningKeyOf } from './features/protocol/saml/signing-key.ts';
import { createSamlClientViews } from './features/protocol/saml/view.ts';
import { createTokenEndpoint } from './features/protocol/token/service.ts';
import { byExchange, workloadGrant } from './features/protocol/workload-identity/exchange.ts';
import { workloadTokenRoutes } from './features/protocol/workload-identity/exchange-routes.ts';
import { guardProtocol } from './http/oauth.ts';
import { oauthPageErrors } from './http/oauth-pages.ts';
import type { Outbound } from './http/outbound.ts';
import { speaksTo } from './http/spoken.ts';
import type { Protocol } from './protocol.ts';
import { createUma } from './uma.ts';

/** Of public clients at one address in one realm. */
const PUSHES_A_MINUTE = 120;
/** User codes that are typed at one address in one realm, and in one session within ten minutes. */
const CODES_A_MINUTE = 20;
const CODES_OF_A_SESSION = 10;

export interface LaterProtocolDeps {
  sql: Sql;
  factors: Factors;
  transact: Transact;
  realmSql: RealmSql;
  seal: Seal;
  outbound: Outbound;
  settings: SettingsService;
  languages: Languages;
  keys: Keys;
  clients: ClientViews;
  tokens: Tokens;
  dpop: Dpop;
  subjects: Subjects;
  sessions: Sessions;
  signIns: SignIns;
  upstreamLogout: Pick<UpstreamLogout, 'over'>;
  realmExists(realm: string): Promise<boolean>;
  documents: Documents;
  send: Send;
  /** Of the endpoints that are there from the start. */
  parts: Protocol['parts'];
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

export function createLaterProtocol(deps: LaterProtocolDeps) {
  const { sql, transact, outbound, settings, keys, tokens, subjects, sessions, signIns, factors, parts } = deps;
  const { clients, languages, dpop, realmExists, documents, baseUrl, now } = deps;
  const { batch, refusals, mint, withKeys, authentication, audited, cors, phases, workloads, exchanges } = parts;
  const uma = createUma({ ...deps, mint, batch });
  const exchangeEndpoint = createTokenEndpoint({ ...phases, grants: [workloadGrant(byExchange, workloads)] });
  const delegation = delegationGrant({ sql, tokens, subjects, mint, batch });
  const delegationEndpoint = createTokenEndpoint({
    ...phases,
    authentication: authenticationByOwnToken({ authentication, tokens, settings, clients }),
    grants: [delegation],
  });
  const consents = createConsents({ sql, baseUrl, now });
  const requests = createAuthorizationRequests({ clients, levels: LEVELS, baseUrl });
  const requestObjects = createRequestObjects({ withKeys, settings, now });
  const requestUris = createRequestUris({ outbound, attempts: createRateLimit({ limit: PUSHES_A_MINUTE, now }) });
  const pushed = createPushed({ sql, transact, settings, requests, requestObjects, now });
  const pushes = createRateLimit({ limit: PUSHES_A_MINUTE, now });
  const authorization = createAuthorization({
    transact,
    clients,
    requests,
    requestObjects,
    requestUris,
    documents,
    pushed,
    settings,
    sessions,
    signIns,
    factors,
    consents,
    tokens,
    refusals,
    subjects,
    now,
  });
  const devices = createDevices({
    sql,
    transact,
    clients,
    requests,
    settings,
    sessions,
    signIns,
    factors,
    consents,
    subjects,
    typed: {
      address: createRateLimit({ limit: CODES_A_MINUTE, now }),
      session: createRateLimit({ limit: CODES_OF_A_SESSION, windowMs: 600_000, now }),
    },
    baseUrl,
    now,
  });
  const samlClients = createSamlClientViews({ sql, now });
  const keeping = createKeeping({ seal: deps.seal, now });
  const signerOf = createSigningKeyOf(keys);
  const shared = {
    transact,
    clients: samlClients,
    keeping,
    signerOf,
    settings,
    sessions,
    signIns,
    refusals,
    baseUrl,
    now,
  };
  const saml = createSamlIdentityProvider({ ...shared, sql, keys, consents, factors, subjects });
  const { upstreamLogout } = deps;
  const singleLogout = createSingleLogout({ ...shared, upstreamLogout, realmSql: deps.realmSql });
  const logout = createLogout({
    transact,
    clients,
    sessions,
    signIns,
    singleLogout,
    upstreamLogout,
    settings,
    tokens,
    subjects,
    baseUrl,
    now,
  });

  return {
    continuations: [authorization.continuation, saml.continuation],
    logout,
    singleLogout,
    uma,
    sharing: uma.sharing,

    drop(realm: string | undefined): void {
      uma.drop(realm);
      samlClients.drop(realm);
      saml.drop(realm);
    },

    async mount(http: FastifyInstance): Promise<void> {
      await uma.mount(http);
      await http.register(async (app) => {
        guardProtocol(app, { realmExists, baseUrl });
        samlMetadataRoutes(app, saml);
        const clientEndpoint = { authentication: audited, attempts: pushes, refusals, documents, cors };
        pushedRoutes(app, { ...clientEndpoint, pushed, dpop });
        deviceFlowRoutes(app, { ...clientEndpoint, devices });
        agentDelegationRoutes(app, { endpoint: delegationEndpoint, dpop });
        workloadTokenRoutes(app, { endpoint: exchangeEndpoint, attempts: exchanges, dpop });
      });
      await http.register(async (pages) => {
        guardProtocol(pages, { realmExists, failed: oauthPageErrors(settings.of) });
        speaksTo(pages, { settings, languages, baseUrl });
        authorizeRoutes(pages, { authorization, signIns });
        devicePageRoutes(pages, { devices, signIns });
        logoutRoutes(pages, logout);
        samlRoutes(pages, { saml, signIns });
        singleLogoutRoutes(pages, singleLogout);
      });
    },
  };
}
export type LaterProtocol = ReturnType<typeof createLaterProtocol>;
