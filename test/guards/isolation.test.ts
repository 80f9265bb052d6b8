// Owns: a realm's ids are tried at every endpoint of another realm: each is 404, and nothing of the realm changes.
// Does not own: what the database refuses by itself (migrations.test.ts), rights (escalation.test.ts).
// Implements: specification 1 ("a fully isolated tenant"); decisions "Realms".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putAdminRole, putUserAdminRoles } from '../../server/contract/admin-access.ts';
import { putAuthorizationService } from '../../server/contract/authorization-service-routes.ts';
import { createClaim } from '../../server/contract/claims.ts';
import { address, type Client } from '../../server/contract/client.ts';
import { createClientScope } from '../../server/contract/client-scopes.ts';
import { createClient } from '../../server/contract/clients.ts';
import { listEvents } from '../../server/contract/events.ts';
import { createFlow } from '../../server/contract/flows.ts';
import { createGroup } from '../../server/contract/groups.ts';
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
import { listSessions } from '../../server/contract/sessions.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { createUser, listCredentials } from '../../server/contract/users.ts';
import { createWebhook } from '../../server/contract/webhooks.ts';
import { createWorkloadIdentity } from '../../server/contract/workload-identity.ts';
import { newId } from '../../server/crypto/ids.ts';
import { sqlOver } from '../../server/db/sql.ts';
import { contractRoutes } from '../support/contract-routes.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../support/server.ts';

const MINE = 'mine';
const OTHER = 'other';
let server: TestServer;
let cookies = '';
let csrf = '';
/** Parameters of a path, by the path's first word after the realm. */
const ids: Record<string, Record<string, string>> = {};
/** Valid bodies, so that nothing but the id is at fault. */
const bodies: Record<string, unknown> = {
  'PUT users': { username: 'x' },
  'PUT users password': { password: 'a long enough password' },
  'PUT users admin-roles': { grants: [] },
  'PUT clients': { clientId: 'x' },
  'PUT clients admin-roles': { grants: [] },
  'PUT roles': { name: 'x' },
  'PUT groups': { name: 'x' },
  'PUT flows': { executions: [] },
  'PATCH flows': { alias: 'x' },
  'PUT admin-roles': { permissions: [] },
  'PUT webhooks': { name: 'x', url: 'https://x.example.test/', eventTypes: '*', enabled: true },
  'PUT workload-identity': { name: 'x', issuer: 'https://x.example.test', subject: 'x', audience: 'x', clientId: 'x' },
};

const words = (route: Route) => route.path.split('/').filter((word) => /^[a-z]/.test(word));
const areaOf = (route: Route) => words(route)[2] ?? '';

/** Every route of the contract that names something inside a realm. */
const everyRoute = await contractRoutes();
/** What makes a resource of an area: `POST /admin/realms/:realm/webhooks`. */
const creations = everyRoute
  .filter((route) => route.method === 'POST' && /^\/admin\/realms\/:realm\/[a-z-]+$/.test(route.path) && route.example)
  .map((route) => [areaOf(route), route] as const);
const routes = everyRoute.filter((route) => /^\/admin\/realms\/:realm\/.*(:|\*)/.test(route.path));

beforeAll(async () => {
  server = await startTestServer();
  const { admin } = server;
  for (const realm of [MINE, OTHER]) await admin.call(createRealm, { body: { realm } });
  const params = { realm: MINE };
  const idOf = async (made: Promise<{ body: { id: string } | undefined }>) => (await made).body?.id ?? '';
  const password = 'a long enough password';
  const userId = await idOf(admin.call(createUser, { params, body: { username: 'ada', password } }));
  const { body: credentials } = await admin.call(listCredentials, { params: { ...params, userId } });
  const clientId = await idOf(admin.call(createClient, { params, body: { clientId: 'app' } }));
  const roleId = await idOf(admin.call(createRole, { params, body: { name: 'reader' } }));
  await admin.call(createClientRole, { params: { ...params, clientId }, body: { name: 'teller' } });
  ids.users = { userId, type: 'password', id: credentials?.[0]?.id ?? '', roleId };
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
  const grants = [{ role: 'clerks', realm: MINE }];
  await admin.call(putUserAdminRoles, { params: { ...params, userId }, body: { grants } });
  const url = 'https://receiver.example.test/';
  const webhook = await idOf(
    admin.call(createWebhook, { params, body: { name: 'hook', url, eventTypes: 'ROLE_CREATED', enabled: false } }),
  );
  const issuer = 'https://issuer.example.test';
  const identity = { name: 'ci', issuer, subject: 'ci', audience: 'here', clientId: 'app' };
  ids['workload-identity'] = { id: await idOf(admin.call(createWorkloadIdentity, { params, body: identity })) };
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
  const sql = sqlOver(server.pool);
  const [session, delivery] = [newId(), newId()];
  await sql`
    insert into session (realm_id, id, token_hash, user_id, started_at, last_seen_at, expires_at, authenticated_at)
    values (${MINE}, ${session}, ${Buffer.from('x')}, ${userId}, now(), now(), now() + interval '1 hour', now())`;
  ids.sessions = { id: session };
  ids.provisioning = { id: await idOf(admin.call(createInitialAccessToken, { params, body: {} })) };
  await makeTheOthers(admin);
  const sync = newId();
  await sql`
    insert into directory_sync (realm_id, id, directory_id, kind, state, created_at)
    select realm_id, ${sync}, id, 'full', 'done', now() from directory where realm_id = ${MINE}`;
  ids['user-federation'] = { alias: String(ids['user-federation']?.alias), syncId: sync };
  await sql`
    insert into webhook_delivery (realm_id, id, webhook_id, event_id, event_type, body, status, created_at)
    values (${MINE}, ${delivery}, ${webhook}, ${newId()}, 'ROLE_CREATED', '{}', 'dead', now())`;
  ids.webhooks = { id: webhook, deliveryId: delivery };
  const login = await server.app.http.inject({
    method: 'POST',
    url: '/admin/login',
    payload: { username: 'admin', password: ADMIN_PASSWORD },
  });
  cookies = login.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  csrf = login.cookies.find(({ name }) => name === 'XSRF-TOKEN')?.value ?? '';
});
afterAll(() => server?.stop());

