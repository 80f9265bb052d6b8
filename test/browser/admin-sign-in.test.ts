// Owns: an administrator at the sign-in page of the admin API, with a real browser and its keyboard.
// Does not own: the realm's sign-in pages (sign-in.test.ts).
// Implements: decisions "Admin authentication": a browser gets a sign-in page.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../support/chromium.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
let page: Page;
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  page = await browser.newPage({ viewport: { width: 390, height: 844 } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('an administrator signs in with the keyboard alone, sees who they are, uses the API, and signs out', async () => {
  await page.goto(`${server.baseUrl}/admin/login`);
  const realm = page.getByRole('textbox', { name: 'Realm', description: /^The realm of administrators is master\./ });
  expect(await realm.inputValue()).toBe('master');
  await page.locator('input:focus').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/realms\/master\/login/);
  await page.locator('input:focus').waitFor();
  await page.keyboard.type('admin');
  await page.keyboard.press('Tab');
  await page.keyboard.type('not the password');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  expect(await page.getByLabel('Username').inputValue()).toBe('admin');
  await page.getByLabel('Password', { exact: true }).fill(ADMIN_PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${server.baseUrl}/admin/console/**`);
  await page.goto(`${server.baseUrl}/admin/login?page=plain`);
  await page.getByRole('heading', { name: 'Signed in' }).waitFor();
  expect(await page.locator('main').innerText()).toContain('every realm');
  const realms = await page
    .evaluate(async () => (await fetch('/admin/realms')).status)
    .catch(() => 'refused by the policy');
  expect(realms).toBe('refused by the policy');
  expect((await page.goto(`${server.baseUrl}/admin/session`))?.status()).toBe(200);
  await page.goto(`${server.baseUrl}/admin/login?page=plain`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Continue' }).waitFor();
  expect((await page.goto(`${server.baseUrl}/admin/session`))?.status()).toBe(401);
});

test('the page fits a phone without scrolling sideways', async () => {
  await page.goto(`${server.baseUrl}/admin/login`);
  const sizes = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  const overflow = await page.evaluate<number>(sizes);
  expect(overflow).toBe(0);
});

test('the page of the API tries a write out with the session of the browser, without a complaint', async () => {
  const complaints: string[] = [];
  const tab = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  tab.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  tab.on('pageerror', ({ message }) => complaints.push(message));
  await tab.goto(`${server.baseUrl}/admin/login`);
  await tab.getByRole('button', { name: 'Continue' }).click();
  await tab.getByLabel('Username').fill('admin');
  await tab.getByLabel('Password', { exact: true }).fill(ADMIN_PASSWORD);
  await tab.keyboard.press('Enter');
  await tab.waitForURL(`${server.baseUrl}/admin/console/**`);
  await tab.goto(`${server.baseUrl}/admin/login?page=plain`);
  await tab.getByRole('link', { name: 'Try the admin API' }).click();
  // groups that are out of sight are rendered when they come into it
  await tab.getByPlaceholder('Filter by tag').fill('keys');
  await tab.locator('.opblock-tag', { hasText: 'keys' }).click();
  const rotate = tab.locator('.opblock', { hasText: '/admin/realms/{realm}/keys/rotate' });
  await rotate.locator('.opblock-summary').click();
  await rotate.getByRole('button', { name: 'Try it out' }).click();
  await rotate.getByPlaceholder('realm').fill('master');
  const answer = tab.waitForResponse((response) => response.request().method() === 'POST');
  await rotate.getByRole('button', { name: 'Execute' }).click();
  expect((await answer).status()).toBe(200);
  expect(complaints).toEqual([]);
});
