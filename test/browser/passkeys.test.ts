import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../server/contract/events.ts';
import type { ExecutionInput } from '../../server/contract/flows.ts';
import { putFlow } from '../../server/contract/flows.ts';
import { createInvitation } from '../../server/contract/invitations.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { listSessions } from '../../server/contract/sessions.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { createUser, deleteCredential, listCredentials, putRequiredActions } from '../../server/contract/users.ts';
import { launchBrowser } from '../support/chromium.ts';
import { addAuthenticator, type VirtualAuthenticator } from '../support/passkeys.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const PASSWORD = 'three wet umbrellas';
let server: TestServer;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let device: VirtualAuthenticator;
let complaints: string[];
let made = 0;

beforeAll(async () => {
  server = await startTestServer({ env: { USER_REGISTRATION_ENABLED: 'true' } });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});
beforeEach(async () => {
  complaints = [];
  context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  device = await addAuthenticator(context, page);
});
afterEach(() => context.close());

const either: ExecutionInput[] = [
  { authenticatorId: 'username-password', requirement: 'ALTERNATIVE' },
  { authenticatorId: 'webauthn', requirement: 'ALTERNATIVE' },
];
const both: ExecutionInput[] = [
  { authenticatorId: 'username-password', requirement: 'REQUIRED' },
  { authenticatorId: 'webauthn', requirement: 'REQUIRED' },
];

