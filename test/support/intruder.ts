// Owns: an intruder who is signed in as a user in every possible way, and the check of which access still works.
// Does not own: the application (applications.ts), the person's own browser (person.ts).
// Implements: tests of the ends of a user's access.
import { getAdminSession, putUserAdminRoles } from '../../server/contract/admin-access.ts';
import type { Client } from '../../server/contract/client.ts';
import { createEnrolmentToken } from '../../server/contract/devices.ts';
import { createUser, listUsers } from '../../server/contract/users.ts';
import { CALLBACK, getCode, PASSWORD, redeem, refresh } from './applications.ts';
import { basic, makeClient, makeRealm, post, SECRET } from './clients.ts';
import { createPerson, type Person } from './person.ts';
import type { TestServer } from './server.ts';

/** A realm with the application `spa`, the resource server `api`, and people who administer the realm. @returns their ids */
export async function makeGuardedRealm(server: TestServer, realm: string, usernames: readonly string[]) {
  await makeRealm(server, realm);
  await makeClient(server, realm, {
    clientId: 'spa',
    tokenEndpointAuthMethod: 'none',
    redirectUris: [CALLBACK],
    optionalClientScopes: ['offline_access'],
  });
  const allowedResources = [`${server.baseUrl}/realms/${realm}`];
  await makeClient(server, realm, { clientId: 'api', secret: SECRET, allowedResources });
  const ids = new Map<string, string>();
  for (const username of usernames) {
    const { body } = await server.admin.call(createUser, { params: { realm }, body: { username, password: PASSWORD } });
    const userId = body?.id ?? '';
    const grants = [{ role: 'realm-admin', realm }];
    await server.admin.call(putUserAdminRoles, { params: { realm, userId }, body: { grants } });
    ids.set(username, userId);
  }
  return (username: string): string => ids.get(username) ?? '';
}

export interface Intruder {
  browser: Person;
  /** Of the browser's session. */
  online: Record<string, unknown>;
  offline: Record<string, unknown>;
  /** Not exchanged yet. */
  code: { code: string; verifier: string };
  administrator: Client;
  /** An enrolment token of a device. */
  enrolment: string;
}

const OFFLINE = { parameters: { scope: 'openid offline_access' } };

export async function breakIn(server: TestServer, realm: string, username: string): Promise<Intruder> {
  const person = createPerson(server.baseUrl);
  const code = async (more = {}) => getCode(server, realm, 'spa', { person, username, ...more });
  const tokens = async (more = {}) => (await redeem(server, realm, 'spa', await code(more))).body;
  const [user] = (await server.admin.call(listUsers, { params: { realm }, query: { q: username } })).body ?? [];
  const offered = await server.admin.call(createEnrolmentToken, { params: { realm, userId: user?.id ?? '' } });
  return {
    browser: person,
    online: await tokens(),
    offline: await tokens(OFFLINE),
    code: await code(),
    administrator: await server.signIn({ realm, username, password: PASSWORD }),
    enrolment: offered.body?.token ?? '',
  };
}

/** The access that still works. Call it once: it uses up refresh tokens and codes. */
export async function whatHolds(server: TestServer, realm: string, { browser, ...held }: Intruder): Promise<string[]> {
  const introspected = async (token: unknown) => {
    const headers = { authorization: basic('api') };
    return (await post(server, realm, 'introspect', { token: String(token) }, headers)).body.active === true;
  };
  const userinfo = async (token: unknown) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${server.baseUrl}/realms/${realm}/oauth2/userinfo`, { headers })).ok;
  };
  const asks: Record<string, () => Promise<boolean>> = {
    session: async () => (await browser.open(`/realms/${realm}/account`)).heading !== 'Sign in',
    'access token': () => introspected(held.online.access_token),
    userinfo: () => userinfo(held.online.access_token),
    'offline access token': () => introspected(held.offline.access_token),
    'offline userinfo': () => userinfo(held.offline.access_token),
    administrator: () =>
      held.administrator.call(getAdminSession).then(
        () => true,
        () => false,
      ),
    'device enrolment': async () => {
      const headers = { authorization: `Bearer ${held.enrolment}` };
      return (await fetch(`${server.baseUrl}/realms/${realm}/device/enroll/start`, { method: 'POST', headers })).ok;
    },
    code: async () => (await redeem(server, realm, 'spa', held.code)).status === 200,
    'refresh token': async () => (await refresh(server, realm, 'spa', held.online.refresh_token)).status === 200,
    'offline token': async () => (await refresh(server, realm, 'spa', held.offline.refresh_token)).status === 200,
  };
  const found: string[] = [];
  for (const [name, ask] of Object.entries(asks)) if (await ask()) found.push(name);
  return found;
}

export const EVERYTHING = [
  'session',
  'access token',
  'userinfo',
  'offline access token',
  'offline userinfo',
  'administrator',
  'device enrolment',
  'code',
  'refresh token',
  'offline token',
];
