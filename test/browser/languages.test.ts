// Owns: that the pages of each language fit, on a narrow phone, and run the right way.
// Does not own: how a language is chosen (test/server/features/languages.test.ts).
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putSettings } from '../../server/contract/settings.ts';
import { written } from '../../server/http/languages.ts';
import { makePeopledRealm, PASSWORD } from '../support/applications.ts';
import { launchBrowser } from '../support/chromium.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startTestServer();
  await makePeopledRealm(server, 'acme');
  await server.admin.call(putSettings, {
    params: { realm: 'acme' },
    body: { supportedLocales: [...written], passwordRecoveryEnabled: true },
  });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const tooWide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
const signIn = async (page: Page) => {
  await page.goto(`${server.baseUrl}/realms/acme/login?for=account`);
  await page.locator('#username').fill('alice');
  await page.locator('#password').fill(PASSWORD);
};

test.each(written)('pages in %s fit a phone of 320 pixels, with and without JavaScript', async (locale) => {
  const context = await browser.newContext({
    locale,
    viewport: { width: 320, height: 640 },
    javaScriptEnabled: locale !== 'de',
    colorScheme: locale === 'ar' ? 'dark' : 'light',
  });
  const page = await context.newPage();
  await signIn(page);
  expect(await page.locator('html').getAttribute('lang')).toBe(locale);
  expect(await page.locator('html').getAttribute('dir')).toBe(locale === 'ar' ? 'rtl' : null);
  await page.locator('details.language summary').click();
  if (locale !== 'de') expect(await page.evaluate(tooWide)).toBe(0);
  await page.locator('form button[value=next]').first().click();
  await page.waitForURL(/\/account$/);
  if (locale !== 'de') expect(await page.evaluate(tooWide)).toBe(0);
  await context.close();
});

test('a language is chosen with the keyboard alone, and its page runs from right to left', async () => {
  const context = await browser.newContext({ locale: 'en' });
  const page = await context.newPage();
  await page.goto(`${server.baseUrl}/realms/acme/login?for=account`);
  await page.locator('details.language summary').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'العربية' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'تسجيل الدخول' }).waitFor();
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
  await context.close();
});
