// Owns: the console's operations: health, deliveries, messages, provisioning, syncs, refusals, keys, what ends, the server.
// Does not own: how they work (test/server), the audit log (audit.test.ts).
// Implements: decisions "Console".
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, createClientSecret } from '../../server/contract/clients.ts';
import { listKeys } from '../../server/contract/keys.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createWebhook, listDeliveries } from '../../server/contract/webhooks.ts';
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
