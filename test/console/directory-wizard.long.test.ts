// Owns: the wizard of directories against a real one: its test names people, its first sync takes them.
// Does not own: other wizards (wizards.test.ts), syncs themselves (test/server/features/ldap-sync.test.ts).
// Implements: decisions "Console": a wizard ends with something that works.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../server/contract/realms.ts';
import { getDirectory } from '../../server/contract/user-federation.ts';
import { listUsers } from '../../server/contract/users.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { BASE, personLdif, READER, READER_PASSWORD, type Slapd, startSlapd } from '../support/slapd.ts';

let server: TestServer;
let slapd: Slapd;
let browser: Browser;
const realm = 'acme';
const params = { realm };

beforeAll(async () => {
  const group = `dn: cn=dev,ou=groups,${BASE}\nobjectClass: groupOfNames\ncn: dev\nmember: uid=ada,ou=people,${BASE}\n\n`;
  slapd = await startSlapd(['ada', 'bob', 'cleo'].map((uid) => personLdif(uid)).join('') + group);
  server = await startTestServer({ env: { SVC_OUTBOUND_ALLOW: '127.0.0.1' } });
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await slapd?.stop();
});

test('a directory in three steps; its test names people, and the first sync takes them', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/set-up/directory`);
  await heading('Connect a directory');
  await page.getByRole('link', { name: /OpenLDAP/ }).click();
  await page.getByLabel('Servers, 1').fill(slapd.ldap);
  await page.getByLabel('Bind DN', { exact: true }).fill(READER);
  await page.getByLabel('Password of the bind DN').fill(READER_PASSWORD);
  await look('the connection of a directory');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Base of people').fill(`ou=people,${BASE}`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Take groups over').click();
  await page.getByLabel('Base of groups').fill(`ou=groups,${BASE}`);
  await page.getByRole('button', { name: 'Try them' }).click();
  await page.getByRole('row').filter({ hasText: 'cleo' }).waitFor();
  await look('the answers tried before they are saved');
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText('The directory answers.', { exact: false }).waitFor();
  await page.getByRole('row').filter({ hasText: 'cleo' }).waitFor();
  await look('the test of a directory');
  await page.getByRole('button', { name: 'Start the sync' }).click();
  await page.getByText('done', { exact: true }).waitFor();
  await look('the first sync');
  // the address has the sync
  await page.reload();
  await page.getByText('done', { exact: true }).waitFor();
  const users = (await server.admin.call(listUsers, { params, query: { limit: 100 } })).body ?? [];
  expect(users.map(({ username }) => username)).toEqual(expect.arrayContaining(['ada', 'bob', 'cleo']));
  const directory = (await server.admin.call(getDirectory, { params: { realm, alias: 'corporate' } })).body;
  expect(directory).toMatchObject({ secretSet: true, groups: { base: `ou=groups,${BASE}` }, schedule: 0 });
  await close();
});
