// Owns: a realm with one of each thing that paths of the admin API name, their ids, and a request of each route that names them.
// Does not own: who sends them, and what they are answered (guards/isolation.test.ts, guards/permissions.test.ts).
// Implements: tests that try every route.

import { expect } from 'vitest';
import { putUserAdminRoles } from '../../server/contract/admin-access.ts';
import { putAdminRole } from '../../server/contract/admin-roles.ts';
import { putAuthorizationService } from '../../server/contract/authorization-service-routes.ts';
import { createClaim } from '../../server/contract/claims.ts';
import { address, type Client } from '../../server/contract/client.ts';
import { createClientScope } from '../../server/contract/client-scopes.ts';
import { createClient } from '../../server/contract/clients.ts';
import { createCrossDomainPolicy } from '../../server/contract/cross-domain-policies.ts';
import { createCrossDomainTrust } from '../../server/contract/cross-domain-trusts.ts';
import { createFlow } from '../../server/contract/flows.ts';
import { createGroup } from '../../server/contract/groups.ts';
import { placeHold } from '../../server/contract/holds.ts';
import { rotateKeys } from '../../server/contract/keys.ts';
import { putMessageTemplate } from '../../server/contract/message-templates.ts';
import { registerPushToken } from '../../server/contract/messages.ts';
import { putMessagingProvider } from '../../server/contract/messaging.ts';
import { createOrganization } from '../../server/contract/organizations.ts';
import { createProtocolMapper } from '../../server/contract/protocol-mappers.ts';
import { createInitialAccessToken } from '../../server/contract/provisioning.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createClientRole, createRole } from '../../server/contract/roles.ts';
import type { Route } from '../../server/contract/route.ts';
import { createSignalReceiver } from '../../server/contract/signal-receivers.ts';
import { createTransactionTokenPolicy } from '../../server/contract/transaction-token-policies.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { createUser, listCredentials } from '../../server/contract/users.ts';
import { createWebhook } from '../../server/contract/webhooks.ts';
import { createWorkloadIdentity } from '../../server/contract/workload-identity.ts';
import { newId } from '../../server/crypto/ids.ts';
import { sqlOver } from '../../server/db/sql.ts';
import { contractRoutes } from './contract-routes.ts';
import { ADMIN_PASSWORD, type TestServer } from './server.ts';
import { type AdminSession, adminSession } from './signed-in.ts';

/** Parameters of a path, by the path's first word after the realm. */
export type Ids = Record<string, Record<string, string>>;

/** A hold on what {@link oneOfEach} lets a manager own. */
const aHold = () => ({
  what: [{ kind: 'role' as const, key: 'managed' }],
  reason: 'x',
  until: Date.now() + 3_600_000,
});

/** Valid bodies, so that nothing but the id is at fault. */
export const validBodies: Record<string, unknown> = {
  'PUT users': { username: 'x' },
  'PUT users password': { password: 'a long enough password' },
  'PUT users admin-roles': { grants: [] },
  'PUT clients': { clientId: 'x' },
  'PUT clients admin-roles': { grants: [] },
  'POST holds': aHold(),
  'PUT roles': { name: 'x' },
  'PUT groups': { name: 'x' },
  'PUT flows': { executions: [] },
  'PATCH flows': { alias: 'x' },
  'PUT admin-roles': { permissions: [] },
  'PUT webhooks': { name: 'x', url: 'https://x.example.test/', eventTypes: '*', enabled: true },
  'PUT workload-identity': { name: 'x', issuer: 'https://x.example.test', subject: 'x', audience: 'x', clientId: 'x' },
};

/** Further query parameters of some routes. */
const queries: Record<string, string> = { 'DELETE /admin/realms/:realm/sessions': '?clientId=app' };

const words = (route: Route) => route.path.split('/').filter((word) => /^[a-z]/.test(word));
const areaOf = (route: Route) => words(route)[2] ?? '';

