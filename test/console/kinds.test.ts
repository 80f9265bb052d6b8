// Owns: the generic pages of kinds: lists, forms, the plan before a save, two administrators at once, deleting, hostile names.
// Does not own: special pages, the frame (first-page.test.ts).
// Implements: decisions "Console": every kind has its pages; a save shows the plan.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allKinds } from '../../console/kinds/known.ts';
import { sectionTitle } from '../../console/kinds/words.ts';
import { createClient, listClients, putClient } from '../../server/contract/clients.ts';
import { createFlow } from '../../server/contract/flows.ts';
import { getIdentityProvider } from '../../server/contract/identity-providers.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createClientRole, createRole } from '../../server/contract/roles.ts';
import { createScimTarget } from '../../server/contract/scim-targets.ts';
import { getSettings, putSettings } from '../../server/contract/settings.ts';
import { createDirectory } from '../../server/contract/user-federation.ts';
import { launchBrowser } from '../support/chromium.ts';
import { basic, post, SECRET } from '../support/clients.ts';
import { openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
const realm = 'acme';
const params = { realm };
/** Together their forms have every input. */
const AXE_LOOKS_AT = ['clients', 'identityProviders', 'adminRoles'];
/** Markup, a closing quote, direction marks that are allowed in texts. */
const HOSTILE = `"><img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>{{7*7}}`;
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('each kind has a list and a form, without a complaint of the browser', async () => {
  const { page, go, open, heading, look, complaints, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}`);
  await heading(realm);
  for (const { path, one, section, ofClient } of allKinds) {
    if (ofClient) continue;
    await go(`/realms/${realm}/${path}`);
    await heading(sectionTitle(section));
    await page.locator('.table-box table, .tree, .empty').first().waitFor();
    expect(complaints(), section).toEqual([]);
    // a client is protected from the list itself
    if (section === 'authorizationServices') continue;
    await go(`/realms/${realm}/${path}/new`);
    await heading(`Create ${one}`);
    await page.getByRole('button', { name: 'Review and create' }).waitFor();
    expect(complaints(), `${section}, the form`).toEqual([]);
    if (AXE_LOOKS_AT.includes(section)) await look(`the form of ${section}`);
  }
  await close();
});

test('a client is created after its plan, searched for, and edited; what was not changed is not sent', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients`);
  await page.getByText('There are no clients yet').waitFor();
  await look('an empty list');
  await page.getByRole('link', { name: 'Create a client' }).first().click();
  await heading('Create a client');
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.getByText('One field needs a change').waitFor();
  await page.getByLabel('Client ID', { exact: true }).fill('shop');
  await page.getByLabel('Name', { exact: true }).fill('The shop');
  await page.getByRole('button', { name: 'Add redirect URI' }).click();
  await page.getByLabel('Redirect URIs, 1').fill('not an address');
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.getByText('[0]: must be an absolute URI without a fragment', { exact: true }).waitFor();
  await page.getByLabel('Redirect URIs, 1').fill('https://shop.example.com/callback');
  await page.getByRole('button', { name: 'Review and create' }).click();
  const review = page.getByRole('dialog', { name: 'Create a client' });
  await review.getByText('has no secret, so it can’t authenticate').waitFor();
  await look('the plan of a new client');
  await review.getByRole('button', { name: 'Create', exact: true }).click();
  await heading('shop');
  await look('a client');
  const [made] = (await server.admin.call(listClients, { params })).body ?? [];
  expect(made).toMatchObject({
    clientId: 'shop',
    name: 'The shop',
    redirectUris: ['https://shop.example.com/callback'],
  });

  const sent: unknown[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PUT') sent.push(request.postDataJSON());
  });
  await page.getByRole('link', { name: 'Edit' }).click();
  await heading('Edit shop');
  await page.getByLabel('Description', { exact: true }).fill('Where customers buy');
  await page.getByText('1 field is changed').waitFor();
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByText('Where customers buy').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await heading('shop');
  expect(sent).toEqual([{ description: 'Where customers buy' }]);

  await open(`/realms/${realm}/clients?q=sho`);
  await page.getByRole('row', { name: /shop/ }).waitFor();
  await page.getByLabel('Find clients').fill('nothing like it');
  await page.getByText('No client matches').waitFor();
  expect(page.url()).toContain('q=nothing+like+it');
  await close();
});

