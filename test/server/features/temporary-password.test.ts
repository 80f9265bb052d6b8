// Owns: that a temporary password is seen to be one, and when a password was used.
// Does not own: the page on which another is chosen (required-actions.test.ts).
// Implements: specification 4.10; decisions "User".
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import * as users from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { createPerson } from '../../support/person.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

const realm = 'temporary';
const OWN = 'a password of one’s own';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: { realm } });
});
afterAll(() => server?.stop());

const call: typeof server.admin.call = (route, input) => server.admin.call(route, input);
const at = (userId: string, of = realm) => ({ params: { realm: of, userId } });
const actions = async (userId: string) => (await call(users.getUser, at(userId))).body?.requiredActions;
const passwordOf = async (userId: string, of = realm) =>
  (await call(users.listCredentials, at(userId, of))).body?.find(({ type }) => type === 'password');
const make = async (body: object) =>
  (await call(users.createUser, { params: { realm }, body: { username: 'x', password: PASSWORD, ...body } })).body!;

test('a temporary password asks for another one, and says so wherever the person is seen, until they have chosen it', async () => {
  const { id, requiredActions } = await make({ username: 'ana', passwordTemporary: true });
  expect([requiredActions, await actions(id)]).toEqual([['UPDATE_PASSWORD'], ['UPDATE_PASSWORD']]);
  const { body: listed = [] } = await call(users.listUsers, { params: { realm } });
  expect(listed.find((one) => one.id === id)?.requiredActions).toEqual(['UPDATE_PASSWORD']);
  expect((await call(users.getRequiredActions, at(id))).body).toEqual({ requiredActions: ['UPDATE_PASSWORD'] });
  expect(await passwordOf(id)).toMatchObject({ temporary: true, lastUsedAt: null });

  const browser = createPerson(server.baseUrl);
  const page = await browser.open(`/realms/${realm}/login?for=account`);
  const asked = await browser.fill(page, { username: 'ana', password: PASSWORD });
  expect(await actions(id)).toEqual(['UPDATE_PASSWORD']);
  expect((await browser.fill(asked, { password: OWN, repeated: OWN })).url).toContain('/account');
  expect(await actions(id)).toEqual([]);
  expect(await passwordOf(id)).toMatchObject({ temporary: false });
});

test('an action that was asked for stays as it is; what is put back as it was read changes nothing', async () => {
  const { id } = await make({ username: 'bob', requiredActions: ['UPDATE_PROFILE'] });
  expect(await passwordOf(id)).toMatchObject({ temporary: false });
  await call(users.setPassword, { ...at(id), body: { password: OWN, temporary: true } });
  expect(await actions(id)).toEqual(['UPDATE_PROFILE', 'UPDATE_PASSWORD']);
  const { body, etag } = await call(users.getUser, at(id));
  const again = await call(users.putUser, { ...at(id), body: body as never });
  expect(again.etag).toBe(etag);
  // Nobody lets them keep it.
  await call(users.putRequiredActions, { ...at(id), body: { requiredActions: [] } });
  expect(await actions(id)).toEqual(['UPDATE_PASSWORD']);
  await call(users.setPassword, { ...at(id), body: { password: PASSWORD } });
  expect(await actions(id)).toEqual([]);
});

test('a password was used when somebody signed in by it, to an account or to the admin API', async () => {
  const { id } = await make({ username: 'eve' });
  expect((await passwordOf(id))?.lastUsedAt).toBeNull();
  const browser = createPerson(server.baseUrl);
  const before = Date.now();
  await browser.fill(await browser.open(`/realms/${realm}/login?for=account`), { username: 'eve', password: PASSWORD });
  expect((await passwordOf(id))?.lastUsedAt).toBeGreaterThanOrEqual(before);
  await call(users.setPassword, { ...at(id), body: { password: OWN } });
  expect((await passwordOf(id))?.lastUsedAt).toBeNull();

  const { body: admins = [] } = await call(users.listUsers, { params: { realm: 'master' }, query: { q: 'admin' } });
  const admin = admins.find(({ username }) => username === 'admin')?.id ?? '';
  const since = Date.now();
  await server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
  expect((await passwordOf(admin, 'master'))?.lastUsedAt).toBeGreaterThanOrEqual(since);
});
