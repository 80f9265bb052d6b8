// Owns: a realm's ids are tried at every endpoint of another realm: each is 404, and nothing of the realm changes.
// Does not own: what the database refuses by itself (migrations.test.ts), rights (escalation.test.ts).
// Implements: specification 1 ("a fully isolated tenant"); decisions "Realms".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../server/contract/clients.ts';
import { listEvents } from '../../server/contract/events.ts';
import { createFlow } from '../../server/contract/flows.ts';
import { createGroup } from '../../server/contract/groups.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createRole } from '../../server/contract/roles.ts';
import type { Route } from '../../server/contract/route.ts';
import { listSessions } from '../../server/contract/sessions.ts';
import { createUser } from '../../server/contract/users.ts';
import { createWorkloadIdentity } from '../../server/contract/workload-identity.ts';
import { contractRoutes } from '../support/contract-routes.ts';
import { adminSessionOf, ask, everythingOf, type Ids, oneOfEach } from '../support/one-of-each.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import type { AdminSession } from '../support/signed-in.ts';

const MINE = 'mine';
const OTHER = 'other';
let server: TestServer;
let admin: AdminSession;
let ids: Ids;

/** Every route of the contract that names something inside a realm. */
const routes = (await contractRoutes()).filter((route) => /^\/admin\/realms\/:realm\/.*(:|\*)/.test(route.path));

beforeAll(async () => {
  server = await startTestServer();
  ids = await oneOfEach(server, MINE);
  await server.admin.call(createRealm, { body: { realm: OTHER } });
  admin = await adminSessionOf(server, { username: 'admin' });
});
afterAll(() => server?.stop());

const send = (route: Route, realm: string) => ask(server, route, { as: admin, realm, ids });

test('there are routes to try', () => {
  expect(routes.length).toBeGreaterThan(35);
});

test('every id of the realm is 404 at every endpoint of another realm, and nothing of the realm changes', async () => {
  const before = await everythingOf(server, MINE);
  const answers = [];
  for (const route of routes) {
    const { statusCode } = await send(route, OTHER);
    answers.push(`${route.method} ${route.path} ${statusCode}`);
  }
  expect(answers).toEqual(routes.map((route) => `${route.method} ${route.path} 404`));
  expect(await everythingOf(server, MINE)).toEqual(before);
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
