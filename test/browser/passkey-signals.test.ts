// The browser's part of passkeys: what the pages tell it of them (Signal API), and passkeys that it creates on its own.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ExecutionInput, putFlow } from '../../server/contract/flows.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createUser, listCredentials, putUser } from '../../server/contract/users.ts';
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
let realm = '';
let userId = '';
let made = 0;

beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});
beforeEach(async () => {
  made += 1;
  realm = `signals${made}`;
  await server.admin.call(createRealm, { body: { realm } });
  const body = { username: 'alice', password: PASSWORD };
  userId = (await server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
  await flow();
  complaints = [];
  context = await browser.newContext();
  page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  device = await addAuthenticator(context, page);
});
afterEach(() => context.close());

const flow = (config = {}) => {
  const executions: ExecutionInput[] = [
    { authenticatorId: 'username-password', requirement: 'ALTERNATIVE' },
    { authenticatorId: 'webauthn', requirement: 'ALTERNATIVE', config },
  ];
  return server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
};
const login = () => page.goto(`${server.baseUrl}/realms/${realm}/login`);
const arrived = () => page.waitForURL(`${server.baseUrl}/realms/${realm}/account*`);
async function byPassword(): Promise<void> {
  await login();
  await page.getByLabel('Username or e-mail').fill('alice');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
async function addPasskey(): Promise<void> {
  await byPassword();
  await arrived();
  await page.goto(`${server.baseUrl}/realms/${realm}/account?view=security`);
  await page.getByText('Add a way to sign in').click();
  await page.getByRole('button', { name: 'Passkey', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Set up a passkey' }).waitFor();
  await page.getByRole('button', { name: 'Set up a passkey' }).click();
  await arrived();
}
const passkeys = async () =>
  ((await server.admin.call(listCredentials, { params: { realm, userId } })).body ?? []).filter(
    ({ type }) => type === 'webauthn',
  );
const hasSignals = () => page.evaluate<boolean>('typeof PublicKeyCredential.signalUnknownCredential === "function"');

test('a passkey that was removed at the account page is gone from the authenticator, by signalAllAcceptedCredentials', async () => {
  await addPasskey();
  expect(await hasSignals()).toBe(true);
  expect(await device.all()).toHaveLength(1);
  await page.getByRole('button', { name: /^Remove Passkey/ }).click();
  await page.getByText('The way to sign in was removed').waitFor();
  await expect.poll(async () => (await device.all()).length).toBe(0);
  expect(complaints).toEqual([]);
});

test('a passkey that the realm does not know any more is gone after it was tried, by signalUnknownCredential', async () => {
  await addPasskey();
  await server.pool.query(`delete from credential where realm_id = $1 and type = 'webauthn'`, [realm]);
  await context.clearCookies();
  await login();
  await page.getByText('This passkey can’t be used here').waitFor();
  await expect.poll(async () => (await device.all()).length).toBe(0);
  expect(complaints).toEqual([]);
});

test('a passkey of another realm of the host stays, though this realm does not know it', async () => {
  await addPasskey();
  const [own, other] = [realm, `${realm}-other`];
  await server.admin.call(createRealm, { body: { realm: other } });
  realm = other;
  await flow();
  await context.clearCookies();
  await login();
  await page.getByText('This passkey can’t be used here').waitFor();
  await page.waitForTimeout(500);
  expect(await device.all()).toHaveLength(1);
  realm = own;
});

test('the browser learns a new username, by signalCurrentUserDetails', async () => {
  await addPasskey();
  const nameOf = async () => {
    const { credentials } = await device.cdp.send('WebAuthn.getCredentials', { authenticatorId: device.id });
    return credentials[0]?.userName;
  };
  await expect.poll(nameOf).toBe('alice');
  await server.admin.call(putUser, { params: { realm, userId }, body: { username: 'alicia' } });
  await page.goto(`${server.baseUrl}/realms/${realm}/account`);
  await expect.poll(nameOf).toBe('alicia');
});

test('after a password the browser is asked to create a passkey, and the sign-in ends whether it does or not', async () => {
  await flow({ createAfterPassword: true });
  await byPassword();
  await arrived();
  await context.clearCookies();
  // The password manager of a real browser decides; here the authenticator takes its place.
  await page.addInitScript(`
    const create = navigator.credentials.create.bind(navigator.credentials);
    navigator.credentials.create = ({ mediation, ...asked }) => {
      if (mediation !== 'conditional') throw new Error('the page did not ask for a conditional create');
      return create(asked);
    };
    PublicKeyCredential.getClientCapabilities = async () => ({ conditionalCreate: true });`);
  await byPassword();
  await arrived();
  expect(await device.all()).toHaveLength(1);
  expect(await passkeys()).toHaveLength(1);
  expect(complaints).toEqual([]);
});
