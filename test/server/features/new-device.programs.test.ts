// Owns: the notice of an administrator's sign-in by one request, which has no browser that could be known.
// Does not own: what such a sign-in asks for (admin-sign-in.test.ts), what a report does beside (new-device.test.ts).
// Implements: specification 2.6 (new-device-email); decisions "New devices".
import { expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { exportUserData } from '../../../server/contract/gdpr.ts';
import { listMessages } from '../../../server/contract/messages.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser, setPassword } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { linkIn, type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson } from '../../support/person.ts';

const HERE = '192.0.2.1';
const CURL = 'curl/8.5.0';
let site: MailingServer;
let realm = '';
let userId = '';
const start = (options: { now: () => Date }) =>
  startMailingServer({ ...options, env: { SVC_TRUST_PROXY: '127.0.0.1' } });
const { later } = freshRealms('programs', start, async (started, fresh) => {
  site = started;
  realm = fresh;
  await makePeopledRealm(site.server, realm, []);
  const user = { username: 'boss', password: PASSWORD, email: address(), emailVerified: true };
  userId = (await call(createUser, { params: { realm }, body: user })).body?.id ?? '';
  await call(putUserAdminRoles, { params: { realm, userId }, body: { grants: [{ role: 'realm-admin', realm }] } });
  await site.sendsMail(realm);
});

const address = () => `boss@${realm}.example`;
const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);
/** @returns the session's cookie */
async function signIn({ from = HERE, by = CURL, password = PASSWORD } = {}): Promise<string> {
  const answer = await fetch(`${site.server.baseUrl}/admin/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': from, 'user-agent': by },
    body: JSON.stringify({ realm, username: 'boss', password }),
  });
  expect(answer.status).toBe(204);
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}
const notices = async () =>
  ((await call(listMessages, { params: { realm }, query: {} })).body ?? []).filter(
    ({ templateKey }) => templateKey === 'new-device-email',
  ).length;
/** In steps in which the administrator’s session of these tests stays in use. */
async function anHourLater(): Promise<void> {
  for (let times = 0; times < 3; times += 1) {
    later(25 * 60_000);
    await notices();
  }
}
const kept = async () =>
  (await call(exportUserData, { params: { realm, userId } })).body?.loginEvents.filter(
    ({ type }) => type === 'KNOWN_PROGRAM',
  ).length;

test('an administrator’s sign-in by one request is told from a new network or program, and the same again is not', async () => {
  await anHourLater();
  await signIn();
  expect(await notices()).toBe(1);
  expect(await site.mailTo(address(), 'on a device that we have not seen before')).toContain(HERE);
  await signIn();
  await signIn({ from: '192.0.2.77' });
  expect(await notices()).toBe(1);
  await signIn({ from: '198.51.100.1' });
  expect(await notices()).toBe(2);
  await signIn({ by: 'python-requests/2.32' });
  expect(await notices()).toBe(3);
  await Promise.all([signIn({ by: 'node' }), signIn({ by: 'node' })]);
  expect(await notices()).toBe(4);
});

test('on an account of just now the first program is no news, and the next one is', async () => {
  await signIn();
  expect(await notices()).toBe(0);
  await signIn({ by: 'node' });
  expect(await notices()).toBe(1);
});

test('whoever says that it was not them ends the administrator’s session, and the program is a stranger’s again', async () => {
  await anHourLater();
  const cookie = await signIn();
  const session = () => fetch(`${site.server.baseUrl}/admin/session`, { headers: { cookie } });
  expect((await session()).status).toBe(200);
  const home = createPerson(site.server.baseUrl);
  await home.fill(await home.open(linkIn(await site.mailTo(address(), 'have not seen before'))), {});
  expect((await session()).status).toBe(401);
  expect(await kept()).toBe(0);
  const password = 'four dry umbrellas';
  await call(setPassword, { params: { realm, userId }, body: { password } });
  await signIn({ password });
  expect(await notices()).toBe(2);
});

test('nobody’s browser is known by what a program says of itself', async () => {
  await signIn();
  const who = createPerson(site.server.baseUrl, { 'x-forwarded-for': HERE, 'user-agent': CURL });
  who.jar.set('SVC_DEVICE', encodeURIComponent(JSON.stringify(['192.0.2.0/24', CURL])));
  const page = await who.open(`/realms/${realm}/login`);
  expect((await who.fill(page, { username: 'boss', password: PASSWORD })).url).toContain('/account');
  expect(await notices()).toBe(1);
});

test('a realm that tells of none keeps nothing of them', async () => {
  await call(putSettings, { params: { realm }, body: { newDeviceNoticeEnabled: false } });
  await anHourLater();
  await signIn();
  expect([await kept(), await notices()]).toEqual([0, 0]);
  await call(putSettings, { params: { realm }, body: { newDeviceNoticeEnabled: true } });
  await signIn();
  expect([await kept(), await notices()]).toEqual([1, 1]);
});
