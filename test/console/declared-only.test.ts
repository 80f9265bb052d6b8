// Owns: kinds that only documents change, in the console: why, and the ways on; the setting itself.
// Does not own: the lock (test/server/features/declared-only.test.ts), fields of a manager (managed.test.ts).
// Implements: decisions "Declared only", "Console".
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listClients } from '../../server/contract/clients.ts';
import { endHold, listHolds } from '../../server/contract/holds.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
let shop = '';
const realm = 'acme';
const params = { realm };
const manager = 'k8s:prod/identity/Realm/acme';
const declared = {
  realm: { displayName: 'Acme', declaredOnly: ['clients', 'flows', 'realm', 'groups', 'messageTexts'] },
  clients: [{ clientId: 'shop', name: 'The shop', tokenEndpointAuthMethod: 'none' as const }],
};
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
});
beforeEach(async () => {
  await server.admin.call(importRealm, { params, query: { manager }, body: declared });
  for (const { id } of (await server.admin.call(listHolds, { params })).body ?? [])
    await server.admin.call(endHold, { params: { realm, id } });
  shop = (await server.admin.call(listClients, { params, query: { q: 'shop' } })).body?.[0]?.id ?? '';
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});
const clients = async () => (await server.admin.call(listClients, { params })).body?.map(({ clientId }) => clientId);

test('a list says that only documents change its kind; the form of a new object ends with the declaration', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  const written: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') written.push(request.url());
  });
  await open(`/realms/${realm}/clients`);
  await page.getByText('Only documents change clients of this realm.').waitFor();
  expect(await page.getByRole('link', { name: /^Create/ }).count()).toBe(0);
  await look('a list of a kind that is declared only');
  await page.getByRole('link', { name: 'Write a declaration' }).first().click();
  await heading('Create a client');
  await page.getByLabel('Client id', { exact: false }).first().fill('new');
  await page.getByRole('button', { name: 'Show the declaration' }).click();
  const dialog = page.getByRole('dialog', { name: 'Take the change to where it is declared' });
  await dialog
    .getByText(/clientId: new/)
    .first()
    .waitFor();
  await look('the declaration of a new object');
  expect(written).toEqual([]);
  expect(await clients()).not.toContain('new');
  await close();
});

test('an object is modified and copied; a hold opens it, and its deletion', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients/${shop}`);
  await heading('shop');
  await page.getByText('declared only', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'More actions' }).count()).toBe(0);
  await look('an object that is declared only');
  await page.getByRole('link', { name: 'Modify and copy' }).click();
  await heading('Edit shop');
  await page.getByText('Nothing is saved here.').waitFor();
  await page.getByRole('button', { name: 'Back', exact: true }).click();
  await page.getByText(/Only documents change clients/).waitFor();
  expect(await page.getByLabel('Description', { exact: true }).isDisabled()).toBe(true);
  await look('a form of what is declared only');
  await page.getByRole('button', { name: 'Hold…' }).click();
  await page.getByLabel('Reason').fill('INC-1234');
  await page.getByRole('button', { name: 'Place the hold' }).click();
  await page.getByText('A hold keeps this as it is').waitFor();
  await page.getByLabel('Description', { exact: true }).fill('By hand');
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await heading('shop');
  expect(await page.getByRole('button', { name: 'More actions' }).count()).toBe(1);
  await close();
});

test('settings are read-only but the setting that locks them, which an administrator of managers changes', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/settings?group=sessions`);
  await heading('Settings');
  await page.getByText('Only documents change the settings of this realm.').waitFor();
  await look('settings that are declared only');
  await open(`/realms/${realm}/settings?group=general`);
  await heading('Settings');
  expect(await page.getByLabel('Display name', { exact: true }).isDisabled()).toBe(true);
  await look('the setting that locks');
  await open(`/realms/${realm}/look`);
  await page.getByText('Only documents change the settings of this realm.').waitFor();
  await open(`/realms/${realm}/flows/browser`);
  await page.getByText('Only documents change flows of this realm.').waitFor();
  await page.getByRole('button', { name: 'Show the declaration' }).waitFor();
  await look('a flow that is declared only');
  await open(`/realms/${realm}/groups`);
  await page.getByText('Only documents change groups of this realm.').waitFor();
  expect((await server.admin.call(getSettings, { params })).body?.declaredOnly).toEqual(declared.realm.declaredOnly);
  await close();
});
