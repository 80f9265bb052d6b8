// Owns: two administrators who edit the same thing at the same time, each in a console of their own.
// Does not own: documents beside them (managed.test.ts), the merge of flows and profiles (flows.test.ts, users.test.ts).
// Implements: decisions "Console": a save that comes second is a three-way merge, and nothing is lost silently.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  getAuthorizationService,
  putAuthorizationResource,
} from '../../server/contract/authorization-service-routes.ts';
import { createClient, deleteClient, getClient } from '../../server/contract/clients.ts';
import { builtInAdminRoles } from '../../server/contract/permissions.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { launchBrowser } from '../support/chromium.ts';
import { type ConsolePage, type Credentials, openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const MERGE = 'Somebody else changed this meanwhile';
const realm = 'acme';
const params = { realm };
let server: TestServer;
let browser: Browser;
let administrators: Credentials[] = [];
let ana: ConsolePage;
let ben: ConsolePage;
let id = '';

beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
  const all = [...(builtInAdminRoles['realm-admin'] ?? [])].filter((one) => one !== 'realm:create');
  administrators = [
    await consoleAdministrator(server, realm, 'ana', all),
    await consoleAdministrator(server, realm, 'ben', all),
  ];
});
beforeEach(async () => {
  const { body } = await server.admin.call(createClient, {
    params,
    body: { clientId: `shop-${Date.now()}`, name: 'Shop', tokenEndpointAuthMethod: 'none' },
  });
  id = body?.id ?? '';
  const [as, asToo] = administrators;
  ana = await openConsole({ server, browser }, { as: as ?? null });
  ben = await openConsole({ server, browser }, { as: asToo ?? null });
  return async () => {
    await ana.close();
    await ben.close();
    await server.admin.call(deleteClient, { params: { realm, id } }).catch(() => {});
  };
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const stored = async () => (await server.admin.call(getClient, { params: { realm, id } })).body;
const field = ({ page }: ConsolePage, label: string) => page.getByLabel(label, { exact: true });
const mergeOf = ({ page }: ConsolePage) => page.getByRole('alertdialog', { name: MERGE });
async function edit(console: ConsolePage, values: Record<string, string>): Promise<void> {
  await console.open(`/realms/${realm}/clients/${id}/edit`);
  for (const [label, value] of Object.entries(values)) await field(console, label).fill(value);
}
const review = ({ page }: ConsolePage) => page.getByRole('button', { name: 'Review and save' }).click();
const confirm = ({ page }: ConsolePage) =>
  page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
async function save(console: ConsolePage): Promise<void> {
  await review(console);
  await confirm(console);
}
const saved = ({ page }: ConsolePage) => page.getByText('Saved the client.').first().waitFor();

test('different fields: the second save shows what the first changed, and both values stay', async () => {
  await edit(ana, { Description: 'Where customers buy' });
  await edit(ben, { Name: 'The shop' });
  await save(ana);
  await saved(ana);
  await save(ben);
  const merge = mergeOf(ben);
  await merge.getByText('touch different fields. Both can stay.').waitFor();
  await merge.getByText('Where customers buy').waitFor();
  await ben.look('two changes of different fields');
  await merge.getByRole('button', { name: 'Go on with this' }).click();
  await confirm(ben);
  await saved(ben);
  expect(await stored()).toMatchObject({ name: 'The shop', description: 'Where customers buy' });
  expect(ana.complaints()).toEqual([]);
});

test('the same field: each value is shown, the choice is saved, and a third change in between is shown again', async () => {
  await edit(ana, { Name: 'Of Ana' });
  await edit(ben, { Name: 'Of Ben', Description: 'By Ben' });
  await save(ana);
  await saved(ana);
  await save(ben);
  const choice = mergeOf(ben).getByRole('radiogroup', { name: 'Which Name' });
  for (const words of ['Of Ben', 'Of Ana']) await choice.getByText(words, { exact: true }).waitFor();
  await mergeOf(ben).getByText('It was Shop when you began.').waitFor();
  await choice.getByText('Of Ana', { exact: true }).click();
  // while Ben chooses, Ana saves once more
  await edit(ana, { Name: 'Of Ana again' });
  await save(ana);
  await saved(ana);
  await mergeOf(ben).getByRole('button', { name: 'Go on with this' }).click();
  await confirm(ben);
  await mergeOf(ben).getByText('Of Ana again').waitFor();
  await mergeOf(ben).getByRole('button', { name: 'Go on with this' }).click();
  await confirm(ben);
  await saved(ben);
  expect(await stored()).toMatchObject({ name: 'Of Ana again', description: 'By Ben' });
  await edit(ana, { Name: 'Of Ana at last' });
  await edit(ben, { Name: 'Of Ben at last' });
  await save(ana);
  await saved(ana);
  await save(ben);
  await mergeOf(ben).getByRole('button', { name: 'Go on with this' }).click();
  await confirm(ben);
  await saved(ben);
  expect((await stored())?.name).toBe('Of Ben at last');
});

test('the same moment: one save is taken, the other is a merge', async () => {
  await edit(ana, { Name: 'Of Ana' });
  await edit(ben, { Description: 'By Ben' });
  await Promise.all([review(ana), review(ben)]);
  await Promise.all([confirm(ana), confirm(ben)]);
  const outcome = async (console: ConsolePage) => {
    await console.page.getByText('Saved the client.').or(mergeOf(console)).first().waitFor();
    return (await mergeOf(console).count()) === 0 ? 'saved' : 'merge';
  };
  const outcomes = [await outcome(ana), await outcome(ben)];
  expect(outcomes.toSorted()).toEqual(['merge', 'saved']);
  const second = outcomes[0] === 'merge' ? ana : ben;
  await mergeOf(second).getByRole('button', { name: 'Go on with this' }).click();
  await confirm(second);
  await saved(second);
  expect(await stored()).toMatchObject({ name: 'Of Ana', description: 'By Ben' });
});

test('a change of the other that says the same leaves nothing to save', async () => {
  await edit(ana, { Name: 'The shop' });
  await edit(ben, { Name: 'The shop' });
  await save(ana);
  await saved(ana);
  await save(ben);
  await mergeOf(ben).getByText('The others saved the same values. Nothing is left to save.').waitFor();
  await mergeOf(ben).getByRole('button', { name: 'Go on with this' }).click();
  await ben.page.getByText('Nothing is changed yet.').waitFor();
  expect(await ben.page.getByRole('dialog').count()).toBe(0);
});

test('a form in which nothing is edited shows what the other saved; one with edits keeps them', async () => {
  await ben.open(`/realms/${realm}/clients/${id}/edit`);
  await field(ben, 'Name').waitFor();
  await edit(ana, { Name: 'Of Ana' });
  await save(ana);
  await saved(ana);
  const look = () => ben.page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
  await expect
    .poll(async () => {
      await look();
      return field(ben, 'Name').inputValue();
    })
    .toBe('Of Ana');
  await field(ben, 'Description').fill('By Ben');
  await save(ben);
  await saved(ben);
  expect(await stored()).toMatchObject({ name: 'Of Ana', description: 'By Ben' });
});

test('the other deletes it: the save says so, and what was written stays in the form', async () => {
  await edit(ben, { Description: 'A long text of Ben’s' });
  await review(ben);
  await server.admin.call(deleteClient, { params: { realm, id } });
  await confirm(ben);
  await ben.page.getByText('It may have been deleted meanwhile').first().waitFor();
  await ben.page.getByRole('dialog').getByRole('button', { name: 'Back to editing' }).click();
  expect(await field(ben, 'Description').inputValue()).toBe('A long text of Ben’s');
  expect(ben.complaints()).toEqual([]);
});

test('an item of an authorization service: both changes stay, and the plan keeps what the other saved', async () => {
  const clientId = (await stored())?.clientId ?? '';
  const at = { realm, clientId: id, name: 'holiday' };
  const plain = { uris: [], scopes: [], owner: null, ownerManaged: false, attributes: {} };
  const item = { ...plain, name: 'holiday', displayName: 'Holiday', type: null };
  await server.admin.call(importRealm, {
    params,
    body: { authorizationServices: [{ clientId, resources: [item, { ...item, name: 'work' }] }] },
  });
  await ben.open(`/realms/${realm}/authorization-services/${id}?tab=resources&item=holiday`);
  await field(ben, 'Display name').fill('Of Ben');
  await server.admin.call(putAuthorizationResource, { params: at, body: { ...item, type: 'urn:of:ana' } });
  await server.admin.call(putAuthorizationResource, {
    params: { ...at, name: 'work' },
    body: { ...item, name: 'work', displayName: 'Of Ana' },
  });
  await review(ben);
  const dialog = ben.page.getByRole('dialog').last();
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await mergeOf(ben).getByText('touch different fields. Both can stay.').waitFor();
  await mergeOf(ben).getByText('urn:of:ana').waitFor();
  await ben.look('two changes of an item');
  await mergeOf(ben).getByRole('button', { name: 'Go on with this' }).click();
  await dialog.getByText('Of Ben').first().waitFor();
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await ben.page.getByText('Saved the resource holiday.').waitFor();
  const { body } = await server.admin.call(getAuthorizationService, { params: { realm, clientId: id } });
  expect(body?.resources).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'holiday', displayName: 'Of Ben', type: 'urn:of:ana' }),
      expect.objectContaining({ name: 'work', displayName: 'Of Ana' }),
    ]),
  );
});

test('settings: both changes stay, also of one page of settings', async () => {
  const settings = async (console: ConsolePage, values: Record<string, string>) => {
    await console.open(`/realms/${realm}/settings?group=general`);
    for (const [label, value] of Object.entries(values)) await field(console, label).fill(value);
  };
  await settings(ana, { 'Display name': 'Acme of Ana', 'Terms version': '2' });
  await settings(ben, { 'Display name': 'Acme of Ben', 'Terms URL': 'https://acme.example.com/terms' });
  await save(ana);
  await ana.page.getByText('Saved the settings.').waitFor();
  await save(ben);
  const choice = mergeOf(ben).getByRole('radiogroup', { name: 'Which Display name' });
  await choice.getByText('Acme of Ana').click();
  await ben.look('two changes of settings');
  await mergeOf(ben).getByRole('button', { name: 'Go on with this' }).click();
  await confirm(ben);
  await ben.page.getByText('Saved the settings.').waitFor();
  expect((await server.admin.call(getSettings, { params })).body).toMatchObject({
    displayName: 'Acme of Ana',
    termsVersion: '2',
    termsUrl: 'https://acme.example.com/terms',
  });
});
