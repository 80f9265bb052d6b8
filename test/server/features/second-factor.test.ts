// Owns: who holds a second factor proves one of theirs before another is set up, whatever the flow names.
// Does not own: the engine's cases (engine.unit.test.ts), each factor's own tests.
// Implements: specification 2.1, 2.2; decisions "Second factors that people hold".
import { expect, test } from 'vitest';
import { type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { listCredentials, putRequiredActions } from '../../../server/contract/users.ts';
import { createAccountCaller } from '../../support/account-api.ts';
import { authorizePath, newVerifier, PASSWORD } from '../../support/applications.ts';
import { setUpApp } from '../../support/authenticator-app.ts';
import { deviceFor, numberOn } from '../../support/devices.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { answerByPasskey, createSoftPasskey } from '../../support/soft-passkey.ts';

let server: TestServer;
let realm = '';
let ada = '';
let account: ReturnType<typeof createAccountCaller>;
const { later, seconds } = freshRealms('second', startTestServer, async (started, fresh) => {
  server = started;
  realm = fresh;
  account = createAccountCaller(server, realm);
  ada = await account.make();
});

/** @returns how a page that asks for it is answered */
async function holdsPasskey(): Promise<(page: ShownPage) => Record<string, string>> {
  const key = createSoftPasskey(new URL(server.baseUrl).origin);
  const me = await account.byToken();
  const { ticket, publicKey } = Object((await me('POST', 'credentials/webauthn/start')).body);
  expect((await me('POST', 'credentials/webauthn', { ticket, response: key.create(publicKey) })).status).toBe(201);
  return (page) => answerByPasskey(key, page, publicKey.user.id);
}
/** @returns the code of the moment */
async function holdsApp(): Promise<() => string> {
  const code = await setUpApp(await account.byToken(), () => seconds() * 1000);
  later(31_000);
  return code;
}
async function byPassword(more: Record<string, string> = {}): Promise<{ person: Person; page: ShownPage }> {
  const person = createPerson(server.baseUrl);
  const page = await person.open(authorizePath(realm, 'manager', newVerifier(), more));
  return { person, page: await person.fill(page, { username: 'ada', password: PASSWORD }) };
}
const flow = (...executions: ExecutionInput[]) =>
  server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
const only = (authenticatorId: string): ExecutionInput => ({ authenticatorId, requirement: 'REQUIRED' });
/** As realms were seeded before, and as many are imported. */
const CODE_OF_AN_APP: ExecutionInput[] = [
  only('username-password'),
  { name: 'Second factor', requirement: 'CONDITIONAL', executions: [only('mfa-enabled'), only('otp')] },
];
const isIn = ({ url }: ShownPage) => url.startsWith('http://127.0.0.1/callback?code=');
const held = async () =>
  ((await server.admin.call(listCredentials, { params: { realm, userId: ada } })).body ?? []).map(({ type }) => type);

test('in a fresh realm a passkey beside the password is asked for, and is enough', async () => {
  const answer = await holdsPasskey();
  const { person, page } = await byPassword();
  expect(page.heading).toBe('Use your passkey');
  expect(isIn(await person.fill(page, answer(page)))).toBe(true);
});

test('in a fresh realm a device beside the password is asked for, and is enough', async () => {
  const device = await deviceFor(server, realm, ada, { clock: seconds });
  const { person, page } = await byPassword();
  expect(page.heading).toBe('Approve on your device');
  const [waiting] = (await device.waiting()).body;
  await device.approve(waiting.id, numberOn(page));
  expect(isIn(await person.open(`/realms/${realm}/login`))).toBe(true);
});

test('in a fresh realm who has lost their app signs in by a recovery code', async () => {
  const { codes } = Object((await (await account.byToken())('POST', 'credentials/recovery-codes')).body);
  await holdsApp();
  const { person, page } = await byPassword();
  expect(Object.keys(page.fields)).toContain('code');
  expect(page.text).toMatch(/Lost your phone\?.*\n<p>Use another way that this page offers\./);
  const [, execution = ''] = /name="execution" value="([^"]+)"/.exec(page.text) ?? [];
  const { csrf = '' } = page.fields;
  const instead = await person.post(`/realms/${realm}/login`, { csrf, do: 'choose', execution });
  expect(instead.heading).toBe('Use a recovery code');
  expect(isIn(await person.fill(instead, { code: codes[0] }))).toBe(true);
});

test('where a flow asks for an app alone, nobody sets one up by the password who holds a passkey', async () => {
  const answer = await holdsPasskey();
  await flow(...CODE_OF_AN_APP);
  const { person, page } = await byPassword();
  expect(page.heading).toBe('Use your passkey');
  expect(await held()).toEqual(['password', 'webauthn']);
  const next = await person.fill(page, answer(page));
  expect(next.heading).toBe('Set up a second factor');
});

test('whoever asks for a higher level sets nothing up before their own second factor', async () => {
  const code = await holdsApp();
  await flow(only('username-password'));
  for (const acr of ['3', '6']) {
    const { page } = await byPassword({ acr_values: acr });
    expect([acr, page.heading]).toEqual([acr, 'Enter your code']);
  }
  const { person, page } = await byPassword({ acr_values: '3' });
  expect((await person.fill(page, { code: code() })).heading).toBe('Set up a passkey');
});

test('where a realm requires a second factor, theirs is asked for although the flow names another', async () => {
  const answer = await holdsPasskey();
  await server.admin.call(putSettings, { params: { realm }, body: { requireMfa: true } });
  await flow(only('username-password'), { authenticatorId: 'otp', requirement: 'CONDITIONAL' });
  const { person, page } = await byPassword();
  expect(page.heading).toBe('Use your passkey');
  expect(isIn(await person.fill(page, answer(page)))).toBe(true);
});

test('what an administrator wants to be set up waits for a second factor of theirs', async () => {
  const answer = await holdsPasskey();
  await flow(only('username-password'));
  const body = { requiredActions: ['CONFIGURE_OTP' as const] };
  await server.admin.call(putRequiredActions, { params: { realm, userId: ada }, body });
  const { person, page } = await byPassword();
  expect(page.heading).toBe('Use your passkey');
  expect((await person.fill(page, answer(page))).heading).toBe('Set up a second factor');
});

test.each(['VERIFY_EMAIL', 'VERIFY_PHONE'] as const)(
  'where codes are sent to is said by nobody who knows the password alone (%s)',
  async (action) => {
    const code = await holdsApp();
    await flow(only('username-password'));
    const body = { requiredActions: [action] };
    await server.admin.call(putRequiredActions, { params: { realm, userId: ada }, body });
    const { person, page } = await byPassword();
    expect(page.heading).toBe('Enter your code');
    const next = await person.fill(page, { code: code() });
    expect([isIn(next), next.heading]).not.toEqual([false, 'Enter your code']);
  },
);

test('who has a password alone still sets up a second factor where one is required', async () => {
  await server.admin.call(putSettings, { params: { realm }, body: { requireMfa: true } });
  const { page } = await byPassword();
  expect(page.heading).toBe('Set up a second factor');
});
