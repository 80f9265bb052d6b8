// Owns: the way to a single setting of a realm, and the words of settings.
// Does not own: saving settings (kinds.test.ts), those that a manager declares (managed.test.ts).
// Implements: decisions "Console".
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../server/contract/realms.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
const realm = 'acme';
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const FOCUSED = `(() => {
  const one = document.activeElement;
  return one?.closest('[data-field]')?.getAttribute('data-field') + ' ' + (one?.matches('input, textarea, button') ?? false);
})()`;

test('the palette leads to a single setting, which has the focus; the address does so again', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients`);
  await heading('Clients');
  const seek = async (words: string, name: RegExp) => {
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search for pages, realms and objects').fill(words);
    await page.getByRole('menuitem', { name }).waitFor();
    await look(`the palette with ${words}`);
    await page.getByRole('menuitem', { name }).click();
  };
  await seek('longest age', /^Longest age of a password in days/);
  await heading('Settings');
  await expect.poll(() => page.evaluate(FOCUSED)).toBe('passwordMaxAgeDays true');
  expect(page.url()).toContain('field=passwordMaxAgeDays');
  await look('a setting with the focus');
  await seek('lock users', /^Lock users after failed sign-ins/);
  await expect.poll(() => page.evaluate(FOCUSED)).toBe('lockoutEnabled true');
  await page.reload();
  await expect.poll(() => page.evaluate(FOCUSED)).toBe('lockoutEnabled true');
  await page.getByRole('navigation', { name: 'Groups of settings' }).getByRole('link').first().click();
  await page.waitForURL((url) => !url.searchParams.has('field'));
  await close();
});

test('a reader is led to the setting as well', async () => {
  const as = await consoleAdministrator(server, realm, 'reader', ['settings:read']);
  const { page, open, heading, close } = await openConsole({ server, browser }, { as });
  await open(`/realms/${realm}/settings?group=passwords&field=passwordMaxAgeDays`);
  await heading('Settings');
  await expect.poll(() => page.evaluate(FOCUSED)).toBe('passwordMaxAgeDays false');
  await close();
});

test('“Declared only” has the kinds by the names that the navigation has', async () => {
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/settings?field=declaredOnly`);
  const field = page.locator('[data-field=declaredOnly]');
  await field.getByText('Settings', { exact: true }).waitFor();
  const words = await field.locator('label').allInnerTexts();
  expect(words[0]).toBe('All configuration');
  for (const name of ['Apps people see', 'Clients', 'SAML clients', 'SCIM targets', 'User federation'])
    expect(words).toContain(name);
  expect(words.filter((one) => /^[a-z]|[a-z][A-Z]|\*/.test(one))).toEqual([]);
  await look('the kinds that only documents change');
  await close();
});
