// Owns: the console's audit log: filters in the address, one event, following, the export, the check of the chain.
// Does not own: what is recorded (test/server), the other operations (operations.test.ts).
// Implements: decisions "Console"; specification 6.
import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../server/contract/clients.ts';
import { createInvitation } from '../../server/contract/invitations.ts';
import { registerPushToken } from '../../server/contract/messages.ts';
import { createOrganization } from '../../server/contract/organizations.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createRole } from '../../server/contract/roles.ts';
import { createUser } from '../../server/contract/users.ts';
import { newId } from '../../server/crypto/ids.ts';
import { sqlOver } from '../../server/db/sql.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { eventually } from '../support/operator.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { withSlowSearch } from '../support/slow-search.ts';

let server: TestServer;
let browser: Browser;
const realm = 'acme';
const PRESSED_MS = 10_000;
const params = { realm };
const HOSTILE = `"><img src=x onerror="globalThis.hacked=1">`;
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
  await server.admin.call(createRole, { params, body: { name: 'editor' } });
  await server.admin.call(createRole, { params, body: { name: HOSTILE } });
  await server.admin.call(createClient, { params, body: { clientId: 'shop', tokenEndpointAuthMethod: 'none' } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('events are filtered by the address, and one event tells all about itself', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/events`);
  await heading('Events');
  await page
    .getByRole('row')
    .filter({ hasText: /CLIENT_CREATED/ })
    .first()
    .waitFor();
  await look('the events');
  await page.getByRole('combobox', { name: 'Type of event' }).fill('ROLE_CREATED');
  await page.getByRole('option', { name: 'ROLE_CREATED', exact: true }).click();
  await page
    .getByRole('row')
    .filter({ hasText: /ROLE_CREATED/ })
    .first()
    .waitFor();
  await expect
    .poll(() =>
      page
        .getByRole('row')
        .filter({ hasText: /CLIENT_CREATED/ })
        .count(),
    )
    .toBe(0);
  expect(page.url()).toContain('type=ROLE_CREATED');
  await page.getByLabel('Done to', { exact: true }).fill('editor');
  await page.waitForURL(/subject=editor/);
  const details = page.getByRole('dialog', { name: 'ROLE_CREATED' });
  // a row may be replaced by the answer to the filter as it is pressed
  await eventually(async () => {
    const row = page.getByRole('row').filter({ hasText: /ROLE_CREATED/ });
    if (!(await details.isVisible())) await row.first().click({ timeout: PRESSED_MS });
    await details.getByText('editor').first().waitFor({ timeout: PRESSED_MS });
  });
  await look('an event');
  expect(page.url()).toContain('event=');
  await page.reload();
  await details.waitFor();
  await page.goBack();
  await details.waitFor({ state: 'detached' });
  expect(page.url()).toMatch(/subject=editor$/);
  await page.goForward();
  await details.waitFor();
  await page.keyboard.press('Escape');
  await details.waitFor({ state: 'detached' });
  expect(page.url()).toMatch(/subject=editor$/);
  await page.getByLabel('Done to', { exact: true }).fill('nothing like it');
  await page.getByText('No event matches').waitFor();
  await page.getByRole('link', { name: 'Clear the filters' }).click();
  await page
    .getByRole('row')
    .filter({ hasText: /CLIENT_CREATED/ })
    .first()
    .waitFor();
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  await close();
});

test('users and invitations stand by their names, and no id in their place', async () => {
  const { body: user } = await server.admin.call(createUser, { params, body: { username: 'ida' } });
  const device = { userId: user?.id ?? '', platform: 'fcm' as const, token: 'token-of-a-phone' };
  await server.admin.call(registerPushToken, { params, body: device });
  await server.admin.call(createOrganization, { params, body: { name: 'globex' } });
  for (const invited of [{}, { organization: 'globex' }])
    await server.admin.call(createInvitation, { params, body: { email: 'new@example.com', mail: false, ...invited } });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/events?type=PUSH_TOKEN_REGISTERED`);
  await heading('Events');
  await page.getByRole('row').filter({ hasText: 'ida' }).waitFor();
  await open(`/realms/${realm}/events?type=INVITATION_SENT`);
  await page.getByRole('row').filter({ hasText: 'an invitation to globex' }).waitFor();
  await page
    .getByRole('row')
    .filter({ hasText: /an invitation(?! to)/ })
    .waitFor();
  expect(await page.getByRole('grid').innerText()).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  await look('invitations in the log');
  await close();
});

