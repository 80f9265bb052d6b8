// Owns: an administrator who has to do something at the realm's own sign-in before the admin API lets them in.
// Does not own: the admin sign-in otherwise (admin-sign-in.test.ts), required actions (sign-in.test.ts).
// Implements: decisions "Admin authentication": a browser gets a sign-in page.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { putUserAdminRoles } from '../../server/contract/admin-access.ts';
import { createUser } from '../../server/contract/users.ts';
import { launchBrowser } from '../support/chromium.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const FIRST = 'handed over on paper';
const OWN = 'three wet umbrellas';
let server: TestServer;
let browser: Browser;
let page: Page;
beforeAll(async () => {
  server = await startTestServer();
  const user = { username: 'new', password: FIRST, passwordTemporary: true };
  const { body } = await server.admin.call(createUser, { params: { realm: 'master' }, body: user });
  await server.admin.call(putUserAdminRoles, {
    params: { realm: 'master', userId: body?.id ?? '' },
    body: { grants: [{ role: 'realm-viewer', realm: '*' }] },
  });
  browser = await launchBrowser();
  page = await browser.newPage({ viewport: { width: 390, height: 844 } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function signIn(password: string): Promise<void> {
  await page.getByLabel('Username').fill('new');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('whose password is temporary chooses another on the way, and is signed in', async () => {
  await page.goto(`${server.baseUrl}/admin/login`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await signIn(FIRST);
  await page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
  await page.waitForLoadState();
  for (const field of await page.locator('input[type=password]').all()) await field.fill(OWN);
  await page.getByRole('button', { name: 'Save and continue' }).click();
  await page.waitForURL(`${server.baseUrl}/admin/console/**`);
});
