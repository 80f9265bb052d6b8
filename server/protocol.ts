// The composition root's part for the protocol endpoints that a start has: tokens, what is said of them, discovery. What people and
// rarer clients ask for is protocol-later.ts. It decides nothing; rules are the features'. Specification 4.11; decisions "Protocol paths".
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Passwords } from './crypto/passwords.ts';
import type { RealmSql } from './db/realm-share.ts';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import type { Dpop } from './domain/dpop.ts';
import { LEVELS } from './domain/factors.ts';
import { createRateLimit } from './domain/rate-limit.ts';
import type { Subjects } from './domain/subjects.ts';
import { createEventBatch } from './events/batch.ts';
import type { Metrics } from './events/metrics.ts';
import { createRefusals } from './events/refusals.ts';
import type { ClientViews } from './features/configuration/clients/view.ts';
import { createMint } from './features/configuration/issued-tokens/mint.ts';
import type { Tokens } from './features/configuration/issued-tokens/service.ts';
import type { Keys } from './features/configuration/keys/service.ts';
import type { SettingsService } from './features/configuration/settings/service.ts';
import { createAssertions } from './features/protocol/client-authentication/assertion.ts';
import { auditedAuthentication } from './features/protocol/client-authentication/audited.ts';
import { createClientKeys } from './features/protocol/client-authentication/client-keys.ts';
import { createClientAuthentication } from './features/protocol/client-authentication/service.ts';
import { adminResourceRoute, discoveryRoutes, readyDocuments } from './features/protocol/discovery/routes.ts';
import { createDiscovery } from './features/protocol/discovery/service.ts';
import { introspectRoutes } from './features/protocol/introspect/routes.ts';
import { createIntrospection } from './features/protocol/introspect/service.ts';
import { type BackChannelDeps, backChannelJob } from './features/protocol/logout/back-channel.ts';
import { revokeRoutes } from './features/protocol/revoke/routes.ts';
import { createRevocation } from './features/protocol/revoke/service.ts';
import { clientCredentialsGrant } from './features/protocol/token/client-credentials.ts';
import { codeGrant } from './features/protocol/token/code.ts';
import { deviceGrant } from './features/protocol/token/device.ts';
import { exchangeGrant } from './features/protocol/token/exchange.ts';
import { createFamilies } from './features/protocol/token/families.ts';
import { type RefreshGrantDeps, refreshGrant } from './features/protocol/token/refresh.ts';
import { tokenRoutes } from './features/protocol/token/routes.ts';
import { createTokenEndpoint } from './features/protocol/token/service.ts';
import { umaTerms } from './features/protocol/uma/grant-terms.ts';
import { permissionsIn } from './features/protocol/uma/requester.ts';
import { userinfoRoutes } from './features/protocol/userinfo/routes.ts';
import { createUserinfo } from './features/protocol/userinfo/service.ts';
import { byAssertion, workloadGrant } from './features/protocol/workload-identity/exchange.ts';
import { createIssuerKeys } from './features/protocol/workload-identity/issuer-keys.ts';
import { createCors } from './http/cors.ts';
import { guardProtocol } from './http/oauth.ts';
import type { Outbound } from './http/outbound.ts';
import { createRemoteDocuments } from './http/remote-documents.ts';
import type { Uma } from './uma.ts';

export interface ProtocolDeps {
  sql: Sql;
  transact: Transact;
  realmSql: RealmSql;
  outbound: Outbound;
  passwords: Passwords;
  settings: SettingsService;
  keys: Keys;
  clients: ClientViews;
  tokens: Tokens;
  dpop: Dpop;
  subjects: Subjects;
  metrics: Pick<Metrics, 'tokenIssued'>;
  realmExists(realm: string): Promise<boolean>;
  /** What the job of back-channel logout needs of the queue. */
  deliveries: Pick<BackChannelDeps, 'enqueue' | 'retryDelaysSeconds'>;
  /** Of one address in one realm. */
  exchangesAMinute: number;
  /** How long a failed exchange takes, instead of two seconds. */
  failureMs: number | undefined;
  /** Of what is loaded later: how people signed in, and what they share. */
  proven: RefreshGrantDeps['proven'];
  uma(): Promise<Uma>;
  baseUrl: string;
  log: Logger;
  now: () => Date;
  newId: () => string;
}

export function createProtocol(deps: ProtocolDeps) {
  const { sql, transact, realmSql, outbound, passwords, settings, keys, tokens, subjects, metrics, uma } = deps;
  const { clients, dpop, realmExists, baseUrl, log, now, newId } = deps;
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
    ...(deps.failureMs !== undefined && { failureMs: deps.failureMs }),
  };
  const grants = [
    codeGrant({ transact, mint, families, now, newId }),
    deviceGrant({ transact, realmSql, mint, families, now, newId }),
    refreshGrant({ transact, mint, families, proven: deps.proven, now }),
    clientCredentialsGrant({ mint, batch }),
    exchangeGrant({ sql, tokens, subjects, settings, mint, batch }),
    workloadGrant(byAssertion, { ...workloads, attempts: exchanges }),
    {
      ...umaTerms,
      authorize: async (call: Parameters<Uma['grant']['authorize']>[0]) => (await uma()).grant.authorize(call),
    },
  ];
  const phases = { authentication, settings, refusals, metrics, dpop, baseUrl };
  const endpoint = createTokenEndpoint({ ...phases, grants });
  const { grantTypes } = endpoint;
  const discovery = createDiscovery({ sql, keys, settings, grantTypes, levels: LEVELS, baseUrl, now });
  const userinfo = createUserinfo({ sql, tokens, subjects, settings, clients });
  const revocation = createRevocation({ transact, tokens, subjects, families, settings });
  const introspection = createIntrospection({
    sql,
    tokens,
    subjects,
    settings,
    clients,
    permissions: async (realm, claims) =>
      permissionsIn(claims).length === 0 ? undefined : (await uma()).shown(realm, claims),
    now,
  });
  const audited = auditedAuthentication(authentication, refusals);
  const cors = createCors(clients);

  return {
    jobs: [
      backChannelJob({ sql, transact, clients, tokens, subjects, settings, outbound, now, newId, ...deps.deliveries }),
    ],

    /** What the other endpoints are made of, too. */
    parts: { batch, refusals, mint, withKeys, authentication, audited, cors, phases, workloads, exchanges, discovery },

    ready: readyDocuments(discovery),

    drop(realm: string | undefined): void {
      clients.drop(realm);
      discovery.drop(realm);
    },

    async mount(http: FastifyInstance): Promise<void> {
      adminResourceRoute(http, discovery);
      await http.register(async (app) => {
        guardProtocol(app, { realmExists, baseUrl });
        discoveryRoutes(app, discovery);
        tokenRoutes(app, { endpoint, dpop, cors });
        userinfoRoutes(app, { userinfo, cors, baseUrl });
        revokeRoutes(app, { authentication: audited, revocation, cors });
        introspectRoutes(app, {
          authentication: audited,
          introspection,
          byToken: async (...presented) => (await uma()).protection.caller(...presented),
        });
      });
    },

    /** Writes the audit rows that are waiting. */
    stop(): Promise<void> {
      refusals.stop();
      return batch.stop().catch((err: unknown) => log.error({ err }, 'audit events are lost'));
    },
  };
}
export type Protocol = ReturnType<typeof createProtocol>;
