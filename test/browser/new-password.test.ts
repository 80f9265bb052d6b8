// Owns: the page of a new password in a real browser: rules as they are met, how strong it is, and the same without JavaScript.
// Does not own: what the server takes (test/server/features/password-rules.test.ts).
// Implements: specification 4.2, 8.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../server/contract/realms.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { launchBrowser } from '../support/chromium.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startTestServer({ env: { USER_REGISTRATION_ENABLED: 'true' } });
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm: 'strict' } });
  const body = { passwordRequireDigit: true, passwordRequireSymbol: true, captchaProvider: 'pow' } as const;
  await server.admin.call(putSettings, { params: { realm: 'strict' }, body });
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});

test('rules are ticked as they are met, and the strength is said in words', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(`${server.baseUrl}/realms/strict/register`);
  const password = page.getByLabel('Password', { exact: true });
  const met = () => page.locator('.rules .met').allTextContents();
  const strength = page.locator('[data-strength] [role=status]');
  expect([await met(), await page.locator('[data-strength]').isVisible()]).toEqual([[], false]);
  await password.fill('aaaaaaaaaaaa');
  await expect.poll(met).toEqual(['At least 12 characters']);
  await expect.poll(() => strength.textContent()).toBe('Easy to guess');
  await password.fill('seven 7 blue-grey kettles');
  await expect.poll(met).toHaveLength(3);
  await expect.poll(() => strength.textContent()).toBe('Strong');
  await password.fill('');
  await expect.poll(met).toEqual([]);
  await expect.poll(() => page.locator('[data-strength]').isVisible()).toBe(false);
  // The proof of work goes on beside it.
  await expect.poll(() => page.locator('input[name=work]').inputValue()).not.toBe('');
  expect(complaints).toEqual([]);
  await context.close();
});

test('who sends the form before the proof of work is done is told to wait, and it goes on by itself', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  // The script has itself called by a message after each while: they wait until they are let go.
  const content = `const { postMessage } = MessagePort.prototype;
const waiting = [];
MessagePort.prototype.postMessage = function (...sent) { waiting.push(() => postMessage.apply(this, sent)); };
globalThis.letGo = () => {
  MessagePort.prototype.postMessage = postMessage;
  for (const send of waiting) send();
};`;
  await page.addInitScript({ content });
  await page.goto(`${server.baseUrl}/realms/strict/register`);
  await page.getByLabel('E-mail').fill('ada@strict.example');
  await page.getByLabel('Password', { exact: true }).fill('seven 7 blue-grey kettles');
  await page.getByLabel('Password again').fill('seven 7 blue-grey kettles');
  await page.getByRole('button', { name: 'Create the account' }).click();
  await expect.poll(() => page.locator('[data-working]').textContent()).toContain('your browser is still at work');
  expect(new URL(page.url()).pathname).toBe('/realms/strict/register');
  await page.evaluate('letGo()');
  await page.waitForURL(/\/account$/);
  await context.close();
});

test('without JavaScript the rules stand there, and no meter', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${server.baseUrl}/realms/strict/register`);
  expect(await page.locator('.rules li').count()).toBe(4);
  expect(await page.locator('[data-strength]').isVisible()).toBe(false);
  await context.close();
});

test('the page with all of it stays below 30 kB', async () => {
  const page = await fetch(`${server.baseUrl}/realms/strict/register`);
  const text = await page.text();
  const sheets = [...text.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, at = '']) =>
    at.replaceAll('&amp;', '&'),
  );
  const styles = await Promise.all(sheets.map(async (at) => (await fetch(new URL(at, server.baseUrl))).text()));
  expect(Buffer.byteLength([text, ...styles].join(''))).toBeLessThan(30_000);
});
