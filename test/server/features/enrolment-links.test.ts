// Owns: links by which people set up anew what they have lost, as administrators give them out.
// Does not own: what a passkey or an app is checked by (browser/passkeys.test.ts, sign-in.test.ts), forgotten passwords (recovery.test.ts).
// Implements: specification 4.10.
import { expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import type { Client } from '../../../server/contract/client.ts';
import { ServerProblem } from '../../../server/contract/client.ts';
import { createEnrolmentLink, deleteEnrolmentLink } from '../../../server/contract/enrolment-links.ts';
import { type EventType, listEvents } from '../../../server/contract/events.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { createUser, listCredentials, putUser, setPassword } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { createSoftPasskey } from '../../support/soft-passkey.ts';

let server: TestServer;
let realm = '';
let userId = '';
const clock = freshRealms('enrolment', startTestServer, async (started, fresh) => {
  server = started;
  realm = fresh;
  await makePeopledRealm(server, realm, []);
  userId = await made({ username: 'ada', password: PASSWORD });
});

const made = async (body: { username: string; password?: string; requiredActions?: ['CONFIGURE_OTP'] }) =>
  (await server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
const browser = () => createPerson(server.baseUrl);
async function link(action: 'CONFIGURE_PASSKEY' | 'CONFIGURE_OTP', more: object = {}, by: Client = server.admin) {
  const { body } = await by.call(createEnrolmentLink, { params: { realm, userId }, body: { action, ...more } });
  const { pathname, search } = new URL(body?.link ?? '');
  return `${pathname}${search}`;
}
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (error instanceof ServerProblem ? `${error.status} ${error.problem?.type}` : String(error)),
  );
const credentials = async () =>
  (await server.admin.call(listCredentials, { params: { realm, userId } })).body?.map(({ type }) => type).sort();
const sessions = async () => (await server.admin.call(listSessions, { params: { realm } })).body ?? [];
const events = async (type: EventType) =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body ?? [];
const moment = () => clock.seconds() * 1000;
/** What a page's script would fill in. */
function passkeyFor(page: ShownPage, origin = server.baseUrl): string {
  const [, given = '{}'] = /data-passkey="([^"]*)"/.exec(page.text) ?? [];
  return JSON.stringify(createSoftPasskey(origin).create(JSON.parse(given.replaceAll('&quot;', '"'))));
}
async function signIn(more: Record<string, string> = {}, who = browser()) {
  return who.fill(await who.open(`/realms/${realm}/login`), { username: 'ada', password: PASSWORD, ...more });
}
const USELESS = { status: 400, heading: 'This link does not work here' };

test('whoever has lost their app sets up another one by the link, and the old one and its sessions are gone', async () => {
  const who = browser();
  await server.admin.call(putUser, { params: { realm, userId }, body: { requiredActions: ['CONFIGURE_OTP'] } });
  const first = await signIn({}, who);
  const lost = secretOn(first);
  expect((await who.fill(first, { code: codeAt(lost, moment()) })).url).toContain('/account');
  clock.later(60_000);
  const helped = browser();
  const page = await helped.open(await link('CONFIGURE_OTP'));
  expect(page).toMatchObject({ status: 200, heading: 'Set up a second factor' });
  const found = secretOn(page);
  expect(found).not.toBe(lost);
  const done = await helped.fill(page, { code: codeAt(found, moment()), label: 'New phone' });
  expect(done.heading).toBe('It is set up');
  expect(await credentials()).toEqual(['otp', 'password']);
  expect(await sessions()).toEqual([]);
  expect((await helped.open(`/realms/${realm}/account`)).heading).toBe('Sign in');
  clock.later(60_000);
  const again = browser();
  const asked = await signIn({}, again);
  expect((await again.fill(asked, { code: codeAt(lost, moment()) })).text).toContain('That code is not right');
  expect((await again.fill(asked, { code: codeAt(found, moment()) })).url).toContain('/account');
});