test('events that come appear by themselves while the page follows them', async () => {
  const { page, open, complaints, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/events?follow=1`);
  await page.getByText('New events appear here as they happen.').waitFor();
  await server.admin.call(createRole, { params, body: { name: 'came-later' } });
  await page
    .getByRole('row')
    .filter({ hasText: /ROLE_CREATED.*came-later/ })
    .waitFor();
  await page.getByText('1 event has come.').waitFor();
  expect(complaints()).toEqual([]);
  await close();
});

test('the export has every event that matches, and no formula for a spreadsheet', async () => {
  await server.admin.call(createRole, { params, body: { name: '=1+1' } });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/events?type=ROLE_CREATED`);
  await heading('Events');
  await page.getByRole('button', { name: 'Export' }).click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'As CSV, for a spreadsheet' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe(`events-${realm}.csv`);
  const text = await readFile(await file.path(), 'utf8');
  expect(text).toMatch(/^time,type,outcome/);
  expect(text).toContain(",'=1+1,");
  expect(text).not.toContain('CLIENT_CREATED');
  await page.getByText(/The file has \d+ events/).waitFor();
  await look('the export');
  await close();
});

test('the chain of the log is verified, and the last block can be noted', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/events`);
  await heading('Events');
  await page.getByRole('button', { name: 'Verify the log' }).click();
  await page.getByText('The log is as it was written.').waitFor();
  await page.getByText(/realmctl events verify -r acme --noted \d+:[0-9a-f]{64}/).waitFor();
  await look('the check of the log');
  await close();
});

test('a search that the server ends early goes on by itself: the activity of a user has the oldest event too', async () => {
  const userId = (await server.admin.call(createUser, { params: { realm }, body: { username: 'seldom' } })).body?.id;
  // the user did much, the type is frequent, and the user had one of that type long ago
  await sqlOver(server.pool)`
    insert into event (realm_id, id, type, occurred_at, actor, subject, client_id, outcome)
    select ${realm}, (lpad(to_hex(ms), 12, '0') || '70008' || lpad(to_hex(i), 15, '0'))::uuid,
      case when i % 2 = 0 or i = 1 then 'CREDENTIAL_DELETED' else 'TOKEN_ISSUED' end, to_timestamp(ms / 1000.0),
      jsonb_build_object('type', 'user', 'id', case when i % 2 = 1 then ${userId}::text else ${newId()}::text end, 'name', null),
      null, case when i = 1 then 'the-old-one' else 'shop' end, 'success'
    from generate_series(1, 3000) i, lateral (select (extract(epoch from now()) * 1000)::bigint - 600000 + i * 100 as ms) at`;
  const { page, open, look, close } = await openConsole({ server, browser });
  const asked: string[] = [];
  await page.route(/\/events\?/, async (route) => {
    asked.push(route.request().url());
    if (asked.length > 1) return route.continue();
    await route.fulfill({ response: await withSlowSearch(server, () => route.fetch()) });
  });
  await open(`/realms/${realm}/users/${userId}?tab=activity&type=CREDENTIAL_CREATED,CREDENTIAL_DELETED`);
  await page.getByRole('row').filter({ hasText: 'the-old-one' }).waitFor();
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.at(-1)).toContain('cursor=');
  await look('the activity of a user');
  await page.getByRole('row').filter({ hasText: 'the-old-one' }).click();
  await page.getByRole('dialog', { name: 'CREDENTIAL_DELETED' }).waitFor();
  expect(page.url()).toContain('event=');
  await page.keyboard.press('Escape');
  await open(`/realms/${realm}/events?event=${newId()}`);
  await page.getByRole('dialog', { name: 'This event can’t be shown' }).waitFor();
  await close();
});

test('without events:read there is no page, and a narrow screen shows all of it', async () => {
  const as = await consoleAdministrator(server, realm, 'no-events', ['realm:read']);
  const refused = await openConsole({ server, browser }, { as });
  await refused.open(`/realms/${realm}/events`);
  await refused.page.getByText('It needs the permission events:read').waitFor();
  expect(await refused.page.getByRole('link', { name: 'Events', exact: true }).count()).toBe(0);
  await refused.close();
  const { page, open, heading, look, close } = await openConsole(
    { server, browser },
    { viewport: { width: 390, height: 800 } },
  );
  await open(`/realms/${realm}/events`);
  await heading('Events');
  await page
    .getByRole('row')
    .filter({ hasText: /CLIENT_CREATED/ })
    .first()
    .waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  await look('the events on a phone');
  await close();
});
