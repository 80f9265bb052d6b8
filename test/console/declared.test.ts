// Owns: what is declared of realms, in the console: managers, changes by hand, history, undo, comparison.
// Does not own: fields of forms and holds of objects (managed.test.ts), the plans themselves (test/server).
// Implements: decisions "Import, export, plan", "Console".
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listClients, putClient } from '../../server/contract/clients.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createRole, listRoles } from '../../server/contract/roles.ts';
import { importRealm, listManagers } from '../../server/contract/transfer.ts';
import { importUsers } from '../../server/contract/user-import.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
const realm = 'acme';
const params = { realm };
const manager = 'k8s:prod/identity/Realm/acme';
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  for (const name of [realm, 'other']) await server.admin.call(createRealm, { body: { realm: name } });
  await server.admin.call(importRealm, {
    params,
    query: { manager },
    body: { clients: [{ clientId: 'shop', name: 'The shop', tokenEndpointAuthMethod: 'none' }] },
  });
  await server.admin.call(importRealm, { params, query: { manager: 'pipeline' }, body: { roles: [{ name: 'made' }] } });
  await server.admin.call(createRole, { params: { realm: 'other' }, body: { name: 'only-there' } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('managers are listed with what they declare and what was changed by hand since', async () => {
  const [shop] = (await server.admin.call(listClients, { params, query: { q: 'shop' } })).body ?? [];
  await server.admin.call(putClient, { params: { realm, id: shop?.id ?? '' }, body: { name: 'By hand' } });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open('/declared');
  await heading('Declared and history');
  const row = page.getByRole('row').filter({ hasText: /acme/ });
  await row.getByText('Realm identity/acme').waitFor();
  await look('what is declared, over all realms');
  await row.click();
  await page.waitForURL(/\/realms\/acme\/declared/);
  const panel = page.getByRole('region', { name: 'Realm identity/acme' });
  await panel.getByText('1 client', { exact: false }).first().waitFor();
  await panel.getByRole('link', { name: 'CLIENT_UPDATED' }).waitFor();
  await panel.getByRole('button', { name: 'Details' }).click();
  await panel.getByText('kubectl -n identity edit realm.realmkeeper.dev/acme').waitFor();
  await panel.getByRole('row').filter({ hasText: /shop/ }).waitFor();
  expect(page.url()).toContain('manager=k8s');
  await look('a manager with all that it declares');
  await close();
});

test('an import of users alone: its manager says so, and the history says where it is', async () => {
  await server.admin.call(importUsers, { params: { realm: 'other' }, body: [{ username: 'ana' }] });
  const { page, open, look, close } = await openConsole({ server, browser });
  await open('/realms/other/declared?manager=import');
  const panel = page.getByRole('region', { name: 'import' });
  await panel.getByText('Users alone. Last applied').waitFor();
  await panel.getByText('It has applied users, which are not listed here.').waitFor();
  expect(await page.getByText('It declares nothing now').count()).toBe(0);
  await look('a manager of users alone');
  await panel.getByRole('link', { name: 'History' }).click();
  await page.getByText('An import of users alone is kept as an event').waitFor();
  await look('a history without plans of a manager');
  await page.getByRole('link', { name: 'Imports of users' }).click();
  await page.getByRole('row').filter({ hasText: 'USERS_IMPORTED' }).waitFor();
  await close();
});

test('who may not read all kinds is told that a manager declares more', async () => {
  const as = await consoleAdministrator(server, realm, 'looker', ['managers:read', 'roles:read']);
  const { page, open, close } = await openConsole({ server, browser }, { as });
  await open(`/realms/${realm}/declared?manager=${encodeURIComponent(manager)}`);
  const panel = page.getByRole('region', { name: 'Realm identity/acme' });
  await panel.getByText('More that you may not read. Last applied').waitFor();
  expect(await panel.getByText('shop').count()).toBe(0);
  await close();
});

test('an applied plan is shown with its differences, and taken back after its plan', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/declared?tab=history`);
  await page
    .getByRole('row')
    .filter({ hasText: /pipeline/ })
    .waitFor();
  await look('the history');
  await page
    .getByRole('row')
    .filter({ hasText: /pipeline/ })
    .click();
  await page.getByRole('heading', { level: 1, name: /^Revision \d+$/ }).waitFor();
  await page.getByRole('region', { name: 'Changes' }).getByText('made').first().waitFor();
  await look('an applied plan');
  await page.getByRole('button', { name: 'Take it back…' }).click();
  const dialog = page.getByRole('dialog', { name: /Take revision \d+ back/ });
  await dialog.getByText('Take it back where it is declared, too.').waitFor();
  await dialog.getByText('Delete', { exact: true }).waitFor();
  await look('the plan of an undo');
  await dialog.getByRole('button', { name: 'Take it back', exact: true }).click();
  await page.getByText('Takes back', { exact: true }).waitFor();
  const roles = (await server.admin.call(listRoles, { params })).body ?? [];
  expect(roles.map(({ name }) => name)).not.toContain('made');
  await open(`/realms/${realm}/declared/history/999999`);
  await heading('Revision 999999');
  await page.getByText('It may have been deleted meanwhile').waitFor();
  await close();
});

test('two realms are compared, and a realm with a file; a file that is none says so', async () => {
  // each realm has a manager of its own for it: a comparison takes no side
  for (const [name, description] of Object.entries({ acme: 'Ours', other: 'Theirs' }))
    await server.admin.call(importRealm, {
      params: { realm: name },
      query: { manager: 'roles' },
      body: { roles: [{ name: 'both', description }] },
    });
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/declared?tab=compare`);
  await page.getByRole('combobox', { name: 'Another realm' }).fill('other');
  await page.getByRole('option', { name: 'other' }).click();
  await page
    .getByRole('region', { name: /^Only in other/ })
    .getByText('only-there')
    .waitFor();
  await page
    .getByRole('region', { name: /^Different/ })
    .getByText('Theirs')
    .waitFor();
  await page
    .getByRole('region', { name: /^Only in acme/ })
    .getByText('shop')
    .first()
    .waitFor();
  expect(page.url()).toContain('with=other');
  await look('two realms compared');
  await page.getByText('A file: a realm document').click();
  const file = (text: string) => ({ name: 'realm.yaml', mimeType: 'text/yaml', buffer: Buffer.from(text) });
  await page.getByLabel('File', { exact: true }).setInputFiles(file('just words'));
  await page.getByText('A realm document is a map of sections').waitFor();
  await page
    .getByLabel('File', { exact: true })
    .setInputFiles(file('apiVersion: realmkeeper.dev/v1alpha1\nkind: Realm\n'));
  await page.getByText('This is a resource of a cluster.').waitFor();
  await page.getByLabel('File', { exact: true }).setInputFiles(file('roles:\n  - name: from-a-file\n'));
  await page
    .getByRole('region', { name: /^Only in the file/ })
    .getByText('from-a-file')
    .first()
    .waitFor();
  await look('a realm compared with a file');
  const roles = (await server.admin.call(listRoles, { params })).body ?? [];
  expect(roles.map(({ name }) => name)).not.toContain('from-a-file');
  await close();
});

test('a manager is released; without managers:write nothing offers that', async () => {
  const as = await consoleAdministrator(server, realm, 'reader', ['managers:read']);
  const reader = await openConsole({ server, browser }, { as });
  await reader.open(`/realms/${realm}/declared?manager=${encodeURIComponent(manager)}`);
  await reader.page.getByText('kubectl -n identity edit').waitFor();
  expect(await reader.page.getByRole('button', { name: 'Release what it owns…' }).count()).toBe(0);
  expect(await reader.page.getByRole('link', { name: 'Compare' }).count()).toBe(0);
  await reader.look('managers for a reader');
  await reader.close();
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/declared?manager=${encodeURIComponent(manager)}`);
  await page.getByRole('button', { name: 'Release what it owns…' }).click();
  await look('before a release');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Release', exact: true }).click();
  await page.getByText(`Released what ${manager} owned.`).waitFor();
  const owned = (await server.admin.call(listManagers, { params })).body?.find((one) => one.manager === manager);
  expect(owned?.owns ?? []).toEqual([]);
  await close();
});
