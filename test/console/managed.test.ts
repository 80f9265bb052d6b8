// Owns: objects and settings that a manager declares, in the console: the badge, read-only fields, the three ways on, holds.
// Does not own: ownership and holds themselves (test/server/features), history and comparison (declared.test.ts).
// Implements: decisions "Ownership", "Holds", "Console".
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createClient, getClient, listClients } from '../../server/contract/clients.ts';
import { endHold, listHolds } from '../../server/contract/holds.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
let shop = '';
const realm = 'acme';
const params = { realm };
const manager = 'k8s:prod/identity/Realm/acme';
const declared = {
  realm: { passwordMinLength: 14 },
  clients: [{ clientId: 'shop', name: 'The shop', tokenEndpointAuthMethod: 'none' as const }],
};
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
  await server.admin.call(createClient, { params, body: { clientId: 'free', tokenEndpointAuthMethod: 'none' } });
});
beforeEach(async () => {
  for (const { id } of (await server.admin.call(listHolds, { params })).body ?? [])
    await server.admin.call(endHold, { params: { realm, id } });
  await server.admin.call(importRealm, { params, query: { manager }, body: declared });
  shop = (await server.admin.call(listClients, { params, query: { q: 'shop' } })).body?.[0]?.id ?? '';
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});
const nameNow = async () => (await server.admin.call(getClient, { params: { realm, id: shop } })).body?.name;

test('lists and objects name their manager, with what it is in its cluster', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients`);
  await page
    .getByRole('row')
    .filter({ hasText: /shop.*Realm identity\/acme/ })
    .waitFor();
  await page.getByRole('row').filter({ hasText: /^free/ }).locator('span.none').first().waitFor();
  await look('a list with managed objects');
  await open(`/realms/${realm}/clients/${shop}`);
  await heading('shop');
  await page.getByRole('button', { name: 'Declared by Realm identity/acme' }).click();
  const dialog = page.getByRole('dialog', { name: 'Its manager' });
  await dialog.getByText('kubectl -n identity get realm.realmkeeper.dev/acme -o yaml').waitFor();
  for (const words of ['prod', 'identity', 'Realm', 'acme'])
    await dialog.getByText(words, { exact: true }).first().waitFor();
  await look('the manager of a client');
  await close();
});

test('declared fields are read-only; the others are edited as ever', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients/${shop}/edit`);
  await heading('Edit shop');
  await page.getByText('They are read-only here').waitFor();
  expect(await page.getByLabel('Name', { exact: true }).isDisabled()).toBe(true);
  await look('a form with declared fields');
  await page.getByLabel('Description', { exact: true }).fill('Of our own');
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await heading('shop');
  expect((await server.admin.call(getClient, { params: { realm, id: shop } })).body?.description).toBe('Of our own');
  await close();
});

test('modify and copy: the form makes the declaration, and nothing is saved', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  const written: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') written.push(request.url());
  });
  await open(`/realms/${realm}/clients/${shop}/edit`);
  await heading('Edit shop');
  await page.getByRole('button', { name: 'Modify and copy' }).click();
  await page.waitForURL(/mode=copy/);
  await page.getByText('Nothing is saved here.').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Another shop');
  await page.getByRole('button', { name: 'Show the declaration' }).click();
  const dialog = page.getByRole('dialog', { name: 'Take the change to where it is declared' });
  await dialog
    .getByText(/name: Another shop/)
    .first()
    .waitFor();
  await dialog
    .getByText(/kind: Realm/)
    .first()
    .waitFor();
  await look('the declaration to copy');
  expect(written).toEqual([]);
  expect(await nameNow()).toBe('The shop');
  await close();
});

test('a hold opens the fields for a while; when it is ended, documents have their way again', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients/${shop}/edit`);
  await heading('Edit shop');
  await page.getByRole('button', { name: 'Hold…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Place a hold' });
  await dialog.getByRole('button', { name: 'Place the hold' }).click();
  await dialog.getByText('is needed').waitFor();
  await dialog.getByLabel('Reason').fill('INC-1234: the shop is down');
  await look('a hold before it is placed');
  await dialog.getByRole('button', { name: 'Place the hold' }).click();
  await page.getByText('A hold keeps this as it is').waitFor();
  await page.getByText('INC-1234: the shop is down').waitFor();
  await look('a form that is held');
  await page.getByLabel('Name', { exact: true }).fill('By hand');
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await heading('shop');
  const held = await server.admin.call(importRealm, { params, query: { manager }, body: declared });
  expect(held.body?.held).toMatchObject([{ key: 'shop' }]);
  expect(await nameNow()).toBe('By hand');
  await open(`/realms/${realm}/declared?tab=holds`);
  await page
    .getByRole('row')
    .filter({ hasText: /client shop/ })
    .waitFor();
  await look('the holds');
  await page.getByRole('button', { name: 'End now' }).click();
  await page.getByText('No hold stands').waitFor();
  await server.admin.call(importRealm, { params, query: { manager }, body: declared });
  expect(await nameNow()).toBe('The shop');
  await close();
});

test('a setting that is declared is read-only alone, and is held alone', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/settings?group=passwords`);
  await heading('Settings');
  await page.getByText('It is read-only here').waitFor();
  const least = page.getByLabel(/minimum length|min length|least/i).first();
  expect(await least.isDisabled()).toBe(true);
  await look('declared settings');
  await page.getByRole('button', { name: 'Hold…' }).click();
  await page.getByLabel('Reason').fill('audit');
  await page.getByRole('button', { name: 'Place the hold' }).click();
  await page.getByText('A hold keeps this as it is').waitFor();
  expect((await server.admin.call(listHolds, { params })).body?.[0]?.what).toEqual([
    { kind: 'settings', key: 'passwordMinLength' },
  ]);
  expect(await least.isDisabled()).toBe(false);
  await close();
});

test('without holds:write nothing offers a hold', async () => {
  const as = await consoleAdministrator(server, realm, 'editor', ['clients:read', 'clients:write']);
  const { page, open, heading, complaints, close } = await openConsole({ server, browser }, { as });
  await open(`/realms/${realm}/clients/${shop}/edit`);
  await heading('Edit shop');
  await page.getByRole('button', { name: 'Modify and copy' }).waitFor();
  expect(await page.getByRole('button', { name: 'Hold…' }).count()).toBe(0);
  expect(complaints()).toEqual([]);
  await close();
});

test('branding that is declared is read-only in "Look and texts" too, with the same ways on', async () => {
  const look = { primaryColor: '#0a7c66' };
  await server.admin.call(importRealm, {
    params,
    query: { manager },
    body: { ...declared, realm: { ...declared.realm, ...look } },
  });
  const { page, open, heading, look: lookAt, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/look`);
  await heading('Look and texts');
  await page.getByText('Declared by Realm identity/acme: one field.').waitFor();
  expect(await page.getByLabel('Primary colour: as hex').isDisabled()).toBe(true);
  expect(await page.getByLabel('Background colour: as hex').isEnabled()).toBe(true);
  await lookAt('branding of a manager');
  await page.getByRole('button', { name: 'Modify and copy' }).click();
  await page.getByLabel('Primary colour: as hex').fill('#123456');
  await page.getByRole('button', { name: 'Show the declaration' }).click();
  await page.getByRole('dialog').getByText('#123456').first().waitFor();
  await close();
});