/** A resource that nothing above makes: its example works on a fresh realm, and its answer has what its paths need. */
async function makeTheOthers(admin: Client): Promise<void> {
  for (const [area, create] of creations) {
    if (ids[area] !== undefined) continue;
    const { body } = await admin.call(create, { params: { realm: MINE }, body: create.example });
    ids[area] = Object.fromEntries(Object.entries(Object(body)).map(([name, value]) => [name, String(value)]));
  }
}

async function send(route: Route, realm: string) {
  const key = [route.method, ...words(route).slice(2)].join(' ');
  const params = { ...ids[areaOf(route)], realm };
  const needs = [...route.path.matchAll(/[:*]([A-Za-z]+)/g)].map((match) => match[1]);
  expect(Object.keys(params), `ids of ${route.path}: add them to this test`).toEqual(expect.arrayContaining(needs));
  const body = bodies[key] ?? route.example;
  return server.app.http.inject({
    method: route.method,
    url: address(route.path, params),
    headers: {
      // a GET refreshes the token; the pair sent here stays a pair
      cookie: cookies,
      'x-xsrf-token': csrf,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
}

/** All rows of the realm, table by table; but not what follows from its events in its own time. */
async function everything(): Promise<unknown> {
  const sql = sqlOver(server.pool);
  const tables = await sql<{ name: string }>`
    select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and c.column_name = 'realm_id' and t.table_type = 'BASE TABLE'
      and c.table_name not in ('event_block', 'event_amendment', 'event_chain', 'scim_link', 'scim_link_member', 'scim_target_state') order by 1`;
  const rows = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows: found } = await server.pool.query(
        `select coalesce(jsonb_agg(t order by t::text), '[]') as rows from ${name} t where realm_id = $1`,
        [MINE],
      );
      return [name, found[0].rows];
    }),
  );
  return Object.fromEntries(rows);
}

test('there are routes to try', () => {
  expect(routes.length).toBeGreaterThan(35);
});

test('every id of the realm is 404 at every endpoint of another realm, and nothing of the realm changes', async () => {
  const before = await everything();
  const answers = [];
  for (const route of routes) {
    const { statusCode } = await send(route, OTHER);
    answers.push(`${route.method} ${route.path} ${statusCode}`);
  }
  expect(answers).toEqual(routes.map((route) => `${route.method} ${route.path} 404`));
  expect(await everything()).toEqual(before);
});

test('the same reads succeed in the realm itself, so the ids were good', async () => {
  const reads = routes.filter((route) => route.method === 'GET');
  const answers = [];
  for (const route of reads) answers.push(`${route.path} ${(await send(route, MINE)).statusCode}`);
  expect(answers).toEqual(reads.map((route) => `${route.path} 200`));
});

describe('what a body or a query names', () => {
  test('is looked for in the realm of the path alone', async () => {
    const { admin } = server;
    const params = { realm: OTHER };
    const refused = [
      () => admin.call(createUser, { params, body: { username: 'x', roles: ['reader'] } }),
      () => admin.call(createUser, { params, body: { username: 'x', groups: ['/staff'] } }),
      () => admin.call(createClient, { params, body: { clientId: 'x', defaultClientScopes: ['orders'] } }),
      () => admin.call(createClient, { params, body: { clientId: 'x', flowOverride: 'mine-only' } }),
      () => admin.call(createRole, { params, body: { name: 'x', composite: { roles: ['reader'] } } }),
      () => admin.call(createRole, { params, body: { name: 'x', composite: { clientRoles: { app: ['reader'] } } } }),
      () => admin.call(createGroup, { params, body: { name: 'x', parentId: ids.groups?.id ?? '' } }),
      () => admin.call(createFlow, { params, body: { alias: 'x', copyFromAlias: 'mine-only' } }),
      () =>
        admin.call(createWorkloadIdentity, {
          params,
          body: { name: 'x', issuer: 'https://x.example.test', subject: 'x', audience: 'x', clientId: 'app' },
        }),
    ];
    for (const attempt of refused)
      await expect(attempt(), String(attempt)).rejects.toMatchObject({
        status: expect.toSatisfy((s) => s === 400 || s === 404),
      });
    const query = { userId: ids.users?.userId ?? '' };
    expect((await admin.call(listEvents, { params, query })).body).toEqual([]);
    expect((await admin.call(listSessions, { params, query })).body).toEqual([]);
  });
});