/** Makes the realm `realm`. */
export async function oneOfEach(server: TestServer, realm: string): Promise<Ids> {
  const { admin } = server;
  const ids: Ids = {};
  await admin.call(createRealm, { body: { realm } });
  const params = { realm };
  const idOf = async (made: Promise<{ body: { id: string } | undefined }>) => (await made).body?.id ?? '';
  const password = 'a long enough password';
  const userId = await idOf(admin.call(createUser, { params, body: { username: 'ada', password } }));
  const { body: credentials } = await admin.call(listCredentials, { params: { ...params, userId } });
  const clientId = await idOf(admin.call(createClient, { params, body: { clientId: 'app' } }));
  const roleId = await idOf(admin.call(createRole, { params, body: { name: 'reader' } }));
  await admin.call(createClientRole, { params: { ...params, clientId }, body: { name: 'teller' } });
  ids.users = { userId, type: 'password', id: credentials?.[0]?.id ?? '', roleId, clientId: 'app' };
  const mapperId = await idOf(
    admin.call(createProtocolMapper, { params: { ...params, clientId }, body: { name: 'x' } }),
  );
  ids.clients = { id: clientId, clientId, name: 'teller', mapperId };
  const protectedBy = {
    resources: [{ name: 'teller' }],
    scopes: [{ name: 'teller' }],
    policies: [{ name: 'teller', type: 'user' as const, config: { users: ['ada'] } }],
    permissions: [{ name: 'teller', scopes: ['teller'] }],
  };
  await admin.call(putAuthorizationService, { params: { ...params, clientId }, body: protectedBy });
  ids.roles = { id: roleId };
  ids.groups = { id: await idOf(admin.call(createGroup, { params, body: { name: 'staff' } })), userId, roleId };
  const scopeId = await idOf(admin.call(createClientScope, { params, body: { name: 'orders' } }));
  const claimId = await idOf(admin.call(createClaim, { params, body: { name: 'tier' } }));
  ids['client-scopes'] = { id: scopeId, scopeId, claimId };
  const domain = 'mine.example.test';
  const organization = await idOf(
    admin.call(createOrganization, { params, body: { name: 'mine', domains: [{ name: domain, verified: true }] } }),
  );
  ids.organizations = { id: organization, userId, domain };
  await admin.call(createFlow, { params, body: { alias: 'mine-only', copyFromAlias: 'browser' } });
  ids.flows = { alias: 'mine-only' };
  const { body: old } = await admin.call(rotateKeys, { params });
  await admin.call(rotateKeys, { params });
  ids.keys = { keyId: old?.keyId ?? '' };
  const role = newId();
  await admin.call(putAdminRole, {
    params: { ...params, id: role },
    body: { name: 'clerks', permissions: ['users:read'] },
  });
  ids['admin-roles'] = { id: role };
  const grants = [{ role: 'clerks', realm: realm }];
  await admin.call(putUserAdminRoles, { params: { ...params, userId }, body: { grants } });
  const url = 'https://receiver.example.test/';
  const webhook = await idOf(
    admin.call(createWebhook, { params, body: { name: 'hook', url, eventTypes: 'ROLE_CREATED', enabled: false } }),
  );
  const issuer = 'https://issuer.example.test';
  const identity = { name: 'ci', issuer, subject: 'ci', audience: 'here', clientId: 'app' };
  ids['workload-identity'] = { id: await idOf(admin.call(createWorkloadIdentity, { params, body: identity })) };
  const policy = { name: 'there', clientId: 'app', audience: issuer, targetClientId: 'app' };
  ids['cross-domain-policies'] = { id: await idOf(admin.call(createCrossDomainPolicy, { params, body: policy })) };
  const trust = { name: 'there', clientId: 'app', issuer };
  ids['cross-domain-trusts'] = { id: await idOf(admin.call(createCrossDomainTrust, { params, body: trust })) };
  const txn = { name: 'shop', clientId: 'app', trustDomain: 'shop.internal', scopes: {} };
  ids['transaction-token-policies'] = {
    id: await idOf(admin.call(createTransactionTokenPolicy, { params, body: txn })),
  };
  const hears = { clientId: 'app', events: ['session-revoked' as const] };
  const receiver = await idOf(admin.call(createSignalReceiver, { params, body: hears }));
  ids['signal-receivers'] = { id: receiver };
  await admin.call(putMessagingProvider, { params, body: putMessagingProvider.example! });
  const template = { ...putMessageTemplate.example!, locale: 'pt' };
  await admin.call(putMessageTemplate, { params, body: template });
  const device = { userId, platform: 'fcm', token: 'a token' } as const;
  const id = await idOf(admin.call(registerPushToken, { params, body: device }));
  ids.messaging = { channel: 'EMAIL', driver: 'smtp', templateKey: 'otp-email', locale: 'pt', id };
  const { body: applied } = await admin.call(importRealm, {
    params,
    query: { manager: 'theirs' },
    body: { roles: [{ name: 'managed' }] },
  });
  // the other realm has no such revision: this one has had many writes
  ids.history = { revision: String(applied?.revision) };
  ids.managers = { manager: 'theirs' };
  ids.holds = { id: await idOf(admin.call(placeHold, { params, body: aHold() })) };
  const sql = sqlOver(server.pool);
  const [session, delivery] = [newId(), newId()];
  await sql`
    insert into session (realm_id, id, token_hash, user_id, started_at, last_seen_at, expires_at, authenticated_at)
    values (${realm}, ${session}, ${Buffer.from('x')}, ${userId}, now(), now(), now() + interval '1 hour', now())`;
  ids.sessions = { id: session };
  ids.provisioning = { id: await idOf(admin.call(createInitialAccessToken, { params, body: {} })) };
  await makeTheOthers(admin, realm, ids);
  const sync = newId();
  await sql`
    insert into directory_sync (realm_id, id, directory_id, kind, state, created_at)
    select realm_id, ${sync}, id, 'full', 'done', now() from directory where realm_id = ${realm}`;
  ids['user-federation'] = { alias: String(ids['user-federation']?.alias), syncId: sync };
  const stream = newId();
  await sql`
    insert into signal_stream (realm_id, id, receiver, method, pushed, format, created_at)
    values (${realm}, ${stream}, ${receiver}, 'urn:ietf:rfc:8936', false, 'iss_sub', now())`;
  ids['signal-receivers'] = { id: receiver, streamId: stream };
  await sql`
    insert into signal_connection (realm_id, transmitter, stream_id, connected_at)
    select realm_id, id, 'theirs', now() from signal_transmitter where realm_id = ${realm}`;
  await sql`
    insert into webhook_delivery (realm_id, id, webhook_id, event_id, event_type, body, status, created_at)
    values (${realm}, ${delivery}, ${webhook}, ${newId()}, 'ROLE_CREATED', '{}', 'dead', now())`;
  ids.webhooks = { id: webhook, deliveryId: delivery };
  const [event] = await sql<{ id: string }>`select id from event where realm_id = ${realm} limit 1`;
  ids.events = { id: String(event?.id) };
  ids.logouts = { id: String(event?.id) };
  return ids;
}

