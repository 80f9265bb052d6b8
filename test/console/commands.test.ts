// Owns: each page says how realmctl and curl show the same, and, for configuration, how Git declares it.
// Does not own: the commands of changed fields (kinds.test.ts), realmctl itself (test/cli).
// Implements: decisions "Console": programs can do all that the console does.
import { execFileSync } from 'node:child_process';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, listClients } from '../../server/contract/clients.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { getLockout, listUserSessions } from '../../server/contract/user-access.ts';
import { createUser, listCredentials } from '../../server/contract/users.ts';
import { launchBrowser } from '../support/chromium.ts';
import { type ConsolePage, openConsole } from '../support/console.ts';
import { eventually } from '../support/operator.ts';
import { createPerson } from '../support/person.ts';
import { asOperator, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const realm = 'acme';
const PRESSED_MS = 10_000;
let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
  await server.admin.call(putSettings, { params: { realm }, body: { passwordMinLength: 14 } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** The ways that the page's dialog has, and the text of the one that is shown. */
async function commandsOf({ page }: ConsolePage, way?: string): Promise<{ ways: string[]; text: string }> {
  const dialog = page.getByRole('dialog', { name: 'The same elsewhere' });
  // the button may be that of the page before, which is left at that moment
  await eventually(async () => {
    await page.locator('main').getByRole('button', { name: 'As command' }).first().click({ timeout: PRESSED_MS });
    await dialog.getByRole('tab').first().waitFor({ timeout: PRESSED_MS });
  });
  if (way !== undefined) await dialog.getByRole('tab', { name: way }).click();
  const [ways, text] = [await dialog.getByRole('tab').allInnerTexts(), await dialog.innerText()];
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  return { ways, text };
}

test('every page of the navigation has realmctl and curl', async () => {
  const console = await openConsole({ server, browser });
  const { page, open, close } = console;
  await open(`/realms/${realm}`);
  await page.locator('.nav a').first().waitFor();
  const links = await page.locator('.nav a').all();
  const addresses = await Promise.all(links.map((link) => link.getAttribute('href')));
  expect(addresses.length).toBeGreaterThan(25);
  addresses.push('/admin/console/first-steps');
  const without: string[] = [];
  for (const address of addresses) {
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)})`);
    await page.locator('main h1').waitFor();
    const { ways } = await commandsOf(console).catch((): { ways: string[] } => ({ ways: [] }));
    if (!ways.includes('realmctl') || !ways.includes('curl')) without.push(`${address}: ${ways.join(' ')}`);
  }
  expect(without).toEqual([]);
  await close();
});

test('settings are a manifest of what differs from a new realm’s', async () => {
  const console = await openConsole({ server, browser });
  for (const address of [`/realms/${realm}/settings`, `/realms/${realm}/look`]) {
    await console.open(address);
    const { text } = await commandsOf(console, 'Manifest');
    expect(text).toContain('passwordMinLength: 14');
    expect(text).toContain('displayName: Acme');
    expect(text).not.toContain('accessTokenTtlSeconds');
  }
  await console.close();
});

/** The arguments of realmctl in a command, as a shell reads them. */
const argumentsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `realmctl() { printf '%s\\n' "$@"; }; ${command}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');

test('each action on a user that asks first says its command, and the command does it', async () => {
  const username = 'pat o’hara\'s "$(id)"';
  const params = { realm };
  await server.admin.call(putSettings, { params, body: { lockoutEnabled: true, maxLoginFailures: 2 } });
  const password = 'a long password of theirs';
  const { body: user } = await server.admin.call(createUser, { params, body: { username, password } });
  const at = { realm, userId: user?.id ?? '' };
  for (const tried of [password, 'wrong wrong', 'wrong wrong']) {
    const person = createPerson(server.baseUrl);
    await person.fill(await person.open(`/realms/${realm}/login`), { username, password: tried });
  }
  const console = await openConsole({ server, browser });
  const { page, open } = console;
  /** Opens the question, and runs what its dialog says for realmctl; nothing is pressed that would do it here. */
  const runSaid = async (button: string, more: string[] = []) => {
    await page.getByRole('button', { name: button }).first().click();
    const question = page.getByRole('alertdialog').or(page.getByRole('dialog')).first();
    await question.getByRole('button', { name: 'As command' }).click();
    const same = page.getByRole('dialog', { name: 'The same elsewhere' });
    const said = await same.locator('pre').innerText();
    await same.getByRole('tab', { name: 'curl' }).click();
    expect(await same.locator('pre').innerText()).toContain(server.baseUrl);
    await page.keyboard.press('Escape');
    await same.waitFor({ state: 'detached' });
    // the focus comes back to the question a moment later
    await eventually(async () => {
      await page.keyboard.press('Escape');
      await question.waitFor({ state: 'detached', timeout: PRESSED_MS });
    });
    const ran = await realmctl(asOperator(server), [...argumentsOf(said), ...more]);
    expect(ran, `${said}\n${ran.stderr}`).toMatchObject({ code: 0 });
    return said;
  };
  await open(`/realms/${realm}/users/${at.userId}?tab=ways`);
  expect((await server.admin.call(getLockout, { params: at })).body?.locked).toBe(true);
  expect(await runSaid('Unlock')).toMatch(/^realmctl users unlock '/);
  expect((await server.admin.call(getLockout, { params: at })).body?.locked).toBe(false);
  await open(`/realms/${realm}/users/${at.userId}?tab=sessions`);
  await runSaid('End the session in', ['--yes']);
  expect((await server.admin.call(listUserSessions, { params: at })).body).toEqual([]);
  expect(await runSaid('Reset password')).toMatch(/^realmctl users reset-password '/);
  await open(`/realms/${realm}/users/${at.userId}?tab=ways`);
  await runSaid('Remove Password');
  expect((await server.admin.call(listCredentials, { params: at })).body).toEqual([]);
  await console.close();
});

test('names that begin with a dash are names in the commands, and no options', async () => {
  const username = '--all';
  const made = await server.admin.call(createUser, { params: { realm }, body: { username } });
  const console = await openConsole({ server, browser });
  const said = async (address: string) => {
    await console.open(address);
    const text = /^realmctl .+$/m.exec((await commandsOf(console, 'realmctl')).text)?.[0] ?? '';
    const ran = await realmctl(asOperator(server), argumentsOf(text));
    expect(ran, `${text}\n${ran.stderr}`).toMatchObject({ code: 0 });
    return [text, ran.stdout];
  };
  const [command, shown] = await said(`/realms/${realm}/users/${made.body?.id}`);
  expect(command).toBe('realmctl get users -r acme -o yaml -- --all');
  expect(shown).toContain('username: --all');
  await server.admin.call(createClient, {
    params: { realm },
    body: { clientId: '-shop', tokenEndpointAuthMethod: 'none' },
  });
  const { body: clients } = await server.admin.call(listClients, { params: { realm }, query: { q: '-shop' } });
  const [, client] = await said(`/realms/${realm}/clients/${clients?.[0]?.id}`);
  expect(client).toContain('clientId: -shop');
  await console.close();
});

test('a command of realmctl api does what the page says', async () => {
  const console = await openConsole({ server, browser });
  await console.open(`/realms/${realm}/agents?tab=review`);
  const { text } = await commandsOf(console, 'realmctl');
  expect(text).toMatch(/realmctl (get|api)/);
  await console.open('/server');
  const shown = (await commandsOf(console, 'realmctl')).text;
  const [, method = '', path = ''] = /realmctl api (GET) (\S+)/.exec(shown) ?? [];
  const ran = await realmctl(asOperator(server), ['api', method, path]);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  await console.close();
});
