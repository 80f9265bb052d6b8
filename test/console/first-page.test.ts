// Owns: the way into the console: signing in and coming back, its frame, its navigation by permissions, its palette, the focus.
// Does not own: the pages of kinds (kinds.test.ts), the files and their headers (test/server/features/console.test.ts).
// Implements: decisions "Console".
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../server/contract/clients.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { codeAt, secretOn } from '../support/authenticator-app.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { createPerson } from '../support/person.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
const realm = 'acme';
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('an address is asked for its sign-in, and is there afterwards', async () => {
  const { page, heading, complaints, close } = await openConsole({ server, browser }, { as: null });
  await page.goto(`${server.baseUrl}/admin/console/realms/${realm}/settings?group=passwords`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Username').fill('admin');
  await page.getByLabel('Password', { exact: true }).fill(ADMIN_PASSWORD);
  await page.keyboard.press('Enter');
  await heading('Settings');
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(
    `/admin/console/realms/${realm}/settings?group=passwords`,
  );
  await page.getByText('Refuse passwords known from breaches').first().waitFor();
  expect(complaints()).toEqual([]);
  await close();
});

test('the address kept for the time after the sign-in is one of the console alone', async () => {
  const { page, open, heading, close } = await openConsole({ server, browser });
  await open('/realms');
  await heading('Realms');
  for (const foreign of ['https://example.com/admin/console/realms', '//example.com/', '/realms/acme/account']) {
    await page.evaluate((to) => sessionStorage.setItem('realmkeeper.return-to', to), foreign);
    await open('/realms');
    await heading('Realms');
    expect(page.url()).toBe(`${server.baseUrl}/admin/console/realms`);
  }
  await close();
});

test('an ended session is told on the page, which is there again after the sign-in', async () => {
  const { page, open, heading, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients`);
  await heading('Clients');
  const ended = await page.evaluate(`fetch('/admin/logout', {
    method: 'POST', headers: { 'x-xsrf-token': decodeURIComponent(/XSRF-TOKEN=([^;]+)/.exec(document.cookie)[1]) },
  }).then(({ status }) => status)`);
  expect(ended).toBe(204);
  // by script, as the dialog may have come before it
  await page.evaluate(`[...document.querySelectorAll('nav a')].find((one) => one.textContent === 'Roles').click()`);
  const dialog = page.getByRole('alertdialog', { name: 'Your session ended' });
  await dialog.waitFor();
  await dialog.getByRole('link', { name: 'Sign in again' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Username').fill('admin');
  await page.getByLabel('Password', { exact: true }).fill(ADMIN_PASSWORD);
  await page.keyboard.press('Enter');
  await heading('Roles');
  expect(page.url()).toBe(`${server.baseUrl}/admin/console/realms/${realm}/roles`);
  await close();
});

test('the navigation has what the permissions allow, and nothing else', async () => {
  const as = await consoleAdministrator(server, realm, 'claims-clerk', ['client-scopes:read', 'realm:read']);
  const { page, open, heading, look, close } = await openConsole({ server, browser }, { as });
  await open('/');
  await heading(realm);
  const links = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts();
  expect(links).toEqual(['Overview', 'Client scopes', 'Claims', 'Declared and history', 'Operations']);
  await open(`/realms/${realm}/clients`);
  await page.getByText('It needs the permission clients:read').waitFor();
  await open(`/realms/${realm}/client-scopes`);
  await heading('Client scopes');
  await page.getByRole('row', { name: /email/ }).first().waitFor();
  expect(await page.getByRole('link', { name: 'Create a client scope' }).count()).toBe(0);
  await look('the client scopes of a reader');
  await close();
});

test('the keyboard alone reaches an object by the palette, and the focus is on its heading', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}`);
  await heading(realm);
  await page.keyboard.press('Control+k');
  const field = page.getByLabel('Search for pages, realms and objects');
  await field.waitFor();
  await page.keyboard.type('realm-viewer nothing');
  await page.getByText('Nothing has this name here.').waitFor();
  await field.fill('');
  await page.keyboard.type('Client scopes');
  await page
    .getByRole('menuitem', { name: /Client scopes/ })
    .first()
    .waitFor();
  await look('the palette');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await heading('Client scopes');
  await expect.poll(() => page.evaluate('document.activeElement?.tagName')).toBe('H1');
  expect(await page.title()).toBe('Client scopes – acme – Realmkeeper');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement !== document.body')).toBe(true);
  await page.keyboard.press('Control+k');
  await field.waitFor();
  await page.keyboard.type('Webhooks');
  await page.getByRole('menuitem', { name: /^Webhooks/ }).waitFor();
  await page.keyboard.press('Enter');
  await heading('Webhooks');
  // the words in any order, and “new” as “create”
  for (const words of ['create user', 'new user', 'user add']) {
    await page.keyboard.press('Control+k');
    await field.fill(words);
    await page.getByRole('menuitem', { name: 'Create a user' }).waitFor();
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
  }
  await close();
});

test('the palette finds objects of other realms, those of this realm first', async () => {
  await server.admin.call(createRealm, { body: { realm: 'elsewhere' } });
  for (const place of ['elsewhere', realm])
    await server.admin.call(createClient, {
      params: { realm: place },
      body: { clientId: 'zebra-till', tokenEndpointAuthMethod: 'none' },
    });
  const { page, open, heading, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}`);
  await heading(realm);
  await page.keyboard.press('Control+k');
  await page.getByLabel('Search for pages, realms and objects').fill('zebra-till');
  const found = page.getByRole('menuitem', { name: /zebra-till/ });
  await found.filter({ hasText: 'elsewhere' }).waitFor();
  expect(await found.allInnerTexts()).toHaveLength(2);
  expect(await found.first().innerText()).not.toContain('elsewhere');
  await found.last().click();
  await heading('zebra-till');
  expect(page.url()).toContain('/realms/elsewhere/clients/');
  await close();
});

test('letters that are typed while the palette is loaded are kept, and the focus goes back to where it was', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/assets\/palette-[^/]*\.js$/, async (route) => {
    await held;
    await route.continue();
  });
  await open(`/realms/${realm}`);
  await heading(realm);
  await page.getByRole('button', { name: /Search/ }).focus();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('Client sc');
  const field = page.getByLabel('Search for pages, realms and objects');
  expect(await field.inputValue()).toBe('Client sc');
  await look('the palette to come');
  release();
  await page
    .getByRole('menuitem', { name: /Client scopes/ })
    .first()
    .waitFor();
  await page.keyboard.type('opes');
  expect(await field.inputValue()).toBe('Client scopes');
  // one press closes it, with letters in the field
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate('document.activeElement?.innerText')).toMatch(/Search/);
  await close();
});

test('realms are chosen by name, pinned, and found again; back and reload work', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open('/realms');
  await heading('Realms');
  await page.getByRole('row', { name: /acme/ }).waitFor();
  await look('the realms');
  await page.getByRole('button', { name: 'Choose a realm' }).click();
  await page.getByLabel('Find a realm').last().fill('acm');
  await page.getByRole('menuitem', { name: /acme/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await heading(realm);
  await look('the first page of a realm');
  await page.goBack();
  await heading('Realms');
  await page.getByLabel('Find a realm').fill('nowhere');
  await page.getByText('No realm matches').waitFor();
  await page.reload();
  await page.getByText('No realm matches').waitFor();
  await close();
});

test('a new realm is created, and its first page is shown', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open('/realms/new');
  await heading('Create a realm');
  await page.getByRole('button', { name: 'Create the realm' }).click();
  await page.getByText('must be a DNS label').waitFor();
  await look('a form with a fault');
  await page.getByLabel('Name', { exact: true }).fill('globex');
  await page.getByRole('button', { name: 'Create the realm' }).click();
  await heading('globex');
  await open('/first-steps');
  await heading('First steps');
  await look('the first steps');
  const step = page.getByRole('listitem').filter({ hasText: 'Set a password of your own' });
  await step.getByText('(open)').waitFor({ state: 'attached' });
  // the account and its password are made at once; a password of a later time is another one
  await server.pool.query(`update realm_user set created_at = created_at - interval '1 hour' where username = 'admin'`);
  await page.reload();
  await step.getByText('(ready)').waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Account page: Set up a second factor' }).click();
  await page.waitForURL(`${server.baseUrl}/realms/master/account?view=security`);
  await close();
});

test('the account page of the administrator opens without a second sign-in', async () => {
  const { page, open, complaints, close } = await openConsole({ server, browser });
  await open('/realms');
  await page.getByRole('button', { name: 'Account of admin' }).click();
  await page.getByRole('menuitem', { name: 'Account page' }).click();
  await page.waitForURL(`${server.baseUrl}/realms/master/account`);
  await page.getByRole('heading', { level: 1, name: 'admin' }).waitFor();
  expect(complaints()).toEqual([]);
  await close();
});

test('pages fit a phone, text of twice its size, and a layout from right to left', async () => {
  const { page, open, heading, complaints, close } = await openConsole(
    { server, browser },
    { viewport: { width: 390, height: 844 } },
  );
  const tooWide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  for (const path of ['/realms', `/realms/${realm}`, `/realms/${realm}/clients`, `/realms/${realm}/settings`]) {
    await open(path);
    await page.locator('h1').waitFor();
    await page.waitForLoadState('networkidle');
    expect(await page.evaluate(tooWide), path).toBe(0);
    await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
    expect(await page.evaluate(tooWide), `${path}, with text of twice its size`).toBeLessThanOrEqual(0);
  }
  await open(`/realms/${realm}`);
  await page.getByRole('button', { name: 'Navigation' }).click();
  await page.getByRole('dialog', { name: 'Navigation' }).getByRole('link', { name: 'Clients', exact: true }).click();
  await heading('Clients');
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('button', { name: 'Account of admin' }).click();
  await page.getByRole('menuitem', { name: 'Right to left' }).click();
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
  expect(await page.evaluate(`document.querySelector('.side').getBoundingClientRect().left > 700`)).toBe(true);
  // English words keep their order: the number is left of its unit
  await open(`/realms/${realm}`);
  await page.getByText('24 hours', { exact: true }).waitFor();
  const isInOrder = `(() => {
    const isIt = ({ childNodes, textContent }) => childNodes.length === 1 && textContent === '24 hours';
    const text = [...document.querySelectorAll('main *')].findLast(isIt).firstChild;
    const leftOf = (at) => {
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return range.getBoundingClientRect().left;
    };
    return leftOf(0) < leftOf(7);
  })()`;
  expect(await page.evaluate(isInOrder)).toBe(true);
  expect(complaints()).toEqual([]);
  await close();
});

test('a control that was disabled has the focus again, unless the reader has gone on', async () => {
  const { page, open, heading, close } = await openConsole({ server, browser });
  await open('/realms/new');
  await heading('Create a realm');
  const create = page.getByRole('button', { name: 'Create the realm' });
  const name = page.getByLabel('Name', { exact: true });
  const disableFor = (ms: number) =>
    create.evaluate((button, after) => {
      Reflect.get(button, 'focus').call(button);
      Reflect.set(button, 'disabled', true);
      setTimeout(() => Reflect.set(button, 'disabled', false), after);
    }, ms);
  const isFocused = (element: typeof create) =>
    element.evaluate((it) => Reflect.get(globalThis, 'document').activeElement === it);
  // sooner and later than the console looks for a lost focus
  for (const ms of [0, 25, 300]) {
    await disableFor(ms);
    await expect.poll(() => create.isEnabled()).toBe(true);
    await expect.poll(() => isFocused(create), { message: `after ${ms} ms` }).toBe(true);
  }
  await disableFor(300);
  await name.focus();
  await expect.poll(() => create.isEnabled()).toBe(true);
  await page.waitForTimeout(100);
  expect(await isFocused(name)).toBe(true);
  await close();
});

test('a code of the second factor is sent once, however often Enter is pressed', async () => {
  const params = { realm: 'guarded' };
  await server.admin.call(createRealm, { body: params });
  const as = await consoleAdministrator(server, 'guarded', 'boss', ['roles:read', 'clients:read']);
  const { page, open, go, heading, close } = await openConsole({ server, browser }, { as });
  await open('/realms/guarded/roles');
  await heading('Roles');
  await server.admin.call(putSettings, { params, body: { requireMfa: true } });
  const boss = createPerson(server.baseUrl);
  const enrolment = await boss.fill(await boss.open('/realms/guarded/login'), {
    username: as.username,
    password: as.password,
  });
  const secret = secretOn(enrolment);
  await boss.fill(enrolment, { code: codeAt(secret) });
  const sent: string[] = [];
  await page.route('**/admin/session/step-up', async (route) => {
    sent.push(route.request().url());
    await sleep(500);
    await route.continue();
  });
  await go('/realms/guarded/clients');
  const dialog = page.getByRole('alertdialog', { name: 'Prove a second factor' });
  // that of the enrolment is used up
  await dialog.getByLabel('Code of your authenticator app').fill(codeAt(secret, Date.now() + 30_000));
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await heading('Clients');
  expect(sent).toHaveLength(1);
  await close();
});
