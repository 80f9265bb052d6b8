// Owns: the users' desk: finding, creating, changing, helping, many at once, and an administrator who sees one group alone.
// Does not own: files and forms as pure functions (user-rows.unit.test.ts), the frame (first-page.test.ts).
// Implements: decisions "Console".
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../server/contract/clients.ts';
import { createGroup } from '../../server/contract/groups.ts';
import { listUserRoles } from '../../server/contract/memberships.ts';
import { createOrganization } from '../../server/contract/organizations.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createRole } from '../../server/contract/roles.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { getLockout } from '../../server/contract/user-access.ts';
import { putUserProfile } from '../../server/contract/user-profile.ts';
import { createUser, getUser, listUsers, putUser } from '../../server/contract/users.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { createPerson } from '../support/person.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
const realm = 'acme';
const params = { realm };
const HOSTILE = `"><img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>`;
const ids = new Map<string, string>();
const idOf = (username: string): string => ids.get(username) ?? '';
const at = (username: string) => `/realms/${realm}/users/${idOf(username)}`;
const stored = async (username: string) =>
  (await server.admin.call(getUser, { params: { realm, userId: idOf(username) } })).body;

beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
  await server.admin.call(createRole, { params, body: { name: 'reader' } });
  await server.admin.call(createRole, {
    params,
    body: { name: 'editor', composite: { roles: ['reader'], clientRoles: {} } },
  });
  for (const body of [{ name: 'sales', roles: ['editor'] }, { name: 'support' }])
    await server.admin.call(createGroup, { params, body });
  for (const body of [
    { username: 'ana', email: 'ana@example.com', firstName: 'Ana', lastName: 'Baker', groups: ['/sales'] },
    { username: 'ben', email: 'ben@example.com', enabled: false, groups: ['/sales'] },
    { username: 'cleo', groups: ['/support'] },
    { username: 'dora', firstName: HOSTILE, attributes: { note: [HOSTILE] } },
  ]) {
    const made = await server.admin.call(createUser, { params, body: { ...body, password: ADMIN_PASSWORD } });
    ids.set(body.username, made.body?.id ?? '');
  }
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('users are found by text and by state; the address keeps what was asked for', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/users`);
  await heading('Users');
  await page.getByRole('row', { name: /ana/ }).waitFor();
  await look('the users');
  await page.getByLabel('Find users').fill('Baker');
  await expect.poll(() => page.getByRole('row', { name: /ben/ }).count()).toBe(0);
  expect(page.url()).toContain('q=Baker');
  await open(`/realms/${realm}/users?state=disabled`);
  await page.getByRole('row', { name: /ben/ }).waitFor();
  expect(await page.getByRole('row', { name: /ana/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Filters' }).click();
  const dialog = page.getByRole('dialog', { name: 'Filter users' });
  await dialog.getByLabel('Attribute', { exact: true }).fill('note');
  await dialog.getByText('Enter the value that users must have.').waitFor();
  await look('the filters');
  await dialog.getByLabel('Value of the attribute').fill('nothing like it');
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('No user matches').waitFor();
  await page.reload();
  await page.getByText('No user matches').waitFor();
  await page.getByRole('button', { name: 'Remove the filter note' }).click();
  await page.getByRole('row', { name: /ben/ }).waitFor();
  await close();
});

test('the middle button opens a row in a tab of its own', async () => {
  const { page, open, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/users`);
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    page
      .getByRole('row', { name: /\bana\b/ })
      .first()
      .click({ button: 'middle' }),
  ]);
  await tab.getByRole('heading', { level: 1, name: 'ana' }).waitFor();
  expect(page.url()).toMatch(/\/users$/);
  await close();
});