/** A resource that nothing above makes: its example works on a fresh realm, and its answer has what its paths need. */
async function makeTheOthers(admin: Client, realm: string, ids: Ids): Promise<void> {
  const creates = (route: Route) => route.method === 'POST' && /^\/admin\/realms\/:realm\/[a-z-]+$/.test(route.path);
  for (const create of (await contractRoutes()).filter((route) => creates(route) && route.example)) {
    const area = areaOf(create);
    if (ids[area] !== undefined) continue;
    const { body } = await admin.call(create, { params: { realm }, body: create.example });
    ids[area] = Object.fromEntries(Object.entries(Object(body)).map(([name, value]) => [name, String(value)]));
  }
}

/** Who asks. A GET refreshes the token; this pair stays one. */
export async function adminSessionOf(
  server: TestServer,
  { password = ADMIN_PASSWORD, ...who }: { username: string; realm?: string; password?: string },
): Promise<AdminSession> {
  return (await adminSession(server.baseUrl, { ...who, password })).headers();
}

/** Asks a route in a realm about what `ids` name. */
export async function ask(
  server: TestServer,
  route: Route,
  { as, realm, ids, headers }: { as: AdminSession; realm: string; ids: Ids; headers?: Record<string, string> },
) {
  const key = [route.method, ...words(route).slice(2)].join(' ');
  const params = { ...ids[areaOf(route)], realm };
  const needs = [...route.path.matchAll(/[:*]([A-Za-z]+)/g)].map((match) => match[1]);
  expect(Object.keys(params), `ids of ${route.path}: add them to this file`).toEqual(expect.arrayContaining(needs));
  const body = validBodies[key] ?? route.example;
  return server.app.http.inject({
    method: route.method,
    url: `${address(route.path, params)}${queries[`${route.method} ${route.path}`] ?? ''}`,
    headers: { ...as, ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
}

/** All rows of a realm, table by table; but not what follows from its events in its own time. */
export async function everythingOf(server: TestServer, realm: string): Promise<unknown> {
  const sql = sqlOver(server.pool);
  const tables = await sql<{ name: string }>`
    select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and c.column_name = 'realm_id' and t.table_type = 'BASE TABLE'
      and c.table_name not in ('event_block', 'event_amendment', 'event_chain', 'event_fold', 'scim_link', 'scim_link_member', 'scim_target_state') order by 1`;
  const rows = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows: found } = await server.pool.query(
        `select coalesce(jsonb_agg(t order by t::text), '[]') as rows from ${name} t where realm_id = $1`,
        [realm],
      );
      return [name, found[0].rows];
    }),
  );
  return Object.fromEntries(rows);
}
