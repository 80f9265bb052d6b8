// Owns: several tabs of one browser, and a page that comes back: whose session a write is in, and what stays after signing out.
// Does not own: signing in (first-page.test.ts), two administrators in browsers of their own (together.test.ts).
// Implements: decisions "Console".
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../server/contract/clients.ts';
import { listEvents } from '../../server/contract/events.ts';
import { builtInAdminRoles } from '../../server/contract/permissions.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createUser } from '../../server/contract/users.ts';
import { launchBrowser } from '../support/chromium.ts';
import { type Credentials, openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const realm = 'acme';
const params = { realm };
let server: TestServer;
let browser: Browser;
let ana: Credentials;
let ben: Credentials;
let client = '';
let zoe = '';

beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
  const all = [...(builtInAdminRoles['realm-admin'] ?? [])].filter((one) => one !== 'realm:create');
  ana = await consoleAdministrator(server, realm, 'ana', all);
  ben = await consoleAdministrator(server, realm, 'ben', all);
  zoe = (await server.admin.call(createUser, { params, body: { username: 'zoe' } })).body?.id ?? '';
  client =
    (await server.admin.call(createClient, { params, body: { clientId: 'shop', tokenEndpointAuthMethod: 'none' } }))
      .body?.id ?? '';
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const OTHER = 'Another administrator signed in';
const signIn = (page: Page, data: Credentials) =>
  page.context().request.post(`${server.baseUrl}/admin/login`, { data });
const disabled = async () =>
  (await server.admin.call(listEvents, { params, query: { type: 'USER_UPDATED', subject: 'zoe' } })).body ?? [];

test('a page of one administrator writes nothing in the session of another, who signed in in another tab', async () => {
  const { page, open, heading, complaints, close } = await openConsole({ server, browser }, { as: ana });
  await open(`/realms/${realm}/users/${zoe}`);
  await heading('zoe');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Disable…' }).click();
  const asked = page.getByRole('alertdialog', { name: 'Disable zoe?' });
  await asked.waitFor();
  expect((await signIn(page, ben)).status()).toBe(204);
  await asked.getByRole('button', { name: 'Disable' }).click();
  const dialog = page.getByRole('alertdialog', { name: OTHER });
  await dialog.waitFor();
  expect(await disabled()).toEqual([]);
  expect(complaints()).toEqual([]);
  await dialog.getByRole('button', { name: 'Load this page anew' }).click();
  await heading('zoe');
  await page.getByRole('button', { name: 'Account of ben' }).waitFor();
  await close();
});

test('the same administrator goes on after another sign-in', async () => {
  const { page, open, heading, close } = await openConsole({ server, browser }, { as: ana });
  await open(`/realms/${realm}/users/${zoe}`);
  await heading('zoe');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Disable…' }).click();
  const asked = page.getByRole('alertdialog', { name: 'Disable zoe?' });
  await asked.waitFor();
  expect((await signIn(page, ana)).status()).toBe(204);
  await asked.getByRole('button', { name: 'Disable' }).click();
  await page.getByText('Disabled the user and ended all sessions.').waitFor();
  expect(await page.getByRole('alertdialog', { name: OTHER }).count()).toBe(0);
  expect(await disabled()).toMatchObject([{ actor: { name: 'ana' } }]);
  await close();
});

test('signing out leaves no page and no draft in any tab, and none that the browser kept', async () => {
  const { page, open, heading, close } = await openConsole({ server, browser }, { as: ana });
  await open(`/realms/${realm}/users`);
  await heading('Users');
  const other = await page.context().newPage();
  await other.goto(`${server.baseUrl}/admin/console/realms/${realm}/clients/${client}`);
  await other.getByRole('heading', { level: 1, name: 'shop' }).waitFor();
  await other.evaluate(`sessionStorage.setItem('realmkeeper.wizard.acme.application', '{"name":"x"}')`);
  await page.getByRole('button', { name: 'Account of ana' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  for (const one of [page, other]) {
    await one.waitForURL(`${server.baseUrl}/admin/login`);
    expect(await one.evaluate('sessionStorage.length')).toBe(0);
  }
  await close();
});

test('a page that the browser shows again as it was is loaded anew', async () => {
  const { page, open, heading, close } = await openConsole({ server, browser }, { as: ana });
  await open(`/realms/${realm}/users`);
  await heading('Users');
  await page.getByRole('row', { name: /zoe/ }).waitFor();
  await page.context().clearCookies();
  await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
  await page.waitForURL(`${server.baseUrl}/admin/login`);
  await close();
});

test('a text in the place of a realm is no realm: no page, no command', async () => {
  const { page, open, heading, close } = await openConsole({ server, browser });
  for (const text of ['x;id', '$(id)', 'x%0aid', '..', 'ACME']) {
    await open(`/realms/${encodeURIComponent(text)}/users`);
    await heading('There is no such page');
    expect(await page.getByRole('button', { name: 'As command' }).count()).toBe(0);
    expect(await page.evaluate('localStorage.getItem("realmkeeper.recent-realms") ?? ""')).not.toContain(text);
  }
  await close();
});