test('a user is created by the keyboard, with faults at the fields', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/users/new`);
  await heading('Create a user');
  await page.getByRole('button', { name: 'Create', exact: true }).press('Enter');
  await page.getByText('Username is needed.').first().waitFor();
  await look('a user with a fault');
  await page.getByLabel('Username', { exact: true }).fill('ana');
  await page.keyboard.press('Enter');
  await page.getByText('Choose another name.').waitFor();
  await page.getByLabel('Username', { exact: true }).fill('erik');
  await page.getByRole('button', { name: 'Generate' }).press('Enter');
  await page.getByRole('checkbox', { name: 'Complete the profile' }).press('Space');
  await page.getByRole('button', { name: 'Create', exact: true }).press('Enter');
  await heading('erik');
  const [made] = (await server.admin.call(listUsers, { params, query: { q: 'erik' } })).body ?? [];
  expect(made).toMatchObject({ username: 'erik', enabled: true });
  expect(made?.requiredActions).toContain('UPDATE_PROFILE');
  await close();
});

test('the profile has the fields of the realm; two administrators at once lose nothing', async () => {
  await server.admin.call(putUserProfile, {
    params,
    body: {
      attributes: [
        { name: 'team', displayName: 'Team', validation: { options: ['red', 'blue'] } },
        { name: 'phone', displayName: 'Phone', validation: { maxLength: 5 } },
      ],
    },
  });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(at('ana'));
  await heading('ana');
  await look('a profile');
  await page.getByLabel('Phone').fill('12345');
  await page.getByLabel('First name').fill('Anna');
  await page.getByText('2 fields are changed.').waitFor();
  await server.admin.call(putUser, { params: { realm, userId: idOf('ana') }, body: { lastName: 'Cook' } });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const merge = page.getByRole('alertdialog', { name: 'Somebody else changed this meanwhile' });
  await merge.waitFor();
  await look('two changes of a profile');
  await merge.locator('footer').getByRole('button').last().click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved the profile.').waitFor();
  expect(await stored('ana')).toMatchObject({
    firstName: 'Anna',
    lastName: 'Cook',
    attributes: { phone: ['12345'] },
  });
  await server.admin.call(putUserProfile, { params, body: { attributes: [] } });
  await close();
});

test('a locked user: the report says why, and unlocking and a new password help', async () => {
  await server.admin.call(putSettings, { params, body: { lockoutEnabled: true, maxLoginFailures: 2 } });
  for (let i = 0; i < 2; i += 1) {
    const person = createPerson(server.baseUrl);
    await person.fill(await person.open(`/realms/${realm}/login`), { username: 'cleo', password: 'wrong wrong' });
  }
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/users?state=locked`);
  await page.getByRole('row', { name: /cleo/ }).waitFor();
  await open(`${at('cleo')}?tab=report`);
  await heading('cleo');
  await page.getByText('can’t sign in now.').waitFor();
  await page.getByText('The password was wrong').first().waitFor();
  // in the reader's time, and no green box beside the lock
  expect(await page.getByText(/^Locked until/).innerText()).not.toMatch(/\dT\d\d:/);
  await page.getByText('Once nothing prevents it, the user is signed in').waitFor();
  await page
    .getByRole('row')
    .filter({ hasText: 'locked after too many failed attempts' })
    .getByText('locked', { exact: true })
    .waitFor();
  await look('a sign-in report');
  await page.getByLabel('IP address').fill('no address');
  await page.getByRole('button', { name: 'Try it' }).click();
  await page.locator('.fault').first().waitFor();
  await page.getByLabel('IP address').fill('192.0.2.7');
  await page.getByRole('button', { name: 'Try it' }).click();
  await page.getByRole('region', { name: 'The steps in this situation' }).waitFor();
  expect(page.url()).toContain('ip=192.0.2.7');
  // what the bar at the top covers is no small target
  await page.evaluate('scrollTo(0, 0)');
  await look('a situation that was tried');
  await page.getByRole('button', { name: 'Unlock' }).first().click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Unlock' }).click();
  await page.getByText('Unlocked the user.').waitFor();
  const { body } = await server.admin.call(getLockout, { params: { realm, userId: idOf('cleo') } });
  expect(body).toMatchObject({ locked: false, failures: 0 });
  await page.getByRole('button', { name: 'Reset password' }).click();
  const dialog = page.getByRole('dialog', { name: 'Reset the password of cleo' });
  await dialog.getByLabel('New password').fill('x');
  await dialog.getByRole('button', { name: 'Set the password' }).click();
  await dialog.locator('.fault, .note.bad').first().waitFor();
  await look('a password with a fault');
  await dialog.getByRole('button', { name: 'Generate' }).click();
  await dialog.getByRole('button', { name: 'Set the password' }).click();
  await page.getByText('Set the password and ended all sessions.').waitFor();
  await server.admin.call(putSettings, { params, body: { lockoutEnabled: false } });
  await close();
});