async function realmWith(executions: ExecutionInput[]): Promise<{ realm: string; userId: string }> {
  made += 1;
  const realm = `p${made}`;
  await server.admin.call(createRealm, { body: { realm } });
  await server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
  const user = { username: 'alice', password: PASSWORD };
  const { body } = await server.admin.call(createUser, { params: { realm }, body: user });
  return { realm, userId: body?.id ?? '' };
}
const login = (realm: string) => page.goto(`${server.baseUrl}/realms/${realm}/login`);
const account = (realm: string) => page.waitForURL(`${server.baseUrl}/realms/${realm}/account*`);
const heading = (text: string) => page.getByRole('heading', { level: 1, name: text }).waitFor();
async function password(): Promise<void> {
  await page.getByLabel('Username or e-mail').fill('alice');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
/** Signs in by password and sets up a passkey, because an administrator wants it. */
async function enrol({ realm, userId }: { realm: string; userId: string }): Promise<void> {
  const requiredActions = ['CONFIGURE_PASSKEY' as const];
  await server.admin.call(putRequiredActions, { params: { realm, userId }, body: { requiredActions } });
  await login(realm);
  await password();
  await heading('Set up a passkey');
  await page.getByLabel('Name of the passkey').fill('My phone');
  await page.getByRole('button', { name: 'Set up a passkey' }).click();
  await account(realm);
}
const anew = () => context.clearCookies();
const passkeys = async (realm: string, userId: string) =>
  ((await server.admin.call(listCredentials, { params: { realm, userId } })).body ?? []).filter(
    ({ type }) => type === 'webauthn',
  );
const session = async (realm: string) => (await server.admin.call(listSessions, { params: { realm } })).body?.[0];
const last = async (realm: string, type: 'LOGIN_SUCCESS' | 'LOGIN_FAILURE') =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body?.[0]?.data;

test('a passkey that was asked for is set up, signs in by itself without a name, and proves two factors', async () => {
  const at = await realmWith(either);
  await enrol(at);
  expect(await passkeys(at.realm, at.userId)).toMatchObject([{ label: 'My phone', backedUp: false }]);
  expect(await device.all()).toMatchObject([{ isResidentCredential: true }]);
  await anew();
  await login(at.realm);
  // The browser offers it where the name is typed; this one's person takes it at once.
  await account(at.realm);
  expect(await last(at.realm, 'LOGIN_SUCCESS')).toMatchObject({ levelOfAssurance: 3, methods: ['hwk', 'user', 'mfa'] });
  expect(await session(at.realm)).toMatchObject({ username: 'alice', levelOfAssurance: 3 });
  expect(complaints).toEqual([]);
});

test('a passkey is a second factor behind the password, of the person whom the password was of', async () => {
  const at = await realmWith(both);
  await login(at.realm);
  await password();
  await heading('Set up a passkey');
  await page.getByRole('button', { name: 'Set up a passkey' }).click();
  await account(at.realm);
  await anew();
  await login(at.realm);
  await password();
  await heading('Use your passkey');
  await page.getByRole('button', { name: 'Continue with a passkey' }).click();
  await account(at.realm);
  expect(await last(at.realm, 'LOGIN_SUCCESS')).toMatchObject({ methods: ['pwd', 'hwk', 'user', 'mfa'] });
});

test('an authenticator that does not know its user is a second factor, and signs nobody in by itself', async () => {
  const first = await realmWith(both);
  await login(first.realm);
  await password();
  await page.getByRole('button', { name: 'Set up a passkey' }).click();
  await account(first.realm);
  const executions = [both[0], { ...both[1], config: { userVerification: 'discouraged' } }] as ExecutionInput[];
  await server.admin.call(putFlow, { params: { realm: first.realm, alias: 'browser' }, body: { executions } });
  await device.verifies(false);
  await anew();
  await login(first.realm);
  await password();
  await page.getByRole('button', { name: 'Continue with a passkey' }).click();
  await account(first.realm);
  expect((await last(first.realm, 'LOGIN_SUCCESS'))?.methods).toEqual(['pwd', 'hwk', 'user']);
  await server.admin.call(putFlow, { params: { realm: first.realm, alias: 'browser' }, body: { executions: either } });
  await anew();
  await login(first.realm);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByText('No passkey was used.').waitFor();
});

test('a passkey whose counter goes back is somebody’s copy: it is refused, and the audit log says so', async () => {
  const at = await realmWith(both);
  await login(at.realm);
  await password();
  await page.getByRole('button', { name: 'Set up a passkey' }).click();
  await account(at.realm);
  await server.pool.query(`update credential set last_counter = 1000 where realm_id = $1 and type = 'webauthn'`, [
    at.realm,
  ]);
  await anew();
  await login(at.realm);
  await password();
  await page.getByRole('button', { name: 'Continue with a passkey' }).click();
  await page.getByText('This passkey can’t be used here').waitFor();
  expect(await last(at.realm, 'LOGIN_FAILURE')).toMatchObject({ reason: 'passkey-counter' });
});

test('what another site had signed is worth nothing here', async () => {
  const at = await realmWith(either);
  await enrol(at);
  await anew();
  // A page of the same host at another port: the browser signs for the same host, and says which page it was.
  const other = await startTestServer();
  try {
    const response = await page.request.get(`${server.baseUrl}/realms/${at.realm}/login`);
    const text = await response.text();
    const challenge = /&quot;challenge&quot;:&quot;([^&]+)&quot;/.exec(text)?.[1] ?? '';
    const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const step = /data-step="([^"]+)"/.exec(text)?.[1] ?? '';
    await page.goto(`${other.baseUrl}/admin/login`);
    const passkey = await page.evaluate<string>(`(async () => {
      const challenge = Uint8Array.from(atob('${challenge}'.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
      const publicKey = { challenge, rpId: location.hostname, userVerification: 'required' };
      return JSON.stringify((await navigator.credentials.get({ publicKey })).toJSON());
    })()`);
    const answer = await page.request.post(`${server.baseUrl}/realms/${at.realm}/login`, {
      form: { csrf, step, passkey },
    });
    expect(await answer.text()).toContain('This passkey can’t be used here');
    expect(await last(at.realm, 'LOGIN_FAILURE')).toMatchObject({ reason: 'passkey-wrong' });
  } finally {
    await other.stop();
  }
});

