// The composition root's part for the protocol endpoints: OAuth 2.0 and OpenID Connect under /realms/{realm}.
// It decides nothing; rules are the features'. Specification 4.11; decisions "Protocol paths".
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Passwords } from './crypto/passwords.ts';
import type { Seal } from './crypto/seal.ts';
import type { RealmSql } from './db/realm-share.ts';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import type { Dpop } from './domain/dpop.ts';
import type { Factors } from './domain/factors.ts';
import { createRateLimit } from './domain/rate-limit.ts';
import type { Subjects } from './domain/subjects.ts';
import { createEventBatch } from './events/batch.ts';
import type { Metrics } from './events/metrics.ts';
import { createRefusals } from './events/refusals.ts';
import type { UpstreamLogout } from './features/authentication/brokering/logout.ts';
import type { SignIns } from './features/authentication/sign-in/service.ts';
import type { ClientViews } from './features/configuration/clients/view.ts';
import { createMint } from './features/configuration/issued-tokens/mint.ts';
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
import { createAssertions } from './features/protocol/client-authentication/assertion.ts';
import { auditedAuthentication } from './features/protocol/client-authentication/audited.ts';
import { createClientKeys } from './features/protocol/client-authentication/client-keys.ts';
import { createClientAuthentication } from './features/protocol/client-authentication/service.ts';
import { delegationGrant } from './features/protocol/delegation/grant.ts';
import { authenticationByOwnToken } from './features/protocol/delegation/own-token.ts';
import { agentDelegationRoutes } from './features/protocol/delegation/routes.ts';
import { adminResourceRoute, discoveryRoutes, readyDocuments } from './features/protocol/discovery/routes.ts';
import { createDiscovery } from './features/protocol/discovery/service.ts';
import { introspectRoutes } from './features/protocol/introspect/routes.ts';
import { createIntrospection } from './features/protocol/introspect/service.ts';
import { type BackChannelDeps, backChannelJob } from './features/protocol/logout/back-channel.ts';
import { logoutRoutes } from './features/protocol/logout/routes.ts';
import { createLogout } from './features/protocol/logout/service.ts';
import { revokeRoutes } from './features/protocol/revoke/routes.ts';
import { createRevocation } from './features/protocol/revoke/service.ts';
import { createKeeping } from './features/protocol/saml/kept.ts';
import { createSingleLogout } from './features/protocol/saml/logout.ts';
import { samlMetadataRoutes, samlRoutes, singleLogoutRoutes } from './features/protocol/saml/routes.ts';
import { createSamlIdentityProvider } from './features/protocol/saml/service.ts';
import { createSigningKeyOf } from './features/protocol/saml/signing-key.ts';
import { createSamlClientViews } from './features/protocol/saml/view.ts';
import { clientCredentialsGrant } from './features/protocol/token/client-credentials.ts';
import { codeGrant } from './features/protocol/token/code.ts';
import { deviceGrant } from './features/protocol/token/device.ts';
import { exchangeGrant } from './features/protocol/token/exchange.ts';
import { createFamilies } from './features/protocol/token/families.ts';
import { refreshGrant } from './features/protocol/token/refresh.ts';
import { tokenRoutes } from './features/protocol/token/routes.ts';
import { createTokenEndpoint } from './features/protocol/token/service.ts';
import { userinfoRoutes } from './features/protocol/userinfo/routes.ts';
import { createUserinfo } from './features/protocol/userinfo/service.ts';
import { byAssertion, byExchange, workloadGrant } from './features/protocol/workload-identity/exchange.ts';
import { workloadTokenRoutes } from './features/protocol/workload-identity/exchange-routes.ts';
import { createIssuerKeys } from './features/protocol/workload-identity/issuer-keys.ts';
import { createCors } from './http/cors.ts';
import { guardProtocol } from './http/oauth.ts';
import { oauthPageErrors } from './http/oauth-pages.ts';
import type { Outbound } from './http/outbound.ts';
import { createRemoteDocuments } from './http/remote-documents.ts';
import { speaksTo } from './http/spoken.ts';
import { createUma } from './uma.ts';

/** Of public clients at one address in one realm. */
const PUSHES_A_MINUTE = 120;
/** User codes that are typed at one address in one realm, and in one session within ten minutes. */
const CODES_A_MINUTE = 20;
const CODES_OF_A_SESSION = 10;

export interface ProtocolDeps {
  sql: Sql;
  registry: readonly { levelOfAssurance: number }[];
  factors: Factors;
  transact: Transact;
  realmSql: RealmSql;
  seal: Seal;
  outbound: Outbound;
  passwords: Passwords;
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
  metrics: Pick<Metrics, 'tokenIssued'>;
  realmExists(realm: string): Promise<boolean>;
  documents: Documents;
  send: Send;
  /** What the job of back-channel logout needs of the queue. */
  deliveries: Pick<BackChannelDeps, 'enqueue' | 'retryDelaysSeconds'>;
  /** Of one address in one realm. */
  exchangesAMinute: number;
  baseUrl: string;
  log: Logger;
  now: () => Date;
  newId: () => string;
}