test('roles say why the user has them, and are given and taken away', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`${at('ana')}?tab=access`);
  await heading('ana');
  const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) });
  await row('editor').getByText('by the group /sales').waitFor();
  await row('reader').getByText('contained in editor').waitFor();
  await look('groups and roles');
  await page.getByRole('button', { name: 'Give a role' }).click();
  const dialog = page.getByRole('dialog', { name: 'Give ana a role' });
  await dialog.getByRole('combobox', { name: 'Role' }).fill('read');
  await page.getByRole('option', { name: 'reader' }).click();
  await dialog.getByRole('button', { name: 'Give the role' }).click();
  await row('reader').getByText('held directly').waitFor();
  await page.getByRole('button', { name: 'Take reader away' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Take away' }).click();
  await page.getByText('Took the role away.').waitFor();
  const { body } = await server.admin.call(listUserRoles, { params: { realm, userId: idOf('ana') } });
  expect(body?.map(({ name }) => name)).not.toContain('reader');
  const group = page.getByRole('combobox', { name: 'Group to join' });
  await group.fill('/support');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Add to the group' }).click();
  await page.getByText('Put the user into /support.').waitFor();
  // the next group can be typed at once
  const hasFocus = () => page.evaluate<boolean>(`document.activeElement?.getAttribute('role') === 'combobox'`);
  await expect.poll(hasFocus).toBe(true);
  expect([await group.inputValue(), await page.getByRole('listbox').count()]).toEqual(['', 0]);
  expect(await stored('ana')).toMatchObject({ groups: ['/sales', '/support'] });
  await page.getByRole('button', { name: 'Take the user out of /support' }).click();
  await page.getByText('Took the user out of /support.').waitFor();
  await expect.poll(hasFocus).toBe(true);
  await close();
});

test('the other tabs load, and markup in names and values stays text', async () => {
  await server.admin.call(createOrganization, { params, body: { name: 'globex' } });
  const { page, open, heading, look, complaints, close } = await openConsole({ server, browser });
  for (const tab of ['profile', 'ways', 'sessions', 'consents', 'organizations', 'agents', 'activity', 'data']) {
    await open(`${at('dora')}?tab=${tab}`);
    await heading('dora');
    await page.waitForLoadState('networkidle');
    expect(await page.locator('.note.bad').count(), tab).toBe(0);
    await look(`the tab ${tab}`);
  }
  await open(`${at('dora')}?tab=organizations`);
  await page.getByRole('combobox', { name: 'Add to an organization' }).fill('globex');
  await page.getByRole('option', { name: 'globex' }).click();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('button', { name: 'Take out of globex' }).waitFor();
  await open(`${at('dora')}?tab=data`);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe(`acme-${idOf('dora')}.json`);
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  expect(complaints()).toEqual([]);
  await close();
});

test('many users at once: refusals are listed, and stop no other one', async () => {
  for (const username of ['bulk-1', 'bulk-2']) await server.admin.call(createUser, { params, body: { username } });
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/users?q=bulk`);
  await page.getByRole('row', { name: /bulk-1/ }).waitFor();
  await page.locator('thead .check').click();
  await page.getByText('2 users selected').waitFor({ timeout: 20_000 });
  await look('a selection');
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Require actions…' }).click();
  const dialog = page.getByRole('alertdialog', { name: 'Require actions: 2 users' });
  await dialog.getByRole('checkbox', { name: 'Accept the terms' }).press('Space');
  await look('actions on many users');
  await dialog.getByRole('button', { name: 'Require actions' }).click();
  await page.getByText('Require actions: done for 2 users.').waitFor();
  const { body } = await server.admin.call(listUsers, { params, query: { q: 'bulk' } });
  expect(body?.map(({ requiredActions }) => requiredActions.includes('TERMS'))).toEqual([true, true]);

  await page.locator('thead .check').click();
  await server.admin.call(putUser, { params: { realm, userId: body?.[0]?.id ?? '' }, body: { username: 'bulk-0' } });
  await page.route(`**/users/${body?.[0]?.id}`, (route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ status: 403, json: { title: 'Refused' } })
      : route.fallback(),
  );
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  const removal = page.getByRole('alertdialog', { name: 'Delete: 2 users' });
  expect(await removal.getByRole('button', { name: 'Delete', exact: true }).isDisabled()).toBe(true);
  await removal.getByLabel('Type 2 to confirm').fill('2');
  await removal.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('Done for 1 user; refused for 1 user.').waitFor();
  await page.getByRole('gridcell', { name: 'Refused' }).waitFor();
  await close();
});

test('a file is imported with its progress, and refused rows have their lines', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/users/import`);
  await heading('Import users');
  await look('the import');
  const choose = (name: string, text: string) =>
    page.getByLabel('A file of users').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
  await choose('people.csv', 'name\nana\n');
  await page.getByText('no column “username”').waitFor();
  await choose(
    'people.csv',
    'username,email\nfred,fred@example.com\ngina,no address\nhugo,hugo@example.com\n,iris@example.com\n',
  );
  await page.getByRole('button', { name: 'Import 3 users' }).waitFor();
  await page.getByText('1 row can’t be sent:').waitFor();
  await look('what a file has');
  await page.getByRole('button', { name: 'Import 3 users' }).click();
  await page.getByText('2 created').waitFor();
  await page
    .getByRole('row', { name: /line 3/ })
    .getByText('gina')
    .waitFor();
  await page
    .getByRole('row', { name: /line 5/ })
    .getByText('is needed')
    .waitFor();
  await look('an import with a refused row');
  await page.getByRole('link', { name: 'Show the users' }).click();
  await page.getByRole('row', { name: /hugo/ }).waitFor();
  await close();
});

