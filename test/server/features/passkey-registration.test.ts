// Owns: people who make their own account without a password: where that is offered, when the account is made, and what it can do.
// Does not own: the rest of registration (self-registration.test.ts), what a browser shows of it (test/browser/passkeys.test.ts).
// Implements: specification 4.2 (self-registration page).
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { putSettings, type SettingsInput } from '../../../server/contract/settings.ts';
import { createUser, listCredentials, listUsers } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { codeIn, type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson, decode, type ShownPage } from '../../support/person.ts';
import { createSoftPasskey } from '../../support/soft-passkey.ts';

const either: ExecutionInput[] = [
  { authenticatorId: 'username-password', requirement: 'ALTERNATIVE' },
  { authenticatorId: 'webauthn', requirement: 'ALTERNATIVE', config: { userVerification: 'required' } },
];
let site: MailingServer;
let realm = '';
let made = 0;
beforeAll(async () => {
  site = await startMailingServer({ env: { USER_REGISTRATION_ENABLED: 'true' } });
});
afterAll(() => site?.stop());
beforeEach(async () => {
  made += 1;
  realm = `keyed${made}`;
  await makePeopledRealm(site.server, realm, []);
  await set({ registrationPasskeyEnabled: true });
  await flow(either);
});

const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);
const set = (body: SettingsInput) => call(putSettings, { params: { realm }, body });
const flow = (executions: ExecutionInput[]) =>
  call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
const people = async () => (await call(listUsers, { params: { realm } })).body ?? [];
const address = () => `ada@${realm}.example`;
const softKey = (origin = new URL(site.server.baseUrl).origin) => createSoftPasskey(origin);
const optionsOn = ({ text }: ShownPage) => JSON.parse(decode(/data-passkey="([^"]*)"/.exec(text)?.[1] ?? '{}'));
const created = (page: ShownPage, key = softKey()) => ({ passkey: JSON.stringify(key.create(optionsOn(page))) });
async function register(fields: Record<string, string> = {}) {
  const who = createPerson(site.server.baseUrl);
  const page = await who.open(`/realms/${realm}/register`);
  return { who, page, after: await who.fill(page, { email: address(), how: 'passkey', ...fields }) };
}

test('whoever wants no password sets up a passkey, and has an account then and not before', async () => {
  await site.sendsMail(realm);
  const { who, page, after } = await register();
  expect(page.text).toContain('With a passkey');
  expect(after.heading).toBe('Confirm your e-mail address');
  const offered = await who.fill(after, { code: codeIn(await site.mailTo(address(), 'enter this code')) });
  expect(offered.heading).toBe('Set up a passkey');
  expect(optionsOn(offered)).toMatchObject({
    user: { name: address() },
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  expect(await people()).toEqual([]);
  const key = softKey();
  const done = await who.fill(offered, { ...created(offered, key), label: 'My phone' });
  expect(done.url).toContain('/account');
  const [ada] = await people();
  expect(ada).toMatchObject({ username: address(), emailVerified: true });
  const held = await call(listCredentials, { params: { realm, userId: ada?.id ?? '' } });
  expect(held.body).toMatchObject([{ type: 'webauthn', label: 'My phone' }]);
  const told = await call(listEvents, { params: { realm }, query: { type: 'USER_CREATED' } });
  expect(told.body).toMatchObject([{ data: { registered: true, passkey: true } }]);

  const later = createPerson(site.server.baseUrl);
  const login = await later.open(`/realms/${realm}/login`);
  const step = /data-step="([^"]*)"/.exec(login.text)?.[1] ?? '';
  const handle = optionsOn(offered).user.id;
  const asserted = { step, passkey: JSON.stringify(key.get(optionsOn(login), handle)) };
  expect((await later.fill(login, asserted)).url).toContain('/account');
});

test.each<{ where: string; settings?: SettingsInput; executions?: ExecutionInput[] }>([
  { where: 'the realm doesn’t want it', settings: { registrationPasskeyEnabled: false } },
  {
    where: 'the flow asks for a password',
    executions: [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }],
  },
  {
    where: 'the flow asks for a passkey beside a password',
    executions: [
      { authenticatorId: 'username-password', requirement: 'REQUIRED' },
      { authenticatorId: 'webauthn', requirement: 'REQUIRED' },
    ],
  },
])('where $where, a passkey is not offered, and whoever sends none of a password is asked for one', async (given) => {
  if (given.settings) await set(given.settings);
  if (given.executions) await flow(given.executions);
  const { page, after } = await register();
  expect(page.text).not.toContain('With a passkey');
  expect(after.text).toContain('The password must');
  expect(await people()).toEqual([]);
});

test('a passkey that was made elsewhere makes no account, and another try does', async () => {
  const { who, after } = await register();
  expect(after.heading).toBe('Set up a passkey');
  const refused = await who.fill(after, created(after, softKey('https://elsewhere.example')));
  expect([refused.heading, refused.text]).toEqual(['Set up a passkey', expect.stringContaining('could not be set up')]);
  expect((await who.fill(refused, {})).heading).toBe('Set up a passkey');
  expect(await people()).toEqual([]);
  expect((await who.fill(refused, created(refused))).url).toContain('/account');
  expect(await people()).toMatchObject([{ username: address(), emailVerified: false }]);
});

test('where the flow accepts device-bound passkeys alone, a synced one makes no account', async () => {
  await flow(either.map((one) => ({ ...one, ...(one.config && { config: { ...one.config, deviceBound: true } }) })));
  const { who, after } = await register();
  const synced = createSoftPasskey(new URL(site.server.baseUrl).origin, { make: { synced: true } });
  const refused = await who.fill(after, created(after, synced));
  expect(refused.text).toContain('does not accept this kind of passkey');
  expect(await people()).toEqual([]);
  expect((await who.fill(refused, created(refused))).url).toContain('/account');
});

test('whoever can make none after all chooses a password on the same way', async () => {
  await site.sendsMail(realm);
  const { who, after } = await register();
  const offered = await who.fill(after, { code: codeIn(await site.mailTo(address(), 'enter this code')) });
  const asked = await who.fill(offered, { instead: '1' });
  expect(asked.heading).toBe('Choose a password');
  expect((await who.fill(asked, { password: 'short', repeated: 'short' })).heading).toBe('Choose a password');
  expect(await people()).toEqual([]);
  expect((await who.fill(asked, { password: PASSWORD, repeated: PASSWORD })).url).toContain('/account');
  expect(await people()).toMatchObject([{ username: address(), emailVerified: true }]);
});

test('a password does as ever where a passkey is offered', async () => {
  const { after } = await register({ how: 'password', password: PASSWORD, repeated: PASSWORD });
  expect(after.url).toContain('/account');
});

test('nobody gets the account of whoever took the name meanwhile', async () => {
  const { who, after } = await register();
  const username = address();
  await call(createUser, { params: { realm }, body: { username, password: PASSWORD } });
  const refused = await who.fill(after, created(after));
  expect(refused.text).toContain('An account with this name or address can’t be created.');
  const [theirs] = await people();
  const held = await call(listCredentials, { params: { realm, userId: theirs?.id ?? '' } });
  expect(held.body).toMatchObject([{ type: 'password' }]);
});

test('a double click makes one account and signs in', async () => {
  const { who, after } = await register();
  const form = created(after);
  const both = await Promise.all([who.fill(after, form), who.fill(after, form)]);
  expect(both.map(({ url }) => url.includes('/account'))).toEqual([true, true]);
  expect(await people()).toHaveLength(1);
});