test('two administrators at once: each field takes either side, and nothing is lost', async () => {
  const made = await server.admin.call(createClient, {
    params,
    body: { clientId: 'portal', tokenEndpointAuthMethod: 'none', name: 'Portal', description: 'One' },
  });
  const id = made.body?.id ?? '';
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients/${id}/edit`);
  await heading('Edit portal');
  await page.getByLabel('Name', { exact: true }).fill('My portal');
  await page.getByLabel('Description', { exact: true }).fill('Mine');
  await server.admin.call(putClient, {
    params: { realm, id },
    body: { name: 'Their portal', description: 'Theirs', consentRequired: true },
  });
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  const merge = page.getByRole('alertdialog', { name: 'Somebody else changed this meanwhile' });
  await merge.waitFor();
  await merge.getByText('People are asked for consent').waitFor();
  await look('two changes of one client');
  await merge.getByRole('radiogroup', { name: 'Which Description' }).getByText('Theirs').click();
  await merge.getByRole('button', { name: 'Go on with this' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await heading('portal');
  const now = (await server.admin.call(listClients, { params, query: { q: 'portal' } })).body?.[0];
  expect(now).toMatchObject({ name: 'My portal', description: 'Theirs', consentRequired: true });
  await close();
});

test('before deleting, what refers to the object is shown; then its name is typed', async () => {
  await server.admin.call(createFlow, {
    params,
    body: { alias: 'kiosk-flow', copyFromAlias: 'browser' },
  });
  await server.admin.call(createClient, {
    params,
    body: { clientId: 'kiosk', tokenEndpointAuthMethod: 'none', flowOverride: 'kiosk-flow' },
  });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/flows/kiosk-flow`);
  await heading('kiosk-flow');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete the flow' }).click();
  const dialog = page.getByRole('alertdialog', { name: 'Delete kiosk-flow?' });
  await dialog.getByRole('link', { name: 'kiosk' }).waitFor();
  await look('what refers to a flow');
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  await server.admin.call(createRole, { params, body: { name: 'temporary' } });
  await open(`/realms/${realm}/roles?q=temporary`);
  await page.getByRole('row', { name: /temporary/ }).click();
  await heading('temporary');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete the role' }).click();
  const remove = page.getByRole('alertdialog').getByRole('button', { name: 'Delete the role' });
  expect(await remove.isDisabled()).toBe(true);
  await page.getByLabel('Type temporary to go on').fill('temporary');
  await remove.click();
  await heading('Roles');
  await page.getByText('Deleted the role temporary.').waitFor();
  await close();
});

test('settings of several groups are saved together after their plan, with what it does to people', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/settings`);
  await heading('Settings');
  await look('the settings');
  await page.getByLabel('Display name', { exact: true }).fill('Acme Incorporated');
  await page.getByRole('link', { name: 'Passwords' }).click();
  await page.getByLabel('Password min length').fill('7');
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByText('One field needs a change').waitFor();
  await page.getByLabel('Password min length').fill('14');
  await page.getByText('2 settings are changed').waitFor();
  await page.getByRole('button', { name: 'Review and save' }).click();
  const review = page.getByRole('dialog', { name: 'Save the settings' });
  await review.getByText('passwordMinLength').waitFor();
  await review.getByRole('button', { name: 'As command' }).click();
  await page.getByRole('tab', { name: 'Manifest' }).click();
  await page.getByText('passwordMinLength: 14').waitFor();
  await page.getByRole('dialog', { name: 'The same elsewhere' }).getByRole('button', { name: 'Close' }).click();
  await review.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved the settings.').waitFor();
  const { body } = await server.admin.call(getSettings, { params });
  expect(body).toMatchObject({ displayName: 'Acme Incorporated', passwordMinLength: 14 });
  await close();
});

test('script and markup in every name and text stay text', async () => {
  await server.admin.call(putSettings, { params, body: { displayName: HOSTILE, welcomeText: HOSTILE } });
  await server.admin.call(createRole, { params, body: { name: HOSTILE, description: HOSTILE } });
  await server.admin.call(createClient, {
    params,
    body: { clientId: HOSTILE, name: HOSTILE, description: HOSTILE, tokenEndpointAuthMethod: 'none' },
  });
  const { page, open, heading, complaints, close } = await openConsole({ server, browser });
  for (const path of ['/realms', `/realms/${realm}`, `/realms/${realm}/settings?group=appearance`]) {
    await open(path);
    await page.locator('h1').waitFor();
    await page.waitForLoadState('networkidle');
  }
  for (const path of ['roles', 'clients']) {
    await open(`/realms/${realm}/${path}?q=onerror`);
    await page.getByRole('row', { name: /onerror/ }).click();
    await heading(HOSTILE);
    await page.getByRole('link', { name: 'Edit' }).click();
    await heading(`Edit ${HOSTILE}`);
  }
  await page.keyboard.press('Control+k');
  await page.getByLabel('Search for pages, realms and objects').fill('onerror');
  await page
    .getByRole('menuitem', { name: /onerror/ })
    .first()
    .waitFor();
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  expect(complaints()).toEqual([]);
  await close();
});

test('values are words: roles by their names, times as dates, objects without braces, no empty object', async () => {
  await server.admin.call(createRole, { params, body: { name: 'plain' } });
  const { body: client } = await server.admin.call(createClient, { params, body: { clientId: 'billing' } });
  await server.admin.call(createClientRole, { params: { realm, clientId: client?.id ?? '' }, body: { name: 'clerk' } });
  const composite = { roles: ['plain'], clientRoles: { billing: ['clerk'] } };
  await server.admin.call(createRole, { params, body: { name: 'lead', composite } });
  await server.admin.call(createDirectory, { params, body: createDirectory.example! });
  const { body: target } = await server.admin.call(createScimTarget, { params, body: createScimTarget.example! });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/roles`);
  await page.getByRole('row', { name: /lead/ }).getByText('billing/clerk').waitFor();
  expect(await page.getByRole('row', { name: /plain/ }).innerText()).not.toMatch(/roles/i);
  await open(`/realms/${realm}/user-federation/${createDirectory.example?.alias}`);
  await page.getByText('ou=people,dc=example,dc=com').waitFor();
  expect(await page.locator('main').innerText()).not.toMatch(/[{}]/);
  await look('a directory');
  await open(`/realms/${realm}/scim-targets/${target?.id}`);
  await heading(String(target?.name));
  await page.getByText('Kept by the server').waitFor();
  expect(await page.locator('main').innerText()).not.toMatch(/\d{13}/);
  await open(`/realms/${realm}/clients/${client?.id}?tab=roles`);
  await page.getByRole('link', { name: 'Create a role', exact: true }).waitFor();
  await close();
});

