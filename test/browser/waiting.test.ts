// Owns: pages that wait for a device or a mail: they stay as they are until there is another one, with and without JavaScript; Enter,
// two clicks and going back on the way.
// Does not own: what devices and links prove (test/server/features/push.test.ts, qr.test.ts, message-factors.test.ts).
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ExecutionInput, putFlow } from '../../server/contract/flows.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { listSessions } from '../../server/contract/sessions.ts';
import { createUser, listUsers } from '../../server/contract/users.ts';
import { launchBrowser } from '../support/chromium.ts';
import { deviceFor } from '../support/devices.ts';
import { codeIn, linkIn, type MailingServer, startMailingServer } from '../support/mail.ts';

const PASSWORD = 'three wet umbrellas';
const behindPassword = (authenticatorId: string): ExecutionInput[] => [
  { authenticatorId: 'username-password', requirement: 'REQUIRED' },
  { authenticatorId, requirement: 'REQUIRED' },
];
let site: MailingServer;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let made = 0;
let realm = '';
let userId = '';
beforeAll(async () => {
  site = await startMailingServer({ env: { USER_REGISTRATION_ENABLED: 'true' } });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await site?.stop();
});
beforeEach(async () => {
  made += 1;
  realm = `wait${made}`;
  await site.server.admin.call(createRealm, { body: { realm } });
  await site.sendsMail(realm);
  const user = { username: 'alice', password: PASSWORD, email: address(), emailVerified: true };
  userId = (await site.server.admin.call(createUser, { params: { realm }, body: user })).body?.id ?? '';
  await visit();
});
afterEach(() => context.close());

async function visit(options: { javaScriptEnabled?: boolean } = {}): Promise<void> {
  context = await browser.newContext(options);
  page = await context.newPage();
}
const address = () => `alice@${realm}.example`;
const flow = (executions: ExecutionInput[]) =>
  site.server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
const open = (path: string, on = page) => on.goto(`${site.server.baseUrl}/realms/${realm}/${path}`);
const arrived = (on = page) => on.waitForURL(`${site.server.baseUrl}/realms/${realm}/account*`);
async function signIn(): Promise<void> {
  await open('login');
  await page.locator('#username').fill('alice');
  await page.locator('#password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
/** How often the page has asked whether there is another one. */
function asked(): () => number {
  let times = 0;
  page.on('response', (response) => {
    if (response.url().includes('/login/waiting') && response.status() === 200) times += 1;
  });
  return () => times;
}
const sessions = async () => (await site.server.admin.call(listSessions, { params: { realm } })).body ?? [];

test('a page that waits for a device keeps its place until the device has answered, and then goes on', async () => {
  await flow(behindPassword('push'));
  const device = await deviceFor(site.server, realm, userId);
  const times = asked();
  await signIn();
  const number = await page.locator('.number').innerText();
  expect(await page.locator('[role=status]').innerText()).toContain('goes on by itself');
  await page.getByRole('button', { name: 'Ask again' }).focus();
  await page.evaluate('globalThis.sameAsBefore = true');
  await expect.poll(times).toBeGreaterThan(1);
  expect(await page.evaluate('globalThis.sameAsBefore && document.activeElement.name')).toBe('resend');
  const [waiting] = (await device.waiting()).body;
  expect((await device.approve(waiting?.id ?? '', number)).status).toBe(204);
  await arrived();
});

test('a page that waits for a mail’s link goes on where it was asked for, when the link was used beside it', async () => {
  await flow([{ authenticatorId: 'magic-link', requirement: 'REQUIRED' }]);
  await open('login');
  await page.locator('#username').fill('alice');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
  const link = linkIn(await site.mailTo(address(), '/login/link'));
  const beside = await context.newPage();
  await beside.goto(new URL(link, site.server.baseUrl).href);
  await beside.getByRole('button', { name: 'Sign in' }).click();
  await arrived(beside);
  await arrived();
  expect(await sessions()).toHaveLength(1);
});

test('without JavaScript it is loaded anew, and goes on as well', async () => {
  await context.close();
  await visit({ javaScriptEnabled: false });
  await flow(behindPassword('push'));
  const device = await deviceFor(site.server, realm, userId);
  await signIn();
  const number = await page.locator('.number').innerText();
  const [waiting] = (await device.waiting()).body;
  await device.approve(waiting?.id ?? '', number);
  await arrived();
});

test('Enter in the field of a code sends the code, and asks for no new one', async () => {
  await flow(behindPassword('email-otp'));
  await signIn();
  await page.locator('#code').fill(codeIn(await site.mailTo(address(), 'code')));
  await page.keyboard.press('Enter');
  await arrived();
});

test('two clicks and going back make one account, and lead where one click does', async () => {
  await open('register');
  const email = `new@${realm}.example`;
  await page.locator('#email').fill(email);
  await page.locator('#password').fill(PASSWORD);
  await page.locator('#repeated').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create the account' }).dblclick();
  await page.locator('#code').fill(codeIn(await site.mailTo(email, 'enter this code')));
  await page.getByRole('button', { name: 'Continue' }).dblclick();
  await arrived();
  const theirs = async () =>
    (await site.server.admin.call(listUsers, { params: { realm }, query: { q: email } })).body?.length;
  expect(await theirs()).toBe(1);
  await page.goBack();
  // What the browser kept of a page can be sent again: it leads to the account, and nothing is made by it.
  const again = page.getByRole('button', { name: /Continue|Create the account/ });
  if (await again.isVisible()) await again.click();
  await arrived();
  expect(await theirs()).toBe(1);
  // Where both clicks reached the server, each answer has a session of its own, since the browser takes the second alone.
  expect((await sessions()).length).toBeLessThanOrEqual(2);
});