export function createProtocol(deps: ProtocolDeps) {
  const { sql, transact, outbound, passwords, settings, keys, tokens, subjects, sessions, signIns, factors, metrics } =
    deps;
  const { clients, languages, realmSql, dpop, realmExists, documents, baseUrl, log, now, newId } = deps;
  const batch = createEventBatch({
    transact,
    newId,
    failed: (err, lost) => log.error({ err, lost }, 'audit events could not be written'),
  });
  const refusals = createRefusals({ record: batch.record, now });
  const mint = createMint({
    tokens,
    subjects,
    settings,
    sql,
    baseUrl,
    now,
    newId,
  });
  const families = createFamilies({ now });
  const withKeys = createClientKeys(createRemoteDocuments({ outbound, now }));
  const assertions = createAssertions({ sql, settings, withKeys, baseUrl, now });
  const authentication = createClientAuthentication({ clients, assertions, passwords, now });
  const exchanges = createRateLimit({ limit: deps.exchangesAMinute, now });
  const workloads = {
    sql,
    transact,
    clients,
    issuerKeys: createIssuerKeys({ outbound, now }),
    mint,
    refusals,
    now,
  };
  const uma = createUma({ ...deps, clients, mint, batch });
  const grants = [
    codeGrant({ transact, mint, families, now, newId }),
    deviceGrant({ transact, realmSql, mint, families, now, newId }),
    refreshGrant({ transact, mint, families, signIns, factors, now }),
    clientCredentialsGrant({ mint, batch }),
    exchangeGrant({ sql, tokens, subjects, settings, mint, batch }),
    workloadGrant(byAssertion, { ...workloads, attempts: exchanges }),
    uma.grant,
  ];
  const phases = { authentication, settings, refusals, metrics, dpop, baseUrl };
  const endpoint = createTokenEndpoint({ ...phases, grants });
  const exchange = workloadGrant(byExchange, workloads);
  const exchangeEndpoint = createTokenEndpoint({ ...phases, grants: [exchange] });
  const delegation = delegationGrant({ sql, tokens, subjects, mint, batch });
  const delegationEndpoint = createTokenEndpoint({
    ...phases,
    authentication: authenticationByOwnToken({ authentication, tokens, settings, clients }),
    grants: [delegation],
  });
  const { grantTypes } = endpoint;
  const levels = [...new Set(deps.registry.map((entry) => entry.levelOfAssurance))].filter((level) => level > 0).sort();
  const discovery = createDiscovery({ sql, keys, settings, grantTypes, levels, baseUrl, now });
  const userinfo = createUserinfo({ sql, tokens, subjects, settings, clients });
  const revocation = createRevocation({ transact, tokens, subjects, families, settings });
  const introspection = createIntrospection({
    sql,
    tokens,
    subjects,
    settings,
    clients,
    permissions: uma.shown,
    now,
  });
  const consents = createConsents({ sql, baseUrl, now });
  const requests = createAuthorizationRequests({ clients, levels, baseUrl });
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
    jobs: [
      backChannelJob({ sql, transact, clients, tokens, subjects, settings, outbound, now, newId, ...deps.deliveries }),
    ],

    continuations: [authorization.continuation, saml.continuation],
    logout,
    singleLogout,
    sharing: uma.sharing,

    ready: readyDocuments(discovery),

    drop(realm: string | undefined): void {
      clients.drop(realm);
      uma.drop(realm);
      discovery.drop(realm);
      samlClients.drop(realm);
      saml.drop(realm);
    },

    async mount(http: FastifyInstance): Promise<void> {
      await uma.mount(http);
      adminResourceRoute(http, discovery);
      await http.register(async (app) => {
        guardProtocol(app, { realmExists, baseUrl });
        const cors = createCors(clients);
        discoveryRoutes(app, discovery);
        samlMetadataRoutes(app, saml);
        tokenRoutes(app, { endpoint, dpop, cors });
        userinfoRoutes(app, { userinfo, cors, baseUrl });
        const audited = auditedAuthentication(authentication, refusals);
        const clientEndpoint = { authentication: audited, attempts: pushes, refusals, documents, cors };
        pushedRoutes(app, { ...clientEndpoint, pushed, dpop });
        deviceFlowRoutes(app, { ...clientEndpoint, devices });
        revokeRoutes(app, { authentication: audited, revocation, cors });
        introspectRoutes(app, { authentication: audited, introspection, byToken: uma.protection.caller });
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

    /** Writes the audit rows that are waiting. */
    stop(): Promise<void> {
      refusals.stop();
      return batch.stop().catch((err: unknown) => log.error({ err }, 'audit events are lost'));
    },
  };
}
