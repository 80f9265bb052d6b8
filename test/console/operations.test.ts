// Owns: the console's operations: health, deliveries, messages, provisioning, syncs, refusals, keys, what ends, the server.
// Does not own: how they work (test/server), the audit log (audit.test.ts).
// Implements: decisions "Console".
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, createClientSecret } from '../../server/contract/clients.ts';
import { listKeys } from '../../server/contract/keys.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createWebhook, deleteWebhook, listDeliveries } from '../../server/contract/webhooks.ts';
import { newId } from '../../server/crypto/ids.ts';
import { sqlOver } from '../../server/db/sql.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
let webhook = '';
const realm = 'acme';
const params = { realm };
const HOSTILE = `"><img src=x onerror="globalThis.hacked=1">`;
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm } });
  const made = await server.admin.call(createWebhook, {
    params,
    body: {
      name: HOSTILE,
      url: 'https://hooks.invalid/realmkeeper',
      eventTypes: 'LOGIN_SUCCESS',
      enabled: true,
      secret: 'sixteen characters or more',
    },
  });
  webhook = made.body?.id ?? '';
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('each operation has a tab with an address, without a complaint of the browser', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/operations`);
  await heading('Operations');
  await page.getByText('The realm works.').or(page.getByText('Something is wrong')).waitFor();
  await look('the health of a realm');
  for (const [tab, words] of [
    ['messages', 'No message was sent in the last 30 days'],
    ['provisioning', 'There are no SCIM targets'],
    ['syncs', 'There is no directory'],
    ['logouts', 'Each application was told of each logout'],
    ['workloads', 'No workload was refused'],
  ] as const) {
    await open(`/realms/${realm}/operations?tab=${tab}`);
    await page.getByText(words).waitFor();
    await look(tab);
  }
  await close();
});

test('a test event is sent to a webhook, and its delivery is shown', async () => {
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/operations?tab=deliveries`);
  await page.getByText('Nothing was sent yet').waitFor();
  await page.getByRole('button', { name: 'Send a test event' }).click();
  await page.getByText('A test event is on its way.').waitFor();
  await page
    .getByRole('row')
    .filter({ hasText: /WEBHOOK_TEST/ })
    .waitFor();
  await look('the deliveries of a webhook');
  const sent = (await server.admin.call(listDeliveries, { params: { realm, id: webhook } })).body;
  expect(sent).toHaveLength(1);
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  await close();
});

test('deliveries of all webhooks are chosen by state, and one that was given up is tried again', async () => {
  const { body: other } = await server.admin.call(createWebhook, {
    params,
    body: { name: 'other', url: 'https://hooks.invalid/other', eventTypes: 'LOGOUT', enabled: false },
  });
  const sql = sqlOver(server.pool);
  await sql`
    insert into webhook_delivery (realm_id, id, webhook_id, event_id, event_type, body, status, attempts, created_at)
    values (${realm}, ${newId()}, ${other?.id}, ${newId()}, 'LOGOUT', '{}', 'dead', 10, now())`;
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/operations?tab=deliveries&status=dead`);
  const row = page.getByRole('row').filter({ hasText: /LOGOUT/ });
  await row.getByRole('link', { name: 'other' }).waitFor();
  await look('deliveries that were given up');
  await row.getByRole('button', { name: 'As command: send LOGOUT again' }).click();
  const same = page.getByRole('dialog', { name: 'The same elsewhere' });
  await same.getByText(/^realmctl retry delivery other [0-9a-f-]{36} -r acme$/).waitFor();
  await same.getByRole('tab', { name: 'curl' }).click();
  await same.getByText(/curl -X POST .*\/redeliver/s).waitFor();
  await page.keyboard.press('Escape');
  await same.waitFor({ state: 'detached' });
  await row.getByRole('button', { name: 'Try again: LOGOUT' }).click();
  await page.getByText('It is sent again, with the same id.').waitFor();
  await page.getByRole('button', { name: 'State' }).click();
  await page.getByRole('option', { name: 'Arrived' }).click();
  await page.waitForURL(/status=succeeded/);
  await close();
  await server.admin.call(deleteWebhook, { params: { realm, id: other?.id ?? '' } });
});

test('a message that was given up is tried again until it expires', async () => {
  const sql = sqlOver(server.pool);
  const [kept, expired] = [newId(), newId()];
  for (const [id, after] of [
    [kept, '1 hour'],
    [expired, '-1 hour'],
  ] as const)
    await sql`
      insert into message (realm_id, id, channel, template_key, recipient, status, attempts, error, content, expires_at, created_at)
      values (${realm}, ${id}, 'EMAIL', 'otp-email', ${HOSTILE}, 'dead', 3, '503 down', 'x', now() + ${after}::interval, now())`;
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/operations?tab=messages&status=dead`);
  await page.getByRole('row').nth(2).waitFor();
  expect(await page.getByRole('button', { name: /^Try again: otp-email/ }).count()).toBe(1);
  await look('messages that were given up');
  await page.getByRole('button', { name: /^Try again: otp-email/ }).click();
  await page.getByText('It is sent again, as it was.').waitFor();
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  await close();
  await sql`delete from message where realm_id = ${realm}`;
});

