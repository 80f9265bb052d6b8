// The composition root's part for the protocol endpoints that a start doesn't need: the pages of authorization and
// sign-out, pushed requests, devices, SAML, User-Managed Access, agents and workloads. It decides nothing; the features
// have the rules. Specification 4.11; decisions "Protocol paths".
import type { FastifyInstance } from 'fastify';
import { LEVELS } from '../domain/factors.ts';
import { createRateLimit } from '../domain/rate-limit.ts';
import { createConsents } from '../features/people/consent/service.ts';
import { relatedOriginsRoutes } from '../features/people/credentials/related-origins.ts';
import { createAnswers } from '../features/protocol/authorize/answer.ts';
import { createDevices } from '../features/protocol/authorize/device.ts';
import { deviceFlowRoutes, devicePageRoutes } from '../features/protocol/authorize/device-routes.ts';
import { createPushed } from '../features/protocol/authorize/pushed.ts';
import { pushedRoutes } from '../features/protocol/authorize/pushed-routes.ts';
import { createRequestObjects } from '../features/protocol/authorize/request-objects.ts';
import { createRequestUris } from '../features/protocol/authorize/request-uris.ts';
import { createAuthorizationRequests } from '../features/protocol/authorize/requests.ts';
import { authorizeRoutes } from '../features/protocol/authorize/routes.ts';
import { createAuthorization } from '../features/protocol/authorize/service.ts';
import { authzenMetadataRoutes, authzenRoutes } from '../features/protocol/authzen/routes.ts';
import { createSearches } from '../features/protocol/authzen/search.ts';
import { createAccess } from '../features/protocol/authzen/service.ts';
import { notifyJob } from '../features/protocol/backchannel/notify-job.ts';
import { backchannelDeviceRoutes, backchannelRoutes } from '../features/protocol/backchannel/routes.ts';
import { createBackchannel } from '../features/protocol/backchannel/service.ts';
import { delegationGrant } from '../features/protocol/delegation/grant.ts';
import { authenticationByOwnToken } from '../features/protocol/delegation/own-token.ts';
import { agentDelegationRoutes } from '../features/protocol/delegation/routes.ts';
import { logoutRoutes } from '../features/protocol/logout/routes.ts';
import { createLogout } from '../features/protocol/logout/service.ts';
import { createSelfMadeClients } from '../features/protocol/registration/self-made.ts';
import { createKeeping } from '../features/protocol/saml/kept.ts';
import { createSingleLogout } from '../features/protocol/saml/logout.ts';
import { samlMetadataRoutes, samlRoutes, singleLogoutRoutes } from '../features/protocol/saml/routes.ts';
import { createSamlIdentityProvider } from '../features/protocol/saml/service.ts';
import { createSamlClientViews } from '../features/protocol/saml/view.ts';
import { createConnecting } from '../features/protocol/signal-transmitters/connecting.ts';
import { pollJobs } from '../features/protocol/signal-transmitters/poll-job.ts';
import { createReceiving } from '../features/protocol/signal-transmitters/receiving.ts';
import { signalRoutes } from '../features/protocol/signal-transmitters/routes.ts';
import { createSetVerification } from '../features/protocol/signal-transmitters/token.ts';
import { pushJob } from '../features/protocol/ssf/push-job.ts';
import { ssfMetadataRoutes, ssfRoutes } from '../features/protocol/ssf/routes.ts';
import { createStreams } from '../features/protocol/ssf/service.ts';
import { createSetSigner } from '../features/protocol/ssf/signing.ts';
import { createStreamSubjects } from '../features/protocol/ssf/subjects.ts';
import { tokensJob } from '../features/protocol/ssf/tokens-job.ts';
import { createFamilies } from '../features/protocol/token/families.ts';
import { createPushedTokens } from '../features/protocol/token/pushed.ts';
import { createTokenEndpoint } from '../features/protocol/token/service.ts';
import { createUma } from '../features/protocol/uma/service.ts';
import { byExchange, workloadGrant } from '../features/protocol/workload-identity/exchange.ts';
import { workloadTokenRoutes } from '../features/protocol/workload-identity/exchange-routes.ts';
import { guardProtocol } from '../http/oauth.ts';
import { oauthPageErrors } from '../http/oauth-pages.ts';
import { speaksTo } from '../http/spoken.ts';
import type { Authentication } from './authentication.ts';

/** The most pushed requests of public clients from one address in one realm. */
const PUSHES_A_MINUTE = 120;
/** The most user codes entered from one address in one realm, and in one session within ten minutes. */
const CODES_A_MINUTE = 20;
const CODES_OF_A_SESSION = 10;
/** The most backchannel requests of one client. */
const ASKED_A_MINUTE = 300;
/** The most codes of a user, right or wrong, in ten minutes. */
const USER_CODES_TYPED = 10;
/** The most pushed security events from one address in one realm. */
const SIGNALS_A_MINUTE = 600;

