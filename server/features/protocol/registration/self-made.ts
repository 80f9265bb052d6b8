// Clients that no administrator creates: those that register themselves, and those whose id is the address of their
// metadata.
import type { FastifyInstance } from 'fastify';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { createRateLimit } from '../../../domain/rate-limit.ts';
import { guardProtocol } from '../../../http/oauth.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { createResourceApi } from '../../../resource/api.ts';
import type { Resource } from '../../../resource/resource.ts';
import { createClientDocuments } from './documents.ts';
import type { PolicySource } from './provisioning.ts';
import { registrationRoutes } from './routes.ts';
import { createRegistration } from './service.ts';

/** The limit for one host, over all callers. */
const FETCHES_A_MINUTE = 60;

export function createSelfMadeClients({
  sql,
  outbound,
  transact,
  resources,
  settings,
  realmExists,
  baseUrl,
  now,
  newId,
}: {
  sql: Sql;
  outbound: Pick<Outbound, 'fetch'>;
  transact: Transact;
  resources: { clients: Resource; clientScopes: Resource; authorizationDetailTypes: Resource };
  settings: PolicySource;
  realmExists(realm: string): Promise<boolean>;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}) {
  const { clients, clientScopes, authorizationDetailTypes } = resources;
  const shared = {
    sql,
    outbound,
    transact,
    requestsIn: (tx: Tx) =>
      createResourceApi({
        sql: tx.sql,
        transact: (_, work) => work(tx),
        // such a client can refer only to scopes and types of details
        parts: [clientScopes, authorizationDetailTypes, clients],
        newId,
        // the setting clientRegistration, which a document can declare, says who may register
        written: 'byServer',
      }),
    clients,
    settings,
    baseUrl,
    now,
  };
  const registration = createRegistration({ ...shared, newId });
  const attempts = { address: createRateLimit({ now }), host: createRateLimit({ limit: FETCHES_A_MINUTE, now }) };
  return {
    documents: createClientDocuments({ ...shared, attempts }),

    mount(app: FastifyInstance): void {
      guardProtocol(app, { surface: 'registration', realmExists });
      registrationRoutes(app, { registration, attempts: createRateLimit({ now }) });
    },
  };
}