test('a logout that was given up is told again', async () => {
  await server.admin.call(createClient, {
    params,
    body: { clientId: 'told', tokenEndpointAuthMethod: 'none', backchannelLogoutUri: 'https://told.invalid/out' },
  });
  await sqlOver(server.pool)`
    insert into event (realm_id, id, type, occurred_at, client_id, outcome, data)
    values (${realm}, ${newId()}, 'BACKCHANNEL_LOGOUT_FAILED', now(), 'told', 'failure',
      ${JSON.stringify({ sessionId: newId(), reason: 'answered 503' })}::jsonb)`;
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/operations?tab=logouts`);
  await page.getByText('answered 503').waitFor();
  await look('logouts that were given up');
  await page.getByRole('button', { name: 'Try again: the logout at told' }).click();
  await page.getByText('The application is told again.').waitFor();
  await close();
});

test('a reader of webhooks alone sees the deliveries alone, and sends nothing', async () => {
  const as = await consoleAdministrator(server, realm, 'hooks', ['webhooks:read']);
  const { page, open, heading, complaints, close } = await openConsole({ server, browser }, { as });
  await open(`/realms/${realm}/operations`);
  await heading('Operations');
  const tabs = page.getByRole('navigation', { name: 'Operations' }).getByRole('link');
  await page.getByRole('row').first().or(page.getByText('Nothing was sent yet')).first().waitFor();
  expect(await tabs.allInnerTexts()).toEqual(['Deliveries']);
  expect(await page.getByRole('button', { name: 'Send a test event' }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Keys', exact: true }).count()).toBe(0);
  expect(complaints()).toEqual([]);
  await close();
});

test('a new key signs, the one before stays published until it is deleted', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/keys`);
  await heading('Keys');
  await page
    .getByRole('row')
    .filter({ hasText: /RS256.*signs/ })
    .waitFor();
  await page.getByRole('button', { name: 'Make a new key' }).click();
  await look('a new key');
  await page.getByRole('button', { name: 'Make the key' }).click();
  await page.getByText('A new key signs by RS256 now.').waitFor();
  const old = page.getByRole('row').filter({ hasText: /published still/ });
  await old.waitFor();
  await look('the keys');
  await old.getByRole('button', { name: /^Show the public key/ }).click();
  await page.getByText('BEGIN PUBLIC KEY').waitFor();
  await page.keyboard.press('Escape');
  await old.getByRole('button', { name: /^Delete the key/ }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the key' }).click();
  await page.getByText('Deleted the key.').waitFor();
  await expect
    .poll(async () => (await server.admin.call(listKeys, { params })).body?.map(({ status }) => status))
    .toEqual(['ACTIVE']);
  await close();
});

test('what ends and which clients are unused is listed by days in the address', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/attention`);
  await heading('Expiring and unused');
  await page.getByText('Nothing ends within 30 days').waitFor();
  await look('nothing that ends');
  const made = await server.admin.call(createClient, { params, body: { clientId: 'billing' } });
  const at = { params: { realm, id: made.body?.id ?? '' } };
  await server.admin.call(createClientSecret, { ...at, body: {} });
  await server.admin.call(createClientSecret, { ...at, body: { graceSeconds: 3600 } });
  await open(`/realms/${realm}/attention?days=7`);
  await page
    .getByRole('row')
    .filter({ hasText: /billing.*client secret/ })
    .waitFor();
  await look('what ends');
  await page.getByRole('link', { name: 'Unused clients' }).click();
  await page.getByText('Each client got a token').waitFor();
  expect(page.url()).toContain('tab=unused');
  await close();
});

test('the server’s own page is for administrators of every realm', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open('/server');
  await heading('Server');
  await page.getByRole('region', { name: 'Since its start' }).getByText('Tokens issued').waitFor();
  await page.getByRole('region', { name: 'Forwarding to a SIEM' }).getByText('off', { exact: true }).waitFor();
  await look('the server');
  await close();
  const as = await consoleAdministrator(server, realm, 'of-acme', ['realm:read', 'events:read']);
  const other = await openConsole({ server, browser }, { as });
  await other.open('/server');
  await other.page.getByText('Your admin roles don’t show this').waitFor();
  await other.close();
});
