// Owns: grants that outlive the session in which they were given, as people and administrators see and end them.
// Does not own: refreshing (token.grants.test.ts), consents (gdpr.test.ts), sessions of browsers (sessions.test.ts).
// Implements: specification 4.10, 4.11; OIDC Core §11.
import { expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { endOfflineSession, listOfflineSessions } from '../../../server/contract/offline-sessions.ts';
import { createUser } from '../../../server/contract/users.ts';
import { createAccountCaller } from '../../support/account-api.ts';
import { CALLBACK, getCode, PASSWORD, redeem, refresh } from '../../support/applications.ts';
import { makeClient } from '../../support/clients.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let userId = '';
let account: ReturnType<typeof createAccountCaller>;
const { later } = freshRealms('off', startTestServer, async (started, fresh) => {
  server = started;
  realm = fresh;
  account = createAccountCaller(server, realm);
  userId = await account.make();
  for (const clientId of ['notes', 'mail'])
    await makeClient(server, realm, {
      clientId,
      name: `The ${clientId}`,
      tokenEndpointAuthMethod: 'none',
      redirectUris: [CALLBACK],
      grantTypes: ['authorization_code', 'refresh_token'],
      defaultClientScopes: ['email'],
      optionalClientScopes: ['offline_access'],
    });
});

async function grant(clientId: string, scope = 'openid email offline_access', username = 'ada') {
  const { body } = await redeem(
    server,
    realm,
    clientId,
    await getCode(server, realm, clientId, { username, parameters: { scope } }),
  );
  return { refreshToken: body.refresh_token, accessToken: String(body.access_token) };
}
const opens = async ({ accessToken }: { accessToken: string }) => {
  const headers = { authorization: `Bearer ${accessToken}` };
  return (await fetch(`${server.baseUrl}/realms/${realm}/oauth2/userinfo`, { headers })).status;
};
const refused = async (clientId: string, { refreshToken }: { refreshToken: unknown }) =>
  (await refresh(server, realm, clientId, refreshToken)).body.error;
const mine = async (call: Awaited<ReturnType<typeof account.byToken>>) =>
  (await call('GET', 'offline-sessions')).body as { id: string; clientId: string }[];
const ofUser = (id = userId) => ({ params: { realm, userId: id } });

test('a person lists what goes on without them, ends one, and its tokens are good no more', async () => {
  const notes = await grant('notes');
  await grant('notes', 'openid email');
  later(1000);
  const mail = await grant('mail');
  later(1000);
  const { refresh_token: next } = (await refresh(server, realm, 'mail', mail.refreshToken)).body;
  const me = await account.byToken();
  const listed = await mine(me);
  expect(listed).toMatchObject([
    {
      clientId: 'mail',
      clientName: 'The mail',
      scopes: ['email', 'offline_access'],
      lastRefreshedAt: expect.any(Number),
    },
    { clientId: 'notes', lastRefreshedAt: null, startedAt: expect.any(Number), expiresAt: expect.any(Number) },
  ]);
  expect((await me('DELETE', `offline-sessions/${listed[1]?.id}`)).status).toBe(204);
  expect((await mine(me)).map(({ clientId }) => clientId)).toEqual(['mail']);
  expect([await refused('notes', notes), await opens(notes)]).toEqual(['invalid_grant', 401]);
  expect(await refused('mail', { refreshToken: next })).toBeUndefined();
  expect((await me('DELETE', `offline-sessions/${listed[1]?.id}`)).status).toBe(404);
  const { body: events } = await server.admin.call(listEvents, { params: { realm }, query: { type: 'TOKEN_REVOKED' } });
  expect(events).toMatchObject([{ clientId: 'notes', subject: { name: 'ada' }, data: { reason: 'self' } }]);
});

test('nobody ends somebody else’s, nor sees it', async () => {
  await account.make({ username: 'bob' });
  const bobs = await grant('notes', 'openid email offline_access', 'bob');
  const [me, bob] = [await account.byToken(), await account.byToken({}, 'bob')];
  const [one] = await mine(bob);
  expect(await mine(me)).toEqual([]);
  expect((await me('DELETE', `offline-sessions/${one?.id}`)).status).toBe(404);
  expect(await refused('notes', bobs)).toBeUndefined();
});

test('the account page shows it after the session is over, and ends it', async () => {
  const notes = await grant('notes');
  const person = createPerson(server.baseUrl);
  const sign = await person.open(`/realms/${realm}/login?for=account`);
  await person.fill(sign, { username: 'ada', password: PASSWORD });
  const page = await person.open(`/realms/${realm}/account?view=applications`);
  expect(page.text).toContain('Access while you are signed out');
  const [, action = ''] = /action="([^"]*offline[^"]*)"/.exec(page.text) ?? [];
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(page.text) ?? [];
  expect((await person.post(action, { csrf: 'made up' })).status).toBe(403);
  const after = await person.post(action, { csrf });
  expect(after.text).toContain('The access was withdrawn');
  expect(after.text).not.toContain('Access while you are signed out');
  expect(await refused('notes', notes)).toBe('invalid_grant');
  expect((await person.post(action, { csrf })).status).toBe(200);
});

test('administrators page through a person’s and end one; who holds less than the person does ends none', async () => {
  const [notes] = [await grant('notes')];
  later(1000);
  await grant('mail');
  const { admin } = server;
  const first = await admin.call(listOfflineSessions, { ...ofUser(), query: { limit: 1 } });
  expect(first.body).toMatchObject([{ clientId: 'mail' }]);
  const cursor = first.nextCursor;
  const { body: rest = [] } = await admin.call(listOfflineSessions, { ...ofUser(), query: { limit: 1, cursor } });
  expect(rest).toMatchObject([{ clientId: 'notes' }]);
  const id = rest[0]?.id ?? '';
  const nobody = '018f0000-0000-7000-8000-000000000000';
  await expect(admin.call(listOfflineSessions, { ...ofUser(nobody), query: {} })).rejects.toMatchObject({
    status: 404,
  });
  await expect(admin.call(endOfflineSession, { params: { realm, userId: nobody, id } })).rejects.toMatchObject({
    status: 404,
  });

  const body = { username: 'helper', password: PASSWORD };
  const helper = (await admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
  const give = (to: string, role: 'user-manager' | 'realm-admin') =>
    admin.call(putUserAdminRoles, { ...ofUser(to), body: { grants: [{ role, realm }] } });
  await give(helper, 'user-manager');
  await give(userId, 'realm-admin');
  const less = await server.signIn({ username: 'helper', password: PASSWORD, realm });
  await expect(less.call(endOfflineSession, { params: { realm, userId, id } })).rejects.toMatchObject({ status: 403 });
  expect((await admin.call(listOfflineSessions, { ...ofUser(), query: {} })).body).toHaveLength(2);
  await admin.call(endOfflineSession, { params: { realm, userId, id } });
  expect([await refused('notes', notes), await opens(notes)]).toEqual(['invalid_grant', 401]);
});