test('a user is disabled, and deleted after a question; the list is there again', async () => {
  const { body } = await server.admin.call(createUser, { params, body: { username: 'zoe' } });
  const { page, open, heading, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/users/${body?.id}`);
  await heading('zoe');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Disable…' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click();
  await page.getByText('Disabled the user and ended all sessions.').waitFor();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await heading('Users');
  await page.getByRole('row', { name: /ana/ }).waitFor();
  expect(await page.getByRole('row', { name: /zoe/ }).count()).toBe(0);
  await open(`/realms/${realm}/users/${body?.id}`);
  await page.getByText('It may have been deleted meanwhile').waitFor();
  await close();
});

test('tokens are previewed from the client and from the user, with the origin of each claim', async () => {
  const made = await server.admin.call(createClient, {
    params,
    body: { clientId: 'shop', tokenEndpointAuthMethod: 'none', redirectUris: ['https://shop.example.com/'] },
  });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients/${made.body?.id}/token-preview?user=${idOf('ana')}&scope=openid+email`);
  await heading('Token preview');
  const idToken = page.getByRole('region', { name: 'ID token' });
  await idToken.getByText(idOf('ana')).first().waitFor({ timeout: 15_000 });
  await look('a preview of tokens');
  await open(`${at('ana')}/token-preview`);
  await page.getByText('Choose an application').waitFor();
  await look('a preview before an application is chosen');
  await close();
});

test('an administrator of one group sees its users alone, and what the limits permit', async () => {
  const as = await consoleAdministrator(
    server,
    realm,
    'sales-manager',
    ['users:read', 'users:write', 'groups:read', 'sessions:read'],
    ['/sales'],
  );
  const { page, open, heading, look, close } = await openConsole({ server, browser }, { as });
  await open(`/realms/${realm}/users`);
  await heading('Users');
  await page.getByRole('row', { name: /ana/ }).waitFor();
  expect(await page.getByRole('row', { name: /cleo/ }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Import' }).count()).toBe(0);
  await look('the users of a group');
  await open(at('ana'));
  await heading('ana');
  const tabs = await page.getByRole('navigation', { name: 'About ana' }).getByRole('link').allInnerTexts();
  expect(tabs).toEqual(['Profile', 'Ways to sign in', 'Sign-in report', 'Groups and roles', 'Sessions']);
  for (const tab of ['profile', 'ways', 'report', 'access', 'sessions']) {
    await open(`${at('ana')}?tab=${tab}`);
    await heading('ana');
    await page.waitForLoadState('networkidle');
    expect(await page.locator('.note.bad strong', { hasText: /forbidden/i }).count(), tab).toBe(0);
    await look(`the tab ${tab} for an administrator of a group`);
  }
  await open(at('cleo'));
  await page.getByText('Ask an administrator of the realm').waitFor();
  await open(`/realms/${realm}/users/new`);
  await page.getByLabel('Username', { exact: true }).fill('sven');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('Name a group that you administer.').first().waitFor();
  await close();
});

test('a reader finds nothing to change, and the pages fit a phone', async () => {
  const as = await consoleAdministrator(server, realm, 'user-reader', ['users:read']);
  const { page, open, heading, complaints, close } = await openConsole(
    { server, browser },
    { as, viewport: { width: 390, height: 844 } },
  );
  const tooWide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  const paths = [
    `/realms/${realm}/users`,
    ...['profile', 'ways', 'report', 'access'].map((tab) => `${at('ana')}?tab=${tab}`),
  ];
  for (const path of paths) {
    await open(path);
    await page.locator('h1').waitFor();
    await page.waitForLoadState('networkidle');
    expect(await page.evaluate(tooWide), path).toBe(0);
    for (const name of [/^Save$/, /Reset password/, /Create a user/, /Remove/, /Give a role/, /Add to the group/])
      expect(await page.getByRole('button', { name }).count(), `${path} ${name}`).toBe(0);
  }
  await heading('ana');
  await open(`/realms/${realm}/users/new`);
  await page.getByText('It needs the permission users:write').waitFor();
  expect(complaints()).toEqual([]);
  await close();
});