test('whoever has lost their only passkey sets up another one, by which they are found again', async () => {
  const who = browser();
  const page = await who.open(await link('CONFIGURE_PASSKEY'));
  expect([page.heading, page.text.includes('For the account ada.')]).toEqual(['Set up a passkey', true]);
  expect((await who.fill(page, { passkey: passkeyFor(page) })).heading).toBe('It is set up');
  expect(await credentials()).toEqual(['password', 'webauthn']);
  const [created] = await events('ENROLMENT_LINK_CREATED');
  expect(created).toMatchObject({
    actor: { name: 'admin' },
    subject: { id: userId },
    data: { action: 'CONFIGURE_PASSKEY' },
  });
  expect(await events('ENROLMENT_LINK_USED')).toMatchObject([{ actor: { id: userId }, subject: { id: userId } }]);
  const second = await who.open(await link('CONFIGURE_PASSKEY', { replaces: false }));
  await who.fill(second, { passkey: passkeyFor(second) });
  expect(await credentials()).toEqual(['password', 'webauthn', 'webauthn']);
  const third = await who.open(await link('CONFIGURE_PASSKEY'));
  await who.fill(third, { passkey: passkeyFor(third) });
  expect(await credentials()).toEqual(['password', 'webauthn']);
});

test('opening a link does nothing, a wrong code leaves it as it was, and it works once', async () => {
  const path = await link('CONFIGURE_OTP');
  const who = browser();
  for (let times = 0; times < 3; times += 1) expect((await browser().open(path)).status).toBe(200);
  const page = await who.open(path);
  const wrong = await who.fill(page, { code: '000000', label: 'Phone' });
  for (const { text } of [page, wrong]) expect(text).toContain('For the account ada.');
  expect(wrong.text).toContain('That code is not right');
  expect(secretOn(wrong)).toBe(secretOn(page));
  expect((await who.fill(wrong, { code: codeAt(secretOn(page), moment()) })).heading).toBe('It is set up');
  expect(await who.fill(wrong, { code: codeAt(secretOn(page), moment()) })).toMatchObject(USELESS);
  expect(await browser().open(path)).toMatchObject(USELESS);
  expect(await events('ENROLMENT_LINK_USED')).toHaveLength(1);
});

test('two forms at once set up one', async () => {
  const who = browser();
  const page = await who.open(await link('CONFIGURE_OTP', { replaces: false }));
  const code = codeAt(secretOn(page), moment());
  const both = await Promise.all([who.fill(page, { code }), who.fill(page, { code })]);
  expect(both.map(({ heading }) => heading).sort()).toEqual(['It is set up', 'This link does not work here']);
  expect(await credentials()).toEqual(['otp', 'password']);
});

test('a passkey of another site, or made for another link, is none', async () => {
  const who = browser();
  const other = await who.open(await link('CONFIGURE_PASSKEY'));
  const page = await who.open(await link('CONFIGURE_PASSKEY'));
  for (const passkey of [passkeyFor(page, 'https://evil.example'), passkeyFor(other), '{}', ''])
    expect((await who.fill(page, { passkey })).text).toContain('The passkey could not be set up');
  expect(await credentials()).toEqual(['password']);
});

test('a link ends after an hour, when another takes its place, and while its person is disabled', async () => {
  const first = await link('CONFIGURE_OTP');
  const second = await link('CONFIGURE_OTP', { expiresInSeconds: 7200 });
  expect(await browser().open(first)).toMatchObject(USELESS);
  expect((await browser().open(second)).status).toBe(200);
  await server.admin.call(putUser, { params: { realm, userId }, body: { enabled: false } });
  expect(await browser().open(second)).toMatchObject(USELESS);
  expect(await refusal(link('CONFIGURE_OTP'))).toBe('409 urn:svc:problem:wrong-state');
  await server.admin.call(putUser, { params: { realm, userId }, body: { enabled: true } });
  const third = await link('CONFIGURE_OTP');
  const who = browser();
  const page = await who.open(third);
  clock.later(3_600_001);
  expect(await who.fill(page, { code: codeAt(secretOn(page), moment()) })).toMatchObject(USELESS);
});

test('a link that nobody made, another realm’s, and a form from elsewhere do nothing', async () => {
  const path = await link('CONFIGURE_OTP');
  expect(await browser().open(`/realms/${realm}/login/enrol?token=none`)).toMatchObject(USELESS);
  expect(await browser().open(`/realms/${realm}/login/enrol`)).toMatchObject(USELESS);
  expect(await browser().open(path.replace(realm, 'master'))).toMatchObject(USELESS);
  const page = await browser().open(path);
  const elsewhere = createPerson(server.baseUrl, { 'sec-fetch-site': 'cross-site' });
  const code = codeAt(secretOn(page), moment());
  expect((await elsewhere.post(`/realms/${realm}/login/enrol`, { ...page.fields, code })).status).toBe(403);
  expect(await credentials()).toEqual(['password']);
});

