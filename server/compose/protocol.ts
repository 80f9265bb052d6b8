// The composition root's part for the protocol endpoints that a start needs: tokens, introspection and revocation,
// discovery. protocol-later.ts has the pages and the endpoints that fewer clients use. It decides nothing; the features
// have the rules. Specification 4.11; decisions "Protocol paths".

import type { FastifyInstance } from 'fastify';
import { mutualTlsAddress } from '../config.ts';
import { introspectRoute } from '../contract/oauth.ts';
import { LEVELS } from '../domain/factors.ts';
import { createIssuerKeys } from '../domain/issuer-keys.ts';
import { createRateLimit } from '../domain/rate-limit.ts';
import { createEventBatch } from '../events/batch.ts';
import { createRefusals } from '../events/refusals.ts';
import { createAuthorizationDetails } from '../features/protocol/authorization-details/service.ts';
import { createAssertions } from '../features/protocol/client-authentication/assertion.ts';
import { auditedAuthentication } from '../features/protocol/client-authentication/audited.ts';
import { createClientAuthentication } from '../features/protocol/client-authentication/service.ts';
import { type IssueGrant, issueTerms, type RedeemGrant, redeemTerms } from '../features/protocol/cross-domain/terms.ts';
import {
  adminResourceRoute,
  discoveryRoutes,
  discoveryUrls,
  readyDocuments,
} from '../features/protocol/discovery/routes.ts';
import { createDiscovery } from '../features/protocol/discovery/service.ts';
import { introspectRoutes } from '../features/protocol/introspect/routes.ts';
import { createIntrospection } from '../features/protocol/introspect/service.ts';
import { createSignedIntrospection } from '../features/protocol/introspect/signed.ts';
import { revokeRoutes } from '../features/protocol/revoke/routes.ts';
import { createRevocation } from '../features/protocol/revoke/service.ts';
import { clientCredentialsGrant } from '../features/protocol/token/client-credentials.ts';
import { codeGrant } from '../features/protocol/token/code.ts';
import { exchangeGrant } from '../features/protocol/token/exchange.ts';
import { createFamilies } from '../features/protocol/token/families.ts';
import { backchannelGrant, deviceGrant } from '../features/protocol/token/polled.ts';
import { refreshGrant } from '../features/protocol/token/refresh.ts';
import { tokenRoutes } from '../features/protocol/token/routes.ts';
import { createTokenEndpoint } from '../features/protocol/token/service.ts';
import { type TxnTokenGrant, txnTokenTerms } from '../features/protocol/transaction-tokens/terms.ts';
import { umaTerms } from '../features/protocol/uma/grant-terms.ts';
import { permissionsIn } from '../features/protocol/uma/requester.ts';
import type { Uma } from '../features/protocol/uma/service.ts';
import { userinfoRoutes } from '../features/protocol/userinfo/routes.ts';
import { createUserinfo } from '../features/protocol/userinfo/service.ts';
import { byAssertion, workloadGrant } from '../features/protocol/workload-identity/exchange.ts';
import { createCors } from '../http/cors.ts';
import { guardProtocol } from '../http/oauth.ts';
import { once } from '../schedule/once.ts';
import type { Configuration } from './configuration.ts';
import type { Rest } from './jobs.ts';

/** The endpoints that may go on while the database is away. */
const GOES_ON: ReadonlySet<string> = new Set([...discoveryUrls, introspectRoute.url]);