export function createLaterProtocol(below: Authentication) {
  const { audited, clientAuthentication, clients, cors, details, dpop, exchanges, phases, refusals, workloads } = below;
  const { outbound, settings, signIns, withKeys, caches, realmExists, baseUrl, now } = below;
  const uma = createUma(below);
  const access = createAccess({ ...below, decisions: uma.decisions });
  const searches = createSearches({ ...below, access });
  const signing = createSetSigner(below);
  const streams = createStreams({ ...below, signing });
  const streamSubjects = createStreamSubjects({ ...below, streams });
  const verification = createSetVerification(below);
  const receiving = createReceiving({ ...below, verification });
  const exchange = workloadGrant(byExchange, { ...workloads, attempts: undefined });
  const exchangeEndpoint = createTokenEndpoint({ ...phases, grants: [exchange] });
  const delegationEndpoint = createTokenEndpoint({
    ...phases,
    authentication: authenticationByOwnToken({ ...below, authentication: clientAuthentication }),
    grants: [delegationGrant(below)],
  });

  const selfMade = createSelfMadeClients(below);
  const { documents } = selfMade;
  const consents = createConsents(below);
  const requests = createAuthorizationRequests({ clients, details, levels: LEVELS, baseUrl });
  const requestObjects = createRequestObjects({ ...below, withKeys });
  const requestUris = createRequestUris({ outbound, attempts: createRateLimit({ limit: PUSHES_A_MINUTE, now }) });
  const asked = { ...below, requests, requestObjects, requestUris, documents, consents };
  const pushed = createPushed(asked);
  const pushes = createRateLimit({ limit: PUSHES_A_MINUTE, now });
  const authorization = createAuthorization({ ...asked, pushed, answers: createAnswers(below) });
  const devices = createDevices({
    ...asked,
    typed: {
      address: createRateLimit({ limit: CODES_A_MINUTE, now }),
      session: createRateLimit({ limit: CODES_OF_A_SESSION, windowMs: 600_000, now }),
    },
  });

  const families = createFamilies(below);
  const backchannel = createBackchannel({
    ...asked,
    asked: createRateLimit({ limit: ASKED_A_MINUTE, now }),
    codesTyped: createRateLimit({ limit: USER_CODES_TYPED, windowMs: 600_000, now }),
  });

  const samlClients = createSamlClientViews(below);
  const bySaml = { ...below, clients: samlClients, keeping: createKeeping(below) };
  const saml = createSamlIdentityProvider({ ...bySaml, consents });
  const singleLogout = createSingleLogout(bySaml);
  const logout = createLogout({ ...below, singleLogout });
  caches.push(uma, samlClients, saml);

  return {
    continuations: [authorization.continuation, saml.continuation],
    logout,
    singleLogout,
    uma,
    sharing: uma.sharing,
    streams,
    connecting: createConnecting({ ...below, verification }),
    signalJobs: [
      tokensJob(below),
      pushJob({ ...below, signing }),
      ...pollJobs({ ...below, receiving }),
      notifyJob({ ...below, families, pushTokens: createPushedTokens({ ...below, families }) }),
    ],

    /** The routes by which devices decide backchannel requests. */
    mountBackchannel: (app: FastifyInstance): void => backchannelDeviceRoutes(app, backchannel),

    async mountLaterProtocol(http: FastifyInstance): Promise<void> {
      relatedOriginsRoutes(http, below);
      await http.register(async (app) => selfMade.mount(app));
      await uma.mount(http);
      await http.register(async (app) => {
        guardProtocol(app, { realmExists, baseUrl });
        const byToken = uma.protection.caller;
        authzenRoutes(app, { access, searches, authentication: audited, byToken, baseUrl });
        authzenMetadataRoutes(app, { baseUrl });
      });
      await http.register(async (app) => {
        guardProtocol(app, { realmExists, baseUrl });
        ssfRoutes(app, { streams, subjects: streamSubjects });
        ssfMetadataRoutes(app, { settings, baseUrl });
      });
      await http.register(async (app) => {
        guardProtocol(app, { realmExists });
        signalRoutes(app, { receiving, attempts: createRateLimit({ limit: SIGNALS_A_MINUTE, now }) });
      });
      await http.register(async (app) => {
        guardProtocol(app, { realmExists, baseUrl });
        samlMetadataRoutes(app, saml);
        const clientEndpoint = { authentication: audited, attempts: pushes, refusals, documents, cors };
        pushedRoutes(app, { ...clientEndpoint, pushed, dpop });
        deviceFlowRoutes(app, { ...clientEndpoint, devices });
        backchannelRoutes(app, { ...clientEndpoint, backchannel });
        agentDelegationRoutes(app, { endpoint: delegationEndpoint, dpop });
        workloadTokenRoutes(app, { endpoint: exchangeEndpoint, attempts: exchanges, dpop });
      });
      await http.register(async (pages) => {
        guardProtocol(pages, { realmExists, failed: oauthPageErrors(settings.of) });
        speaksTo(pages, below);
        authorizeRoutes(pages, { authorization, signIns });
        devicePageRoutes(pages, { devices, signIns });
        logoutRoutes(pages, logout);
        samlRoutes(pages, { saml, signIns });
        singleLogoutRoutes(pages, singleLogout);
      });
    },
  };
}
export type LaterProtocol = Authentication & ReturnType<typeof createLaterProtocol>;
