// Owns: people who come by an invitation and want no password: where that is offered, and what it makes.
// Does not own: the rest of invitations (invitations.test.ts), passkeys at registration (passkey-registration.test.ts).
// Implements: specification 2.6 (invitation-email); decisions "Organization".
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { putFlow } from '../../../server/contract/flows.ts';
import { createInvitation, listInvitations } from '../../../server/contract/invitations.ts';
import { putSettings, type SettingsInput } from '../../../server/contract/settings.ts';
import { listCredentials, listUsers } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { createPerson, decode, type Person, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { createSoftPasskey } from '../../support/soft-passkey.ts';

let server: TestServer;
let realm = '';
let made = 0;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `guests${made}`;
  await makePeopledRealm(server, realm, []);
  await set({ registrationPasskeyEnabled: true, registrationEmailAsUsername: false });
  const executions = [
    { authenticatorId: 'username-password', requirement: 'ALTERNATIVE' as const },
    { authenticatorId: 'webauthn', requirement: 'ALTERNATIVE' as const },
  ];
  await call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
});

const call: typeof server.admin.call = (route, input) => server.admin.call(route, input);
const set = (body: SettingsInput) => call(putSettings, { params: { realm }, body });
const people = async () => (await call(listUsers, { params: { realm } })).body ?? [];
const open = async () => (await call(listInvitations, { params: { realm } })).body?.length;
const person = () => createPerson(server.baseUrl);
const optionsOn = ({ text }: ShownPage) => JSON.parse(decode(/data-passkey="([^"]*)"/.exec(text)?.[1] ?? '{}'));
const softKey = (origin = new URL(server.baseUrl).origin) => createSoftPasskey(origin);
const created = (page: ShownPage, key = softKey()) => ({ passkey: JSON.stringify(key.create(optionsOn(page))) });
async function invited(): Promise<string> {
  const body = { email: `eve@${realm}.example`, mail: false };
  const { pathname, search } = new URL((await call(createInvitation, { params: { realm }, body })).body?.link ?? '');
  return `${pathname}${search}`;
}
async function register(fields: Record<string, string> = {}, who: Person = person()) {
  const link = await invited();
  const page = await who.open(link);
  const token = new URLSearchParams(link.split('?')[1]).get('token') ?? '';
  const filled = { token, username: 'eve', firstName: 'Eve', lastName: 'Evans', how: 'passkey', ...fields };
  return { who, page, after: await who.post(`/realms/${realm}/login/invitation/register`, filled) };
}

test('whoever wants no password sets up a passkey, and has an account with it and not before', async () => {
  const { who, page, after } = await register();
  expect([page.text.includes('With a passkey'), after.heading]).toEqual([true, 'Set up a passkey']);
  const options = optionsOn(after);
  expect(options).toMatchObject({ user: { name: 'eve' }, authenticatorSelection: { userVerification: 'required' } });
  expect([await people(), await open()]).toEqual([[], 1]);
  const key = softKey();
  const done = await who.fill(after, { ...created(after, key), label: ' My phone ' });
  expect(done.heading).toBe('You are in');
  const [eve] = await people();
  expect(eve).toMatchObject({ username: 'eve', firstName: 'Eve', email: `eve@${realm}.example` });
  const held = await call(listCredentials, { params: { realm, userId: eve?.id ?? '' } });
  expect(held.body).toMatchObject([{ type: 'webauthn', label: 'My phone' }]);
  expect(await open()).toBe(0);

  const login = await who.open(`/realms/${realm}/login?for=account`);
  const step = /data-step="([^"]*)"/.exec(login.text)?.[1] ?? '';
  const asserted = { step, passkey: JSON.stringify(key.get(optionsOn(login), options.user.id)) };
  expect((await who.fill(login, asserted)).url).toContain('/account');
});

test('a passkey of another site and none at all make no account, and another try does', async () => {
  const { who, after } = await register();
  for (const sent of [created(after, softKey('https://elsewhere.example')), { passkey: '' }, { passkey: '{' }]) {
    const refused = await who.fill(after, sent);
    expect([refused.heading, refused.text.includes('could not be set up')]).toEqual(['Set up a passkey', true]);
  }
  expect([await people(), await open()]).toEqual([[], 1]);
  expect((await who.fill(after, created(after))).heading).toBe('You are in');
});

test('whoever can make none after all chooses a password, and fills in nothing anew', async () => {
  const { who, after } = await register();
  const { passkey: _, ...rest } = after.fields;
  const path = `/realms/${realm}/login/invitation/register`;
  const form = await who.post(path, { ...rest, instead: '1' });
  expect(form.text).toMatch(/name="username" value="eve"/);
  expect(form.text).toMatch(/name="how" value="password" checked/);
  const done = await who.post(path, { ...rest, how: 'password', password: PASSWORD, repeated: PASSWORD });
  expect(done.heading).toBe('You are in');
});

test('what is wrong is said before a passkey is made, and what is sent with one is checked again', async () => {
  expect((await register({ username: ' ' })).after.text).toContain('Username ');
  const { who, after } = await register();
  const wrong = await who.fill(after, { ...created(after), username: ' ' });
  expect(wrong.text).toContain('role="alert"');
  expect(await people()).toEqual([]);
});

test('where the realm doesn’t want it, nothing offers it, and whoever asks for it is asked for a password', async () => {
  await set({ registrationPasskeyEnabled: false });
  const { page, after } = await register();
  expect([page.text.includes('With a passkey'), after.text.includes('data-passkey')]).toEqual([false, false]);
  expect(after.text).toContain('role="alert"');
  expect(await people()).toEqual([]);
});

test('two passkeys sent at the same moment make one account with one', async () => {
  const { who, after } = await register();
  const pages = await Promise.all([softKey(), softKey()].map((key) => who.fill(after, created(after, key))));
  expect(pages.filter(({ heading }) => heading === 'You are in')).toHaveLength(1);
  const [eve] = await people();
  expect((await call(listCredentials, { params: { realm, userId: eve?.id ?? '' } })).body).toHaveLength(1);
});
