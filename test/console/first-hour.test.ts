// Owns: the first hour of a new administrator: faults at their fields, names that are taken, code that runs, the palette's settings.
// Does not own: the wizards themselves (wizards.test.ts), the kinds' pages (kinds.test.ts).
// Implements: decisions "Console": an error stands at its field, and a wizard ends with something that works.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { samplesFor } from '../../console/pages/wizards/samples.ts';
import { listClients } from '../../server/contract/clients.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createRole } from '../../server/contract/roles.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const execute = promisify(execFile);
let server: TestServer;
let browser: Browser;
const realm = 'acme';
const params = { realm };

beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
  await server.admin.call(createRole, { params, body: { name: 'reader' } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const isFocused = (page: Page, label: string) =>
  expect.poll(() => page.evaluate('document.activeElement?.labels?.[0]?.textContent')).toBe(label);
const text = (page: Page, label: string) => page.getByLabel(label, { exact: true }).innerText();

test('the first field that is wrong has the focus, and says what it needs', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open('/realms/new');
  await heading('Create a realm');
  await page.getByLabel('Name', { exact: true }).fill('no label');
  await page.getByRole('button', { name: 'Create the realm' }).click();
  await isFocused(page, 'Name');
  await open(`/realms/${realm}/set-up/application?variant=web&step=settings`);
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.getByText('Client ID is needed').waitFor();
  await page.getByText('at least one redirect URI is needed').waitFor();
  await isFocused(page, 'Client ID');
  expect(await page.getByLabel('Redirect URIs, 1').getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByLabel('Redirect URIs, 1').getAttribute('placeholder')).toContain('https://');
  await look('the faults of an application');
  await open(`/realms/${realm}/users/new`);
  await page.getByLabel('Username').fill('ana');
  await page.getByLabel('E-mail address', { exact: true }).fill('no address');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await isFocused(page, 'E-mail address');
  // once at the top and once at the field: a refusal of fields has no note of its own
  expect(await page.locator('.note.bad').count()).toBe(1);
  await close();
});

test('what the plan finds stands at its field, and not as a path of a document', async () => {
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/set-up/messages?variant=smtp&step=settings`);
  await page.getByLabel('Mail server').fill('smtp.example.com');
  await page.getByLabel('Port').fill('99999');
  await page.getByLabel('Sender', { exact: true }).fill('no address');
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.getByText('must be at most 65535', { exact: true }).waitFor();
  await page.getByText('must be an e-mail address', { exact: true }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await isFocused(page, 'Port');
  expect(await page.getByText('messagingProviders').count()).toBe(0);
  await look('the faults of a gateway');
  await page.getByLabel('Port').fill('587');
  await page.getByLabel('Sender', { exact: true }).fill('no-reply@example.com');
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('The gateway is set up.').waitFor();
  await close();
});

test('a name that is taken is a fault of the name, and nothing is said to be created or changed', async () => {
  const { page, open, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/roles/new`);
  await page.getByLabel('Name', { exact: true }).fill('reader');
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.locator('.fault').getByText('the name reader is taken').waitFor();
  await isFocused(page, 'Name');
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.getByLabel('Name', { exact: true }).fill('writer');
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'writer' }).waitFor();
  await close();
});

test('the code of a service runs as it is shown, also where the realm names no API', async () => {
  const { page, open, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/set-up/application?variant=service&step=settings`);
  await page.getByLabel('Client ID', { exact: true }).fill('nightly');
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('The application nightly is there.').waitFor();
  const CLIENT_SECRET = await text(page, 'Secret to copy');
  const command = await text(page, 'Code for curl');
  const { stdout } = await execute('bash', ['-c', command], { env: { ...process.env, CLIENT_SECRET } });
  expect(JSON.parse(stdout)).toMatchObject({ access_token: expect.any(String), token_type: 'Bearer' });
  const { body } = await server.admin.call(listClients, { params });
  expect(body?.map(({ clientId }) => clientId)).toContain('nightly');
  await close();
});

test('programs in the code listen where the redirect URI is, and parse', async () => {
  const input = { issuer: 'http://localhost:8080/realms/acme', clientId: "it's", resource: undefined };
  const of = (variant: string, id: string, redirectUri: string) => {
    const found = samplesFor(variant, { ...input, redirectUri }).find((sample) => sample.id === id);
    return found ?? expect.fail(`there is no sample ${id}`);
  };
  expect(of('web', 'express', 'http://localhost:4321/cb').code).toContain('app.listen(4321)');
  expect(of('web', 'express', 'https://shop.example.com/cb').code).toContain('app.listen(3000)');
  expect(of('web', 'python', 'http://localhost:4321/cb').run).toContain('--port 4321');
  expect(of('service', 'node', 'https://x.example.com').code).not.toContain('resource');
  const folder = await mkdtemp(path.join(os.tmpdir(), 'samples-'));
  for (const [variant, id] of [
    ['web', 'express'],
    ['service', 'node'],
    ['mcp', 'sdk'],
    ['spa', 'javascript'],
  ] as const) {
    const file = path.join(folder, `${variant}.mjs`);
    await writeFile(file, of(variant, id, 'http://127.0.0.1:4321/cb').code);
    await execute(process.execPath, ['--check', file]).catch((error) => expect.fail(`${variant}, ${id}: ${error}`));
  }
  await rm(folder, { recursive: true });
});

test('the palette finds settings by their words, and what can be created', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}`);
  await heading('acme');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Search' }).waitFor();
  await page.keyboard.type('lockout');
  await page
    .getByRole('menuitem', { name: /Signing in/ })
    .first()
    .waitFor();
  await look('a setting in the palette', { within: '[role=dialog]' });
  await page.keyboard.press('Enter');
  await heading('Settings');
  await page.getByRole('heading', { level: 2, name: 'Signing in' }).first().waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Search' }).waitFor();
  await page.keyboard.type('create a us');
  await page.getByRole('menuitem', { name: 'Create a user' }).waitFor();
  await page.keyboard.press('Enter');
  await heading('Create a user');
  await close();
});