test('the form of an identity provider has the fields of the chosen type alone', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/identity-providers/new`);
  await heading('Create an identity provider');
  const field = (label: string) => page.getByLabel(label, { exact: true });
  const choose = async (type: string) => {
    await page.getByRole('button', { name: /^(.* )?Type( .*)?$/ }).click();
    await page.getByRole('option', { name: type, exact: true }).click();
  };
  expect([await field('Issuer').count(), await field('Entity ID').count()]).toEqual([0, 0]);
  await choose('oidc');
  await field('Issuer').fill('https://id.example.com');
  expect(await field('Entity ID').count()).toBe(0);
  await look('the form of an OpenID provider');
  await choose('saml');
  await field('Entity ID').fill('https://idp.example.com');
  expect([await field('Issuer').count(), await field('JWKS URI').count()]).toEqual([0, 0]);
  await look('the form of a SAML provider');
  await field('Single sign on URL').fill('https://idp.example.com/sso');
  await field('Alias').fill('corporate');
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
  await heading('corporate');
  // the issuer, which only an OpenID provider has, was not sent
  const at = { ...params, alias: 'corporate' };
  expect((await server.admin.call(getIdentityProvider, { params: at })).body?.config).toEqual({
    entityId: 'https://idp.example.com',
    singleSignOnUrl: 'https://idp.example.com/sso',
  });
  await close();
});

test('a new secret of a client: whom it concerns, how long the present one works, and the new one once', async () => {
  await server.admin.call(createClient, { params, body: { clientId: 'till', secret: SECRET } });
  await server.admin.call(createClient, { params, body: { clientId: 'page', tokenEndpointAuthMethod: 'none' } });
  const clients = (await server.admin.call(listClients, { params })).body ?? [];
  const idOf = (clientId: string) => clients.find((one) => one.clientId === clientId)?.id ?? '';
  const accepts = async (secret: string) =>
    (await post(server, realm, 'introspect', { token: 'x' }, { authorization: basic('till', secret) })).status === 200;
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients/${idOf('page')}`);
  await heading('page');
  expect(await page.getByRole('button', { name: 'New secret…' }).count()).toBe(0);
  await open(`/realms/${realm}/clients/${idOf('till')}`);
  await page.getByRole('button', { name: 'New secret…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New secret of till' });
  await dialog.getByText('One that has no new secret when it ends gets no tokens').waitFor();
  await look('before a new secret');
  await dialog.getByRole('button', { name: /How long the present secret works on/ }).click();
  await page.getByRole('option', { name: 'One hour' }).click();
  await dialog.getByRole('button', { name: 'Make a new secret' }).click();
  await dialog.getByText('It is shown once.').waitFor();
  await look('a new secret');
  const secret = await dialog.getByRole('region', { name: 'the secret' }).locator('pre').innerText();
  await page.keyboard.press('Escape');
  await dialog.getByText('The former one works until').waitFor();
  expect([await accepts(secret), await accepts(SECRET)]).toEqual([true, true]);
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(secret);
  // at once: the former one ends
  await page.getByRole('button', { name: 'New secret…' }).click();
  await dialog.getByText('It ends now.').waitFor();
  await dialog.getByRole('button', { name: /How long the present secret works on/ }).click();
  await page.getByRole('option', { name: 'It ends now' }).click();
  await dialog.getByRole('button', { name: 'Make a new secret' }).click();
  await dialog.getByText('It is shown once.').waitFor();
  expect([await accepts(secret), await accepts(SECRET)]).toEqual([false, false]);
  await close();
});

test('who only reads clients finds no button for a new secret', async () => {
  const [client] = (await server.admin.call(listClients, { params, query: { q: 'till' } })).body ?? [];
  const as = await consoleAdministrator(server, realm, 'client-reader', ['clients:read', 'realm:read']);
  const { page, open, heading, complaints, close } = await openConsole({ server, browser }, { as });
  await open(`/realms/${realm}/clients/${client?.id}`);
  await heading('till');
  expect(await page.getByRole('button', { name: 'New secret…' }).count()).toBe(0);
  expect(complaints()).toEqual([]);
  await close();
});
