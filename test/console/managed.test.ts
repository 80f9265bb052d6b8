// Owns: objects and settings that a manager declares, in the console: the badge, read-only fields, the three ways on, holds.
// Does not own: ownership and holds themselves (test/server/features), history and comparison (declared.test.ts).
// Implements: decisions "Ownership", "Holds", "Console".
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createClient, getClient, listClients } from '../../server/contract/clients.ts';
import { endHold, listHolds, placeHold } from '../../server/contract/holds.ts';
import { getMessageTemplate } from '../../server/contract/message-templates.ts';
import { createRealm, deleteRealm } from '../../server/contract/realms.ts';
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
  await page.getByRole('dialog').getByText('Of our own').waitFor();
  expect(
    await page
      .getByRole('dialog')
      .getByText(/Nothing changes|back to what it declares/)
      .count(),
  ).toBe(0);
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await heading('shop');
  expect((await server.admin.call(getClient, { params: { realm, id: shop } })).body?.description).toBe('Of our own');
  await close();
});

test('the plan names what the change of a managed object does, and the edited fields that its manager sets back', async () => {
  const callbacks = ['https://shop.example.com/'];
  const clients = [{ ...declared.clients[0], enabled: true, redirectUris: callbacks }];
  await server.admin.call(importRealm, { params, query: { manager }, body: { ...declared, clients } });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await server.admin.call(importRealm, { params, query: { manager }, body: declared });
  await open(`/realms/${realm}/clients/${shop}/edit`);
  await heading('Edit shop');
  await page.getByText('Enabled', { exact: true }).click();
  await page.getByLabel('Description', { exact: true }).fill('Closed for today');
  // the manager declares one of the edited fields meanwhile, with the value that it has
  await server.admin.call(importRealm, { params, query: { manager }, body: { ...declared, clients } });
  await page.getByRole('button', { name: 'Review and save' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('enabled is declared by Realm identity/acme, which will set it back').waitFor();
  await dialog.getByText('Closed for today').waitFor();
  await dialog.getByText('shop: ').first().waitFor();
  await look('the plan of an edit that a manager sets back');
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
  await page.getByRole('dialog').getByText('By hand').waitFor();
  await page.getByRole('dialog').getByText('the change stays until the hold ends').waitFor();
  expect(
    await page
      .getByRole('dialog')
      .getByText(/Nothing changes|back to what it declares/)
      .count(),
  ).toBe(0);
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

test('the dialog of the managers offers the ways on; a hold that is ended on the page is told of', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients/${shop}`);
  await heading('shop');
  const badge = page.getByRole('button', { name: 'Declared by Realm identity/acme' });
  await badge.click();
  const managers = page.getByRole('dialog', { name: 'Its manager' });
  expect(await managers.getByRole('link', { name: 'Modify and copy' }).getAttribute('href')).toMatch(
    /edit\?mode=copy$/,
  );
  await managers.getByRole('button', { name: 'Hold…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Place a hold' });
  await dialog.getByLabel('Reason').fill('INC-1235: the name is wrong');
  await look('a hold from the dialog of the managers');
  await dialog.getByRole('button', { name: 'Place the hold' }).click();
  await page.getByText('INC-1235: the name is wrong').waitFor();
  expect((await server.admin.call(listHolds, { params })).body).toMatchObject([
    { what: [{ kind: 'client', key: 'shop' }] },
  ]);
  await badge.click();
  await managers.waitFor();
  expect(await managers.getByRole('button', { name: 'Hold…' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'End the hold', exact: true }).click();
  await page.getByText('Ended the hold. The declared state returns.').waitFor();
  expect((await server.admin.call(listHolds, { params })).body).toEqual([]);
  await close();
});

test('a flow that is declared can be held on its page, and the page says who holds it', async () => {
  const flow = {
    alias: 'keys',
    executions: [{ authenticatorId: 'username-password', requirement: 'REQUIRED' as const }],
  };
  await server.admin.call(importRealm, { params, query: { manager }, body: { ...declared, flows: [flow] } });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/flows/keys`);
  await heading('keys');
  await page.getByRole('button', { name: 'Show the declaration' }).waitFor();
  await page.getByRole('button', { name: 'Hold…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Place a hold' });
  await dialog.getByLabel('Reason').fill('INC-1236: nobody signs in');
  await dialog.getByRole('button', { name: 'Place the hold' }).click();
  await page.getByText('INC-1236: nobody signs in').waitFor();
  await page.getByRole('button', { name: 'Review and save' }).waitFor();
  await look('a flow that is held');
  await page.getByRole('button', { name: 'End the hold', exact: true }).click();
  await page.getByRole('button', { name: 'Show the declaration' }).waitFor();
  await close();
});

test('a hold that another administrator ends leaves what is typed, and the edit can be taken to the declaration', async () => {
  const what = [{ kind: 'client', key: 'shop' }];
  const body = { what, reason: 'INC-1', until: Date.now() + 600_000 };
  const hold = (await server.admin.call(placeHold, { params, body })).body;
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients/${shop}/edit`);
  await heading('Edit shop');
  await page.getByText('INC-1').waitFor();
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('By hand');
  await server.admin.call(endHold, { params: { realm, id: hold?.id ?? '' } });
  await page.getByText('They are read-only here').waitFor();
  expect([await name.inputValue(), await name.isDisabled()]).toEqual(['By hand', true]);
  await page.getByRole('button', { name: 'Review and save' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('name is declared by Realm identity/acme, which will set it back').waitFor();
  await look('the plan of an edit after the end of its hold');
  await dialog.getByRole('button', { name: 'Back to editing' }).click();
  await page.getByRole('button', { name: 'Modify and copy' }).click();
  await page.getByRole('button', { name: 'Show the declaration' }).click();
  await dialog
    .getByText(/name: By hand/)
    .first()
    .waitFor();
  await close();
});

test('an object that is deleted in Git while it is edited: the page says so, and what is typed can be copied', async () => {
  const gone = { clientId: 'gone', name: 'Gone', tokenEndpointAuthMethod: 'none' as const };
  const apply = (clients: (typeof gone)[]) =>
    server.admin.call(importRealm, {
      params,
      query: { manager: 'k8s:prod/identity/Realm/gone', prune: 'true' },
      body: { clients },
    });
  await apply([gone]);
  const id = (await server.admin.call(listClients, { params, query: { q: 'gone' } })).body?.[0]?.id ?? '';
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients/${id}/edit`);
  await heading('Edit gone');
  const description = page.getByLabel('Description', { exact: true });
  await description.fill('A long text');
  await apply([]);
  await page.getByText('The client was deleted meanwhile.').waitFor();
  expect(await description.inputValue()).toBe('A long text');
  await look('a form of an object that was deleted');
  await page.getByRole('button', { name: 'Show the declaration' }).click();
  const dialog = page.getByRole('dialog');
  for (const words of [/description: A long text/, /name: Gone/]) await dialog.getByText(words).first().waitFor();
  await look('what was typed, as a declaration');
  await close();
});

test('a realm that is deleted while one of its objects is edited: what is typed can be copied', async () => {
  const other = { realm: 'short-lived' };
  await server.admin.call(createRealm, { body: other });
  const { body: client } = await server.admin.call(createClient, {
    params: other,
    body: { clientId: 'till', tokenEndpointAuthMethod: 'none' },
  });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/short-lived/clients/${client?.id}/edit`);
  await heading('Edit till');
  await page.getByLabel('Description', { exact: true }).fill('A long text');
  await server.admin.call(deleteRealm, { params: other });
  await page.getByRole('button', { name: 'Review and save' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('It may have been deleted meanwhile').first().waitFor();
  await look('the plan in a realm that was deleted');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByRole('button', { name: 'Back to editing' }).click();
  await page.getByText('The client was deleted meanwhile.').waitFor();
  expect(await page.getByLabel('Description', { exact: true }).inputValue()).toBe('A long text');
  await page.getByRole('button', { name: 'Show the declaration' }).click();
  await dialog
    .getByText(/description: A long text/)
    .first()
    .waitFor();
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

test('texts and messages that are declared are read-only in "Look and texts" too, with the same ways on', async () => {
  const key = { templateKey: 'otp-email', channel: 'EMAIL', locale: 'en' } as const;
  await server.admin.call(importRealm, {
    params,
    query: { manager },
    body: {
      ...declared,
      messageTexts: [{ locale: 'en', texts: { 'password.title': 'Hello of Git' } }],
      messageTemplates: [{ ...key, subject: 'Of Git', body: 'Your code: {{code}}' }],
    },
  });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/look/texts?locale=en`);
  await heading('Look and texts');
  await page.getByText('Declared by Realm identity/acme: one field.').waitFor();
  const text = page.getByLabel('Text of password.title', { exact: true });
  expect(await text.isDisabled()).toBe(true);
  expect(await page.getByRole('button', { name: 'Add a text' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Review and save' }).count()).toBe(0);
  await look('texts of a manager');
  await page.getByRole('button', { name: 'Modify and copy' }).click();
  await text.fill('Hello by hand');
  await page.getByRole('button', { name: 'Show the declaration' }).click();
  const declaration = page.getByRole('dialog', { name: 'Take the change to where it is declared' });
  await declaration
    .getByText(/Hello by hand/)
    .first()
    .waitFor();
  await open(`/realms/${realm}/look/messages`);
  await page.getByRole('row').filter({ hasText: 'Realm identity/acme' }).filter({ hasText: /code/i }).first().waitFor();
  await open(`/realms/${realm}/look/messages/otp-email?locale=en`);
  await page.getByRole('button', { name: 'Declared by Realm identity/acme' }).waitFor();
  const subject = page.getByLabel('Subject', { exact: true });
  expect(await subject.isDisabled()).toBe(true);
  expect(await page.getByLabel('Send these words').isEnabled()).toBe(true);
  await look('a message of a manager');
  await page.getByRole('button', { name: 'Hold…' }).click();
  await page.getByLabel('Reason').fill('a wrong word in it');
  await page.getByRole('button', { name: 'Place the hold' }).click();
  await page.getByText('A hold keeps this as it is').waitFor();
  await subject.fill('By hand');
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved the message.').waitFor();
  const stored = await server.admin.call(getMessageTemplate, { params: { ...params, ...key } });
  expect(stored.body?.subject).toBe('By hand');
  await close();
});