/** @param rest loads the parts that compose later: how users signed in, and what they share */
export function createProtocol(below: Configuration, rest: () => Promise<Rest>) {
  const { config, clients, dpop, outbound, realmExists, staleMs, keptAnswers, caches, baseUrl, log, now } = below;
  const batch = createEventBatch({
    ...below,
    failed: (err, lost) => log.error({ err, lost }, 'audit events could not be written'),
  });
  const refusals = createRefusals({ record: batch.record, now });
  const families = createFamilies({ now });
  const assertions = createAssertions(below);
  const certificates = once(async () => {
    const { createCertificateChecks } = await import('../features/protocol/client-authentication/certificate.ts');
    return createCertificateChecks(below);
  });
  const issuerKeys = createIssuerKeys({ outbound, now });
  const workloadChecks = once(async () => {
    const { createWorkloadChecks } = await import('../features/protocol/client-authentication/workload.ts');
    return createWorkloadChecks({ ...below, issuerKeys });
  });
  const clientAuthentication = createClientAuthentication({
    ...below,
    assertions,
    certificates: certificates.get,
    workloads: workloadChecks.get,
  });
  /** Counts by address and realm. */
  const exchanges = createRateLimit({ limit: config.SVC_WORKLOAD_RATE_LIMIT, now });
  const workloads = { ...below, issuerKeys, refusals };
  const details = createAuthorizationDetails(below);
  const issuing = { ...below, details, families, batch };
  const crossDomain = once(async () => {
    const { createCrossDomain } = await import('../features/protocol/cross-domain/service.ts');
    return createCrossDomain(issuing);
  });
  const txnTokens = once(async () => {
    const { createTxnTokens } = await import('../features/protocol/transaction-tokens/issue.ts');
    return createTxnTokens(issuing);
  });
  const grants = [
    codeGrant(issuing),
    deviceGrant(issuing),
    backchannelGrant(issuing),
    refreshGrant({ ...issuing, proven: rest }),
    clientCredentialsGrant(issuing),
    {
      ...issueTerms,
      authorize: async (call: Parameters<IssueGrant['authorize']>[0]) => (await crossDomain.get()).issue(call),
    },
    {
      ...txnTokenTerms,
      authorize: async (call: Parameters<TxnTokenGrant['authorize']>[0]) => (await txnTokens.get())(call),
    },
    exchangeGrant(issuing),
    {
      ...redeemTerms(async (...asked) => (await crossDomain.get()).takesUntyped(...asked)),
      authorize: async (call: Parameters<RedeemGrant['authorize']>[0]) => (await crossDomain.get()).redeem(call),
    },
    workloadGrant(byAssertion, { ...workloads, attempts: exchanges }),
    {
      ...umaTerms,
      authorize: async (call: Parameters<Uma['grant']['authorize']>[0]) => (await rest()).uma.grant.authorize(call),
    },
  ];
  const phases = { ...below, details, authentication: clientAuthentication, refusals };
  const endpoint = createTokenEndpoint({ ...phases, grants });
  const discovery = createDiscovery({
    ...below,
    grantTypes: endpoint.grantTypes,
    levels: LEVELS,
    certificatesAt: mutualTlsAddress(config),
  });
  const userinfo = createUserinfo(below);
  const revocation = createRevocation({ ...below, families });
  const introspection = createIntrospection({
    ...below,
    keptAnswers,
    permissions: async (realm, claims) =>
      permissionsIn(claims).length === 0 ? undefined : (await rest()).uma.shown(realm, claims),
  });
  const audited = auditedAuthentication(clientAuthentication, refusals);
  const cors = createCors(clients);
  caches.push(discovery, details);

  return {
    batch,
    refusals,
    details,
    clientAuthentication,
    audited,
    exchanges,
    workloads,
    phases,
    cors,

    ready: readyDocuments(discovery),

    async mountProtocol(http: FastifyInstance): Promise<void> {
      adminResourceRoute(http, discovery);
      await http.register(async (app) => {
        guardProtocol(app, { realmExists, baseUrl, goesOn: { ms: staleMs, urls: GOES_ON } });
        discoveryRoutes(app, discovery, staleMs);
        tokenRoutes(app, { endpoint, dpop, cors });
        userinfoRoutes(app, { userinfo, cors, baseUrl });
        revokeRoutes(app, { authentication: audited, revocation, cors });
        introspectRoutes(app, {
          authentication: audited,
          introspection,
          staleMs,
          signed: createSignedIntrospection(below),
          byToken: async (...presented) => (await rest()).uma.protection.caller(...presented),
        });
      });
    },

    /** Writes the waiting audit rows. */
    stopProtocol(): Promise<void> {
      refusals.stop();
      return batch.stop().catch((err: unknown) => log.error({ err }, 'audit events are lost'));
    },
  };
}
export type Protocol = Configuration & ReturnType<typeof createProtocol>;