test('whoever may not write users, or holds less than the person, makes none', async () => {
  const reader = await administrator(server, { target: realm, permissions: ['users:read'] });
  expect(await refusal(link('CONFIGURE_OTP', {}, reader))).toMatch(/^403/);
  const writer = await administrator(server, { target: realm, permissions: ['users:read', 'users:write'] });
  expect(await refusal(link('CONFIGURE_OTP', {}, writer))).toBeUndefined();
  await administrator(server, { home: realm, target: realm, permissions: ['settings:write'] });
  const { rows } = await server.pool.query(
    `select u.id from realm_user u join admin_grant g on g.realm_id = u.realm_id and g.user_id = u.id where u.realm_id = $1`,
    [realm],
  );
  userId = rows[0].id;
  expect(await refusal(link('CONFIGURE_OTP', {}, writer))).toBe('403 urn:svc:problem:privilege-escalation');
  expect(await refusal(link('CONFIGURE_OTP', { action: 'UPDATE_PASSWORD' }))).toMatch(/^400/);
  userId = '00000000-0000-4000-8000-000000000000';
  expect(await refusal(link('CONFIGURE_OTP'))).toMatch(/^404/);
});

test('a link is good no more once its person holds what its maker does not, or its maker may do less or is disabled', async () => {
  const writer = await administrator(server, { target: realm, permissions: ['users:read', 'users:write'] });
  const { rows } = await server.pool.query(
    `select g.user_id as id, r.name from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
     where g.realm_id = 'master' and g.target_realm = $1`,
    [realm],
  );
  const maker = { realm: 'master', userId: String(rows[0]?.id) };
  const writes = [{ role: String(rows[0]?.name), realm }];
  const path = await link('CONFIGURE_OTP', {}, writer);
  const who = browser();
  const page = await who.open(path);
  const tried = async () => (await browser().open(path)).status;
  expect([page.status, await tried()]).toEqual([200, 200]);

  const settings = await administrator(server, { home: realm, target: realm, permissions: ['settings:write'] });
  expect(settings).toBeDefined();
  const more = await server.pool.query(
    `select name from admin_role where realm_id = $1 and permissions @> '{settings:write}'`,
    [realm],
  );
  const params = { realm, userId };
  await server.admin.call(putUserAdminRoles, {
    params,
    body: { grants: [{ role: String(more.rows[0]?.name), realm }] },
  });
  expect(await tried()).toBe(400);
  expect(await who.fill(page, { code: codeAt(secretOn(page), moment()) })).toMatchObject(USELESS);
  await server.admin.call(putUserAdminRoles, { params, body: { grants: [] } });
  expect(await tried()).toBe(200);

  await server.admin.call(putUserAdminRoles, { params: maker, body: { grants: [] } });
  expect(await tried()).toBe(400);
  await server.admin.call(putUserAdminRoles, { params: maker, body: { grants: writes } });
  expect(await tried()).toBe(200);
  await server.admin.call(putUser, { params: maker, body: { enabled: false } });
  await server.admin.call(putUser, { params: maker, body: { enabled: true } });
  expect(await tried()).toBe(400);
  expect(await credentials()).toEqual(['password']);
});

test('a link ends for good with a new password of its person, and with their being disabled', async () => {
  const params = { realm, userId };
  const ends = [
    () => server.admin.call(setPassword, { params, body: { password: 'four dry umbrellas' } }),
    async () => {
      await server.admin.call(putUser, { params, body: { enabled: false } });
      return server.admin.call(putUser, { params, body: { enabled: true } });
    },
  ];
  for (const end of ends) {
    const path = await link('CONFIGURE_OTP');
    expect((await browser().open(path)).status).toBe(200);
    await end();
    expect(await browser().open(path)).toMatchObject(USELESS);
  }
});

test('a link is taken back, by nobody who couldn’t make it; then there is none', async () => {
  const path = await link('CONFIGURE_OTP');
  const params = { realm, userId };
  const reader = await administrator(server, { target: realm, permissions: ['users:read'] });
  expect(await refusal(reader.call(deleteEnrolmentLink, { params }))).toMatch(/^403/);
  expect((await browser().open(path)).status).toBe(200);
  expect((await server.admin.call(deleteEnrolmentLink, { params })).status).toBe(204);
  expect(await browser().open(path)).toMatchObject(USELESS);
  expect(await refusal(server.admin.call(deleteEnrolmentLink, { params }))).toBe('404 urn:svc:problem:not-found');
  expect(await events('ENROLMENT_LINK_ENDED')).toMatchObject([{ actor: { name: 'admin' }, subject: { id: userId } }]);
});
