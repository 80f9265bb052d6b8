// Owns: rows of lists as links: by mouse, by keyboard, in a tab of their own; and what moves on a page as dialogs come.
// Does not own: what the lists show (kinds.test.ts, users.test.ts).
// Implements: decisions "Console": state is in the address.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../server/contract/clients.ts';
import { createGroup } from '../../server/contract/groups.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
const realm = 'acme';
const params = { realm };
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm } });
  for (const clientId of ['shop', 'till', '50% off/now'])
    await server.admin.call(createClient, { params, body: { clientId, tokenEndpointAuthMethod: 'none' } });
  const top = await server.admin.call(createGroup, { params, body: { name: 'sales' } });
  await server.admin.call(createGroup, { params, body: { name: 'north', parentId: top.body?.id ?? '' } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('the first cell of a row is a link to its page: a press goes there once, the middle button opens a tab', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients`);
  const link = page.getByRole('rowheader').getByRole('link', { name: 'shop' });
  expect(await link.getAttribute('href')).toMatch(/^\/admin\/console\/realms\/acme\/clients\/[^/]+$/);
  await look('a list with links');
  await link.click();
  await heading('shop');
  await page.goBack();
  await heading('Clients');
  await page.getByRole('rowheader').getByRole('link', { name: '50% off/now' }).click();
  await heading('50% off/now');
  await page.goBack();
  for (const modifiers of [{ button: 'middle' as const }, { modifiers: ['Control' as const] }]) {
    const before = page.context().pages().length;
    const [tab] = await Promise.all([page.context().waitForEvent('page'), link.click(modifiers)]);
    await tab.getByRole('heading', { level: 1, name: 'shop' }).waitFor();
    expect(page.context().pages()).toHaveLength(before + 1);
    expect(page.url()).toMatch(/\/clients$/);
  }
  await close();
});

test('the keyboard works as before: Enter opens a row, Tab leaves the list, the arrows reach the link', async () => {
  const { page, open, heading, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients`);
  const rows = page.getByRole('row').filter({ has: page.getByRole('rowheader') });
  await rows.filter({ hasText: 'till' }).waitFor();
  const focused = () =>
    page.evaluate<string>('document.activeElement?.getAttribute("role") ?? document.activeElement?.tagName');
  await page.getByRole('button', { name: 'Columns' }).focus();
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('row');
  await page.keyboard.press('ArrowDown');
  const at = await page.evaluate<string>('document.activeElement?.textContent');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement?.closest("table") === null')).toBe(true);
  await page.keyboard.press('Shift+Tab');
  expect(await page.evaluate<string>('document.activeElement?.textContent')).toBe(at);
  await page.keyboard.press('ArrowRight');
  expect(await focused()).toBe('A');
  const name = await page.evaluate<string>('document.activeElement?.textContent');
  await page.keyboard.press('Enter');
  await heading(name);
  await page.goBack();
  await heading('Clients');
  await rows.filter({ hasText: 'till' }).focus();
  await page.keyboard.press('Enter');
  await heading('till');
  await page.goBack();
  await heading('Clients');
  await close();
});

test('a group of the tree is a link as well', async () => {
  const { page, open, heading, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/groups`);
  await page.getByRole('treegrid').getByRole('link', { name: 'sales' }).click();
  await heading('/sales');
  await page.goBack();
  await heading('Groups');
  await close();
});

test('the form of a group names its parent by the path, and keeps it', async () => {
  // more groups than the first choices, which do not have the parent among them
  for (let n = 0; n < 25; n += 1)
    await server.admin.call(createGroup, { params, body: { name: `a${String(n).padStart(2, '0')}` } });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/groups?q=north`);
  await page.getByRole('treegrid').getByRole('link', { name: '/sales/north' }).click();
  await page.getByRole('definition').getByRole('link', { name: '/sales', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Edit' }).click();
  const parent = page.getByRole('combobox', { name: 'Parent group' });
  await expect.poll(() => parent.inputValue()).toBe('/sales');
  await look('the form of a group');
  await parent.focus();
  await page.keyboard.press('Tab');
  await expect.poll(() => parent.inputValue()).toBe('/sales');
  await page.getByText('Nothing is changed yet.').waitFor();
  await parent.fill('a07');
  await page.getByRole('option', { name: '/a07' }).click();
  await page.getByText('1 field is changed.').waitFor();
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await heading('/a07/north');
  await close();
});

test('nothing moves aside as a dialog opens, where scrollbars take space', async () => {
  const visible = await launchBrowser({ scrollbars: true });
  try {
    const { page, open, heading, close } = await openConsole(
      { server, browser: visible },
      { viewport: { width: 1200, height: 900 } },
    );
    await open(`/realms/${realm}/settings`);
    await heading('Settings');
    const bar = 'innerWidth - document.documentElement.clientWidth';
    await expect.poll(() => page.evaluate<number>(bar)).toBeGreaterThan(0);
    const place = async () => [
      (await page.locator('main h1').boundingBox())?.x,
      (await page.getByRole('button', { name: 'As command' }).boundingBox())?.x,
      (await page.locator('.bar').boundingBox())?.width,
    ];
    const before = await place();
    await page.getByRole('button', { name: 'As command' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await place()).toEqual(before);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search for pages, realms and objects').waitFor();
    expect(await place()).toEqual(before);
    await page.keyboard.press('Escape');
    // a short page has nothing to scroll, and is as wide as a long one
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Roles', exact: true }).click();
    await heading('Roles');
    expect(await page.evaluate('document.documentElement.scrollHeight <= innerHeight')).toBe(true);
    expect((await page.locator('.bar').boundingBox())?.width).toBe(before[2]);
    await close();
  } finally {
    await visible.close();
  }
});
