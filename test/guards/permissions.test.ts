// Owns: every route of the admin API asked by each built-in admin role, by a role without permissions, with ids of the realm and of
// another: let in exactly where the contract's permission is among the role's, and told of nothing but its own realm.
// Does not own: what a write may give or take over beyond that (features/escalation.test.ts), limits to single groups and clients
// (features/admin-roles.limits.test.ts), routes that judge by what they are sent (features/operations/transfer.rights.test.ts), that nothing of
// the other realm changes (isolation.test.ts).
// Implements: decisions "Admin authentication"; contract/permissions.ts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../server/contract/admin-access.ts';
import { builtInAdminRoles, type Permission } from '../../server/contract/permissions.ts';
import { createRealm } from '../../server/contract/realms.ts';
import type { Route } from '../../server/contract/route.ts';
import { createUser } from '../../server/contract/users.ts';
import { newId } from '../../server/crypto/ids.ts';
import { sqlOver } from '../../server/db/sql.ts';
import { contractRoutes } from '../support/contract-routes.ts';
import { adminSessionOf, ask, type Ids, oneOfEach } from '../support/one-of-each.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import type { AdminSession } from '../support/signed-in.ts';

const HERE = 'here';
const EMPTY = 'empty';
const APART = 'apart';
const roles: Record<string, readonly Permission[]> = { ...builtInAdminRoles, 'no permission': [] };
const password = 'a long enough password';

let server: TestServer;
let ids: Ids;
/** By role, who holds it over HERE and EMPTY. */
const sessions = new Map<string, AdminSession>();

const routes = (await contractRoutes()).filter(
  ({ path, permission }) => path.startsWith('/admin/realms/:realm') && permission !== null,
);
/** Those that name something in the realm. */
const naming = routes.filter(({ path }) => /:realm\/.*(:|\*)/.test(path));

beforeAll(async () => {
  server = await startTestServer();
  ids = await oneOfEach(server, HERE);
  const { admin } = server;
  for (const realm of [EMPTY, APART]) await admin.call(createRealm, { body: { realm } });
  const home = { realm: 'master' };
  const sql = sqlOver(server.pool);
  await sql`insert into admin_role (realm_id, id, name, permissions) values ('master', ${newId()}, 'no permission', '{}')`;
  for (const [at, role] of Object.keys(roles).entries()) {
    const username = `administrator-${at}`;
    const { body } = await admin.call(createUser, { params: home, body: { username, password } });
    const params = { ...home, userId: body?.id ?? '' };
    const grants = [HERE, EMPTY].map((realm) => ({ role, realm }));
    // who holds nothing anywhere isn't signed in
    if (roles[role]?.length === 0) grants.push({ role: 'realm-admin', realm: APART });
    await admin.call(putUserAdminRoles, { params, body: { grants } });
    sessions.set(role, await adminSessionOf(server, { username, password }));
  }
});
afterAll(() => server?.stop());

/** A write says that it is about another state than there is, so whoever may write changes nothing. */
const OUTDATED = { 'if-match': '"another"' };
const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const FORBIDDEN = '403 urn:svc:problem:forbidden';

/** What of `asked` isn't answered as it is due. */
async function unlike(asked: readonly Route[], role: string, realm: string, due: (route: Route) => string) {
  const as = sessions.get(role)!;
  const others: string[] = [];
  // one after the other: all at once would have a busy server refuse some
  for (const route of asked) {
    const headers = route.method === 'GET' || realm === EMPTY ? {} : OUTDATED;
    const response = await ask(server, route, { as, realm, ids, headers });
    const answer = response.statusCode === 403 ? `403 ${response.json().type}` : String(response.statusCode);
    if (answer !== due(route)) others.push(`${nameOf(route)}: ${answer}, not ${due(route)}`);
  }
  return others;
}

test('there are routes to try', () => {
  expect([routes.length > 240, naming.length > 150]).toEqual([true, true]);
});

describe.each(Object.entries(roles))('%s', (role, held) => {
  const holds = ({ permission }: Route) => permission !== null && held.includes(permission);

  test('may do what the table of permissions says, and nothing else', async () => {
    const due = (route: Route) => (!holds(route) ? FORBIDDEN : route.method === 'GET' ? '200' : '412');
    expect(await unlike(routes, role, HERE, due)).toEqual([]);
  });

  test('finds nothing under the ids of another realm, and is told so only where it may ask', async () => {
    expect(await unlike(naming, role, EMPTY, (route) => (holds(route) ? '404' : FORBIDDEN))).toEqual([]);
  });
});

test('whoever may do everything in a realm may do nothing in another', async () => {
  expect(await unlike(routes, 'realm-admin', APART, () => FORBIDDEN)).toEqual([]);
});
