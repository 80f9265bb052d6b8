// Owns: acting for a person ends with the right to, wherever whoever acts comes from.
// Does not own: beginning it, and what may be done meanwhile (impersonation.test.ts).
// Implements: decisions "Single sign-on and freshness", "Impersonation".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as access from '../../../server/contract/admin-access.ts';
import { listAdminRoles, putAdminRole } from '../../../server/contract/admin-roles.ts';
import type { Client } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { impersonateUser } from '../../../server/contract/user-access.ts';
import { createUser, deleteUser, putUser, setPassword } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, post } from '../../support/clients.ts';
import { createPerson, type Person } from '../../support/person.ts';
import { makeProvider, REALM, RP, requestPath, responseParameters } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: REALM };
let server: TestServer;

let n = 0;
beforeAll(async () => {
  server = await startTestServer();
  await makeProvider(server);
});
afterAll(() => server?.stop());

interface Impersonator {
  by: Client;
  id: string;
  home: string;
  name: string;
}
async function impersonator(home: string): Promise<Impersonator> {
  const by = await administrator(server, { home, target: REALM, permissions: ['users:impersonate'] });
  const { body } = await by.call(access.getAdminSession, {});
  return { by, id: body?.id ?? '', home, name: body?.name ?? '' };
}
const somebody = async () =>
  (await server.admin.call(createUser, { params, body: { username: `acted-for-${++n}`, password: PASSWORD } })).body!;

/** A browser in which somebody acts for the person, and what an application got there. */
async function acting({ by }: Pick<Impersonator, 'by'>, userId: string) {
  const { body } = await by.call(impersonateUser, { params: { ...params, userId } });
  const browser = createPerson(server.baseUrl);
  await browser.fill(await browser.open(body!.url.replace(server.baseUrl, '')), {});
  const { code = '' } = responseParameters(await browser.open(requestPath({ scope: 'openid email' })))!;
  const token = (form: Record<string, string>) =>
    post(server, REALM, 'token', form, { authorization: basic('rp') }).then((answer) => answer.body);
  const { refresh_token: refreshToken } = await token({ grant_type: 'authorization_code', code, redirect_uri: RP });
  expect(refreshToken).toBeTypeOf('string');
  return {
    browser,
    sessionId: body!.sessionId,
    refresh: () => token({ grant_type: 'refresh_token', refresh_token: String(refreshToken) }),
  };
}
const heading = async (browser: Person) => (await browser.open(`/realms/${REALM}/account`)).heading;

const admin: Client['call'] = (route, input) => server.admin.call(route, input);
type End = (of: Impersonator) => Promise<unknown>;
const at = ({ home, id }: Impersonator) => ({ params: { realm: home, userId: id } });
const endings: [string, End][] = [
  ['they sign out', ({ by }) => by.call(access.adminLogout, {})],
  ['they get a new password', (one) => admin(setPassword, { ...at(one), body: { password: 'another correct horse' } })],
  ['they are disabled', (one) => admin(putUser, { ...at(one), body: { enabled: false } })],
  ['they are deleted', (one) => admin(deleteUser, at(one))],
  ['they are erased', (one) => admin(eraseUser, at(one))],
  ['the role is taken from them', (one) => admin(access.putUserAdminRoles, { ...at(one), body: { grants: [] } })],
];
const silent: [string, End][] = [
  [
    'their role loses the permission',
    async ({ home, name }) => {
      const { body: roles = [] } = await admin(listAdminRoles, { params: { realm: home } });
      const id = roles.find((role) => role.name === name)?.id ?? '';
      await admin(putAdminRole, { params: { realm: home, id }, body: { name, permissions: ['users:read'] } });
    },
  ],
];

describe.each(['master', REALM])('who comes from %s acts for nobody any more once', (home) => {
  test.each([...endings, ...silent])('%s', async (_, end) => {
    const person = await somebody();
    const one = await impersonator(home);
    const other = await impersonator(home);
    const theirs = await acting(one, person.id);
    const others = await acting(other, person.id);
    await end(one);
    expect(await heading(theirs.browser)).toBe('Sign in');
    expect(await theirs.refresh()).toMatchObject({ error: 'invalid_grant' });
    const { body: sessions = [] } = await admin(listSessions, { params, query: { userId: person.id } });
    expect(sessions.map(({ id }) => id)).toEqual([others.sessionId]);
    expect(await heading(others.browser)).toBe(person.username);
    expect(await others.refresh()).toMatchObject({ token_type: 'Bearer' });
  });

  test.each(endings)('%s, and the application hears of it', async (_, end) => {
    const person = await somebody();
    const one = await impersonator(home);
    const { sessionId } = await acting(one, person.id);
    await end(one);
    const { body: events = [] } = await admin(listEvents, { params, query: { type: 'SESSION_ENDED' } });
    expect(events.find(({ data }) => data.sessionId === sessionId)).toMatchObject({
      subject: { id: person.id },
      data: { reason: 'impersonator-ended', clients: ['rp'] },
    });
    const { rows } = await server.pool.query('select from session where impersonator::text like $1', [`%${one.id}%`]);
    expect(rows).toEqual([]);
  });
});