test('people see their passkeys, add one and remove one; an administrator removes another, and nobody signs in by it', async () => {
  const at = await realmWith(either);
  await login(at.realm);
  await password();
  await account(at.realm);
  await page.getByRole('link', { name: 'Security' }).click();
  await page.getByText('Add a way to sign in').click();
  await page.getByRole('button', { name: 'Passkey', exact: true }).click();
  await heading('Set up a passkey');
  await page.getByLabel('Name of the passkey').fill('Key ring');
  await page.getByRole('button', { name: 'Set up a passkey' }).click();
  await account(at.realm);
  await page.getByText('Key ring', { exact: true }).waitFor();
  await page.getByText('on one device only').waitFor();
  await page.getByRole('button', { name: 'Remove Passkey Key ring' }).click();
  await page.getByText('The way to sign in was removed').waitFor();
  expect(await passkeys(at.realm, at.userId)).toEqual([]);
  await anew();
  await device.forget();
  await enrol(at);
  const [{ id, type } = { id: '', type: '' }] = await passkeys(at.realm, at.userId);
  await server.admin.call(deleteCredential, { params: { ...at, type, id } });
  await anew();
  await login(at.realm);
  await page.getByText('This passkey can’t be used here').waitFor();
  expect(await last(at.realm, 'LOGIN_FAILURE')).toMatchObject({ reason: 'passkey-unknown' });
});

test('whoever makes an account chooses a passkey instead of a password, and signs in by it', async () => {
  const { realm } = await realmWith(either);
  const body = { registrationPasskeyEnabled: true };
  await server.admin.call(putSettings, { params: { realm }, body });
  await page.goto(`${server.baseUrl}/realms/${realm}/register`);
  const passkey = page.getByRole('radio', { name: 'With a passkey' });
  await expect.poll(() => passkey.isChecked()).toBe(true);
  const field = page.getByLabel('Password', { exact: true });
  expect(await field.isVisible()).toBe(false);
  await page.getByRole('radio', { name: 'With a password' }).check();
  expect(await field.isVisible()).toBe(true);
  await passkey.check();
  await page.getByLabel('E-mail', { exact: true }).fill('ada@example.com');
  await page.getByRole('button', { name: 'Create the account' }).click();
  await heading('Set up a passkey');
  await page.getByRole('button', { name: 'Set up a passkey' }).click();
  await account(realm);
  expect(await device.all()).toMatchObject([{ isResidentCredential: true }]);
  await anew();
  await login(realm);
  await account(realm);
  expect(await session(realm)).toMatchObject({ username: 'ada@example.com' });
  expect(complaints).toEqual([]);
});

test('whoever comes by an invitation chooses a passkey instead of a password, and signs in by it', async () => {
  const { realm } = await realmWith(either);
  await server.admin.call(putSettings, { params: { realm }, body: { registrationPasskeyEnabled: true } });
  const body = { email: 'eve@example.com', mail: false };
  const { body: invitation } = await server.admin.call(createInvitation, { params: { realm }, body });
  await page.goto(invitation?.link ?? '');
  await expect.poll(() => page.getByRole('radio', { name: 'With a passkey' }).isChecked()).toBe(true);
  expect(await page.getByLabel('Password', { exact: true }).isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await heading('Set up a passkey');
  await page.getByRole('button', { name: 'Use a password instead' }).click();
  await page.getByRole('radio', { name: 'With a passkey' }).check();
  await page.getByRole('button', { name: 'Create the account' }).click();
  await heading('Set up a passkey');
  await page.getByRole('button', { name: 'Set up a passkey' }).click();
  await heading('You are in');
  await login(realm);
  await account(realm);
  expect(await session(realm)).toMatchObject({ username: 'eve@example.com' });
  expect(complaints).toEqual([]);
});

test('a browser that can make no passkey leads to a password on the same way', async () => {
  const { realm } = await realmWith(either);
  await server.admin.call(putSettings, { params: { realm }, body: { registrationPasskeyEnabled: true } });
  await page.goto(`${server.baseUrl}/realms/${realm}/register`);
  await page.getByLabel('E-mail', { exact: true }).fill('ada@example.com');
  await page.getByRole('radio', { name: 'With a passkey' }).check();
  await page.getByRole('button', { name: 'Create the account' }).click();
  await heading('Set up a passkey');
  await page.getByRole('button', { name: 'Use a password instead' }).click();
  await heading('Choose a password');
  for (const name of ['Password', 'Password again']) await page.getByLabel(name, { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await account(realm);
  expect(complaints).toEqual([]);
});
