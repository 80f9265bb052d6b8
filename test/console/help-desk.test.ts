// Owns: the help desk's day in the console: an administrator of one group helps a user of it; a user with markup in every name.
// Does not own: each page of the users' desk for itself (users.test.ts).
// Implements: decisions "Console".
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgent } from '../../server/contract/agents.ts';
import { createClient } from '../../server/contract/clients.ts';
import { createGroup } from '../../server/contract/groups.ts';
import { createIdentityProvider } from '../../server/contract/identity-providers.ts';
import { createOrganization } from '../../server/contract/organizations.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createRole } from '../../server/contract/roles.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { listUserSessions } from '../../server/contract/user-access.ts';
import { createUser, getUser, listUsers } from '../../server/contract/users.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { createPerson } from '../support/person.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
const realm = 'acme';
const params = { realm };
const HOSTILE = `"><img src=x onerror="globalThis.hacked=1;alert(1)">`;
const idOf = async (q: string): Promise<string> =>
  (await server.admin.call(listUsers, { params, query: { q } })).body?.[0]?.id ?? '';
/** A person who signs in at the realm. */
async function signIn(username: string, password: string, headers: Record<string, string> = {}) {
  const person = createPerson(server.baseUrl, headers);
  return person.fill(await person.open(`/realms/${realm}/login`), { username, password });
}

beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: HOSTILE } });
  for (const name of ['sales', 'support']) await server.admin.call(createGroup, { params, body: { name } });
  for (const [username, group] of [
    ['ana', '/sales'],
    ['ben', '/sales'],
    ['cleo', '/support'],
  ] as const)
    await server.admin.call(createUser, { params, body: { username, groups: [group], password: ADMIN_PASSWORD } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** The label of the focused element, or else its words. */
const focusedName = (page: Page) =>
  page.evaluate(
    `(({ ariaLabel, labels, textContent }) => ariaLabel ?? labels?.[0]?.textContent ?? textContent)(document.activeElement)`,
  );
/** Moves the focus by Tab until it is where the name says. */
async function tabTo(page: Page, name: string) {
  for (let i = 0; i < 60; i += 1) {
    await page.keyboard.press('Tab');
    if ((await focusedName(page)) === name) return;
  }
  throw new Error(`Tab does not come to ${name}`);
}

/** A dialog is open. */
const asked = (page: Page) => page.getByRole('alertdialog').or(page.getByRole('dialog')).first().waitFor();

test('an administrator of one group finds a locked user, helps by keyboard, and reaches no other group', async () => {
  await server.admin.call(putSettings, { params, body: { lockoutEnabled: true, maxLoginFailures: 2 } });
  await signIn('ana', ADMIN_PASSWORD);
  for (let i = 0; i < 2; i += 1) await signIn('ana', 'not the password');
  const permissions = ['users:read', 'users:write', 'groups:read', 'sessions:read', 'sessions:write'] as const;
  const as = await consoleAdministrator(server, realm, 'sales-desk', [...permissions], ['/sales']);
  const { page, open, heading, look, complaints, close } = await openConsole({ server, browser }, { as });
  await open(`/realms/${realm}/users`);
  await heading('Users');
  await page.getByRole('row', { name: /\bana\b/ }).waitFor();
  await tabTo(page, 'Find users');
  await page.keyboard.type('an');
  await expect.poll(() => page.getByRole('row', { name: /ben/ }).count()).toBe(0);
  const table = page.getByRole('grid', { name: 'Users' });
  for (let i = 0; i < 10 && (await table.locator(':focus').count()) === 0; i += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await heading('ana');
  await page.getByText('locked', { exact: true }).first().waitFor();
  await tabTo(page, 'Sign-in report');
  await page.keyboard.press('Enter');
  await page.getByText('can’t sign in now.').waitFor();
  await look('the report of a locked user, for a help desk');
  await page.getByRole('button', { name: 'Unlock' }).first().press('Enter');
  await asked(page);
  await tabTo(page, 'Unlock');
  await page.keyboard.press('Enter');
  await page.getByText('Unlocked the user.').waitFor();
  await page.getByText('can sign in now.').waitFor();

  await open(`/realms/${realm}/users/${await idOf('ana')}?tab=sessions`);
  await page.getByRole('grid', { name: 'Live sessions' }).getByRole('row').nth(1).waitFor();
  await page.getByRole('button', { name: 'End all', exact: true }).press('Enter');
  await asked(page);
  await tabTo(page, 'End all');
  await page.keyboard.press('Enter');
  await page.getByText('Ended all sessions of the user.').waitFor();
  await page.getByText('The user is signed in nowhere.').waitFor();
  const at = { realm, userId: await idOf('ana') };
  expect((await server.admin.call(listUserSessions, { params: at })).body).toEqual([]);

  await page.getByRole('button', { name: 'Reset password' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Reset the password of ana' });
  await dialog.getByLabel('New password').waitFor();
  await page.keyboard.type('a password of the desk');
  await page.keyboard.press('Enter');
  await page.getByText('Set the password and ended all sessions.').waitFor();
  await dialog.waitFor({ state: 'detached' });
  expect((await signIn('ana', 'a password of the desk')).text).not.toMatch(/wrong|incorrect/i);
  expect((await server.admin.call(getUser, { params: at })).body?.requiredActions).toContain('UPDATE_PASSWORD');

  await open(`/realms/${realm}/users/${await idOf('cleo')}`);
  await page.getByText('Ask an administrator of the realm').waitFor();
  for (const path of ['groups', 'clients', 'settings', 'events', 'users/import']) {
    await open(`/realms/${realm}/${path}`);
    await page.locator('h1').waitFor();
    await page.waitForLoadState('networkidle');
    expect(await page.getByText('cleo').count(), path).toBe(0);
    expect(await page.getByRole('row', { name: /support/ }).count(), path).toBe(0);
  }
  expect(complaints()).toEqual([]);
  await close();
  await server.admin.call(putSettings, { params, body: { lockoutEnabled: false } });
});

test('all rows of a page are selected and let go by keyboard, and one row of them', async () => {
  const { page, open, heading, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/users?group=%2Fsales`);
  await heading('Users');
  await page.getByRole('row', { name: /ben/ }).waitFor();
  const table = page.getByRole('grid', { name: 'Users' });
  await tabTo(page, 'Filters');
  for (let i = 0; i < 10 && (await table.locator(':focus').count()) === 0; i += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Home');
  expect(await focusedName(page)).toBe('Select all rows');
  await page.keyboard.press('Space');
  await page.getByText('2 users selected').waitFor();
  await page.keyboard.press('Space');
  await page.getByText('2 users selected').waitFor({ state: 'detached' });
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await page.getByText('1 user selected').waitFor();
  await close();
});

test('markup in every name of a user stays text: no dialog, no report of the page’s policy', async () => {
  await server.admin.call(createRole, { params, body: { name: HOSTILE, description: HOSTILE } });
  await server.admin.call(createGroup, { params, body: { name: HOSTILE, roles: [HOSTILE] } });
  await server.admin.call(createIdentityProvider, {
    params,
    body: { ...createIdentityProvider.example!, alias: 'elsewhere', displayName: HOSTILE },
  });
  const { body: made } = await server.admin.call(createUser, {
    params,
    body: { username: HOSTILE, password: ADMIN_PASSWORD, requiredActions: [] },
  });
  await server.admin.call(importRealm, {
    params,
    body: {
      users: [
        {
          username: HOSTILE,
          firstName: HOSTILE,
          lastName: HOSTILE,
          attributes: { [HOSTILE]: [HOSTILE] },
          groups: [`/${HOSTILE}`],
          roles: [HOSTILE],
          identities: [
            { identityProvider: 'elsewhere', issuer: 'https://id.example.com', subject: HOSTILE, name: HOSTILE },
          ],
        },
      ],
    },
  });
  await server.admin.call(createOrganization, { params, body: { name: HOSTILE, displayName: HOSTILE } });
  await server.admin.call(createClient, { params, body: { clientId: 'robot' } });
  await server.admin.call(createAgent, {
    params,
    body: { name: HOSTILE, purpose: HOSTILE, owner: HOSTILE, clientId: 'robot' },
  });
  await signIn(HOSTILE, ADMIN_PASSWORD, { 'user-agent': HOSTILE });
  await signIn(HOSTILE, 'not the password', { 'user-agent': HOSTILE });
  const { page, open, heading, look, complaints, close } = await openConsole({ server, browser });
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  const at = `/realms/${realm}/users/${made?.id}`;
  await open(`/realms/${realm}/users?q=onerror&columns=name,groups,roles`);
  await page.getByRole('row', { name: /onerror/ }).waitFor();
  await look('a list with markup in its names');
  for (const tab of [
    'profile',
    'ways',
    'report',
    'access',
    'sessions',
    'organizations',
    'agents',
    'activity',
    'data',
  ]) {
    await open(`${at}?tab=${tab}`);
    await heading(HOSTILE);
    await page.waitForLoadState('networkidle');
    expect(await page.locator('main img').count(), tab).toBe(0);
    expect(await page.title()).toContain('<img src=x');
    expect(complaints(), tab).toEqual([]);
  }
  await open(`${at}?tab=access`);
  await page
    .getByRole('row', { name: /onerror/ })
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'As command' }).first().click();
  await page.getByText(/realmctl get users/).waitFor();
  await page.keyboard.press('Escape');
  for (const item of ['Make a set-up link…', 'Disable…', 'Act as the user…', 'Delete…', 'Erase…']) {
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: item }).click();
    await asked(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').or(page.getByRole('alertdialog')).first().waitFor({ state: 'detached' });
  }
  await page.keyboard.press('Control+k');
  await page.getByLabel('Search for pages, realms and objects').waitFor();
  await page.keyboard.type('onerror');
  await page
    .getByRole('menuitem', { name: /onerror/ })
    .first()
    .waitFor();
  await page.keyboard.press('Escape');
  expect(complaints()).toEqual([]);
  expect(dialogs).toEqual([]);
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  await close();
});
