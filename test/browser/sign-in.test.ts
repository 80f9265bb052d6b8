import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createClient } from '../../server/contract/clients.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { putSettings, type SettingsInput } from '../../server/contract/settings.ts';
import { createUser } from '../../server/contract/users.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { launchBrowser } from '../support/chromium.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const PASSWORD = 'three wet umbrellas';
let server: TestServer;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** The application: it answers at its redirect address. */
let application: Server;
let redirectUri: string;
let complaints: string[];
let made = 0;

beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  application = createServer((_, response) => response.end('<h1>The application</h1>'));
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
  const address = application.address();
  redirectUri = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/callback`;
});
afterAll(async () => {
  await browser.close();
  application.closeAllConnections();
  await new Promise((resolve) => application.close(resolve));
  await server.stop();
});
beforeEach(async () => {
  complaints = [];
  context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
});
afterEach(async () => {
  await context.close();
});

async function realmWith(settings: SettingsInput = {}): Promise<string> {
  made += 1;
  const realm = `b${made}`;
  await server.admin.call(createRealm, { body: { realm } });
  await server.admin.call(putSettings, { params: { realm }, body: settings });
  await server.admin.call(createUser, {
    params: { realm },
    body: { username: 'alice', firstName: 'Alice', lastName: 'Miller', password: PASSWORD },
  });
  await server.admin.call(createClient, {
    params: { realm },
    body: { clientId: 'app', name: 'The application', tokenEndpointAuthMethod: 'none', redirectUris: [redirectUri] },
  });
  return realm;
}
/** Where an application sends a browser. */
function authorizeUrl(realm: string, more: Record<string, string> = {}): string {
  const challenge = createHash('sha256').update(randomBytes(32).toString('base64url')).digest('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'app',
    redirect_uri: redirectUri,
    scope: 'openid',
    state: 'here',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  });
  return `${server.baseUrl}/realms/${realm}/oauth2/authorize?${query}`;
}
async function typePassword(password = PASSWORD): Promise<void> {
  await page.getByLabel('Username or e-mail').fill('alice');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  // the click waits for the next page to begin, not for what is on it
  await page.waitForLoadState();
}
const heading = () => page.getByRole('heading', { level: 1 }).innerText();
async function addMethod(realm: string, method: string): Promise<void> {
  await page.goto(`${server.baseUrl}/realms/${realm}/account?view=security`);
  await page.getByText('Add a way to sign in').click();
  await page.getByRole('button', { name: method, exact: true }).click();
}
async function setUpCode(): Promise<string> {
  const secret = (await page.locator('code.secret').innerText()).replace(/\s/g, '');
  await page.getByLabel('Code', { exact: true }).fill(codeAt(secret));
  await page.getByRole('button', { name: 'Confirm and continue' }).click();
  await page.waitForLoadState();
  return secret;
}

test('with the keyboard alone: sign in, see the account, sign out', async () => {
  const realm = await realmWith();
  await page.goto(`${server.baseUrl}/realms/${realm}/login`);
  // The first field has the focus by itself.
  await page.locator('input:focus').waitFor();
  await page.keyboard.type('alice');
  await page.keyboard.press('Tab');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/account$/);
  expect(await heading()).toBe('Alice Miller');
  const reach = async (...all: string[]) => {
    for (const one of all) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe(one);
    }
  };
  await reach('Profile', 'Security');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\?view=security$/);
  const views = ['Profile', 'Security', 'Devices and sessions', 'Applications', 'Your data', 'Recent activity'];
  await reach(...views, 'Sign out', 'Change password', 'Add a way to sign in');
  await page.keyboard.press('Enter');
  await reach('Passkey', 'Authenticator app', 'Device', 'Recovery codes');
  await page.goto(`${server.baseUrl}/realms/${realm}/account?view=devices`);
  expect(await page.getByText('This device').count()).toBe(1);
  await reach(...views, 'Sign out');
  await page.keyboard.press('Enter');
  await page.getByText('You are signed out').waitFor();
  await page.goto(`${server.baseUrl}/realms/${realm}/account`);
  expect(await heading()).toBe('Sign in');
  expect(complaints).toEqual([]);
});

test('recovery codes are shown once, to be copied, downloaded or printed, and then their number alone', async () => {
  const realm = await realmWith();
  await page.goto(`${server.baseUrl}/realms/${realm}/account`);
  await typePassword();
  await addMethod(realm, 'Recovery codes');
  expect(await heading()).toBe('Keep your recovery codes');
  const codes = await page.locator('#codes li').allTextContents();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  expect((await downloading).suggestedFilename()).toBe('recovery-codes.txt');
  await page.getByRole('button', { name: 'Downloaded' }).waitFor();
  await page.getByLabel('I have kept the codes').check();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText(', 10 not used yet').waitFor();
  expect(codes).toHaveLength(10);
  for (const code of codes) expect(await page.content()).not.toContain(code);
  expect(complaints).toEqual([]);
});

test('who goes back after signing out is asked to sign in, whatever the browser kept', async () => {
  const realm = await realmWith();
  await page.goto(`${server.baseUrl}/realms/${realm}/account`);
  await typePassword();
  // leads to the account while there is a session, and must not when there is none
  await page.goto(`${server.baseUrl}/realms/${realm}/login`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out').waitFor();
  await page.goBack();
  expect(await heading()).toBe('Sign in');
});

test('who signs out of a set-up that they left leaves none of its secrets in the browser', async () => {
  const realm = await realmWith();
  await page.goto(`${server.baseUrl}/realms/${realm}/account`);
  await typePassword();
  for (const method of ['Recovery codes', 'Authenticator app']) {
    await addMethod(realm, method);
    await page.getByRole('button', { name: 'Cancel and go back to your account' }).waitFor();
    await page.goto(`${server.baseUrl}/realms/${realm}/account`);
  }
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('link', { name: 'Sign in again' }).click();
  await page.getByLabel('Username or e-mail').waitFor();
  expect(await page.locator('code').count()).toBe(0);
  for (const path of ['account', 'login', 'login?tab=1']) {
    await page.goto(`${server.baseUrl}/realms/${realm}/${path}`);
    expect(await heading()).toBe('Sign in');
    expect(await page.content()).not.toContain('alice');
  }
});

test('an application gets its code, and a second request needs no sign-in', async () => {
  const realm = await realmWith();
  await page.goto(authorizeUrl(realm));
  expect(await page.getByText('to continue to The application').count()).toBe(1);
  await typePassword();
  await page.waitForURL(`${redirectUri}?**`);
  const answer = new URL(page.url()).searchParams;
  expect(answer.get('state')).toBe('here');
  expect(answer.get('code')).toBeTruthy();
  expect(answer.get('iss')).toBe(`${server.baseUrl}/realms/${realm}`);
  await page.goto(authorizeUrl(realm));
  expect(page.url()).toContain(redirectUri);
  await page.goto(authorizeUrl(realm, { prompt: 'login' }));
  expect(await heading()).toBe('Sign in');
  expect(await page.getByLabel('Username or e-mail').inputValue()).toBe('alice');
  expect(complaints).toEqual([]);
});

test('a second factor is set up within the sign-in that needs it', async () => {
  const realm = await realmWith({ requireMfa: true });
  await page.goto(authorizeUrl(realm));
  await typePassword();
  expect(await heading()).toBe('Set up a second factor');
  expect(await page.getByRole('img', { name: /QR code/ }).count()).toBe(1);
  await page.getByLabel('Code', { exact: true }).fill('12345');
  await page.getByRole('button', { name: 'Confirm and continue' }).click();
  expect(await page.getByRole('alert').innerText()).toContain('digits');
  await setUpCode();
  await page.waitForURL(`${redirectUri}?**`);
  await page.goto(`${server.baseUrl}/realms/${realm}/account?view=security`);
  expect(await page.locator('ul.rows > li').filter({ hasText: 'Authenticator app' }).count()).toBe(1);
  expect(complaints).toEqual([]);
});

test('an application that asks for more gets a step-up of the session, not a new sign-in', async () => {
  const realm = await realmWith();
  await page.goto(authorizeUrl(realm));
  await typePassword();
  await page.waitForURL(`${redirectUri}?**`);
  const before = (await context.cookies()).find((cookie) => cookie.name === 'SVC_SESSION')?.value;
  await page.goto(authorizeUrl(realm, { acr_values: '2' }));
  expect(await heading()).toBe('Set up a second factor');
  await setUpCode();
  await page.waitForURL(`${redirectUri}?**`);
  const after = (await context.cookies()).find((cookie) => cookie.name === 'SVC_SESSION')?.value;
  expect(after).not.toBe(before);
  const { rows } = await server.pool.query('select level_of_assurance, methods from session where realm_id = $1', [
    realm,
  ]);
  expect(rows).toEqual([{ level_of_assurance: 2, methods: ['pwd', 'otp'] }]);
  // The session has it now.
  await page.goto(authorizeUrl(realm, { acr_values: '2' }));
  expect(page.url()).toContain(redirectUri);
});

test('who is locked out is told no more than who mistyped, and how to go on', async () => {
  const realm = await realmWith({ lockoutEnabled: true, maxLoginFailures: 2 });
  await page.goto(`${server.baseUrl}/realms/${realm}/login`);
  await typePassword('not this one');
  const wrong = await page.getByRole('alert').innerText();
  await page.locator('#password:focus').waitFor();
  expect(await page.locator('#password').getAttribute('aria-invalid')).toBe('true');
  await typePassword('nor that one');
  await typePassword();
  expect(await page.getByRole('alert').innerText()).toBe(wrong);
  expect(await heading()).toBe('Sign in');
});

/** By hand what a checker would look for; runs in the page. */
const faults = `(() => {
  const found = [];
  const say = (what, element) => found.push(what + ': ' + element.outerHTML.slice(0, 90));
  if (!document.documentElement.lang) found.push('no language');
  if (document.querySelectorAll('h1').length !== 1) found.push('not one h1');
  if (document.querySelectorAll('main').length !== 1) found.push('not one main');
  if (!document.title) found.push('no title');
  if (document.documentElement.scrollWidth > innerWidth) found.push('scrolls sideways');
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  if (new Set(ids).size !== ids.length) found.push('an id twice');
  for (const e of document.querySelectorAll('input:not([type=hidden])')) {
    if (!e.labels.length) say('no label', e);
    const by = e.getAttribute('aria-describedby');
    if (by && !by.split(' ').every((id) => document.getElementById(id))) say('describes nothing', e);
  }
  for (const e of document.querySelectorAll('button, a')) {
    if (!e.textContent.trim()) say('no name', e);
    if (e.getBoundingClientRect().height < 24) say('too small a target', e);
  }
  for (const e of document.querySelectorAll('img')) if (!e.alt) say('no alt', e);
  const rgb = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const c = rgb(getComputedStyle(at).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || e.closest('svg')) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) say('contrast ' + ((a + 0.05) / (b + 0.05)).toFixed(2), e);
  }
  return found;
})()`;

test('pages are accessible in light and dark, whatever colour the realm chose', async () => {
  for (const primaryColor of ['#ffe600', '#7f7f7f', '#0b0b3b']) {
    const realm = await realmWith({ primaryColor, backgroundColor: primaryColor, requireMfa: true, rememberMe: true });
    for (const colorScheme of ['light', 'dark'] as const) {
      await context.close();
      context = await browser.newContext({ viewport: { width: 320, height: 640 }, colorScheme });
      page = await context.newPage();
      await page.goto(`${server.baseUrl}/realms/${realm}/login`);
      expect(await page.evaluate(faults)).toEqual([]);
      await typePassword('wrong');
      expect(await page.evaluate(faults)).toEqual([]);
      await typePassword();
      expect(await page.evaluate(faults)).toEqual([]);
      if (colorScheme === 'light') {
        await page.goto(`${server.baseUrl}/realms/${realm}/login`);
        continue;
      }
      await setUpCode();
      await page.waitForURL(/\/account$/);
      expect(await page.evaluate(faults)).toEqual([]);
    }
  }
});

test('who clicks twice with the first code of a new factor gets to the application, though the first answer is lost', async () => {
  const realm = await realmWith({ requireMfa: true });
  await page.goto(authorizeUrl(realm));
  await typePassword();
  const secret = (await page.locator('code.secret').innerText()).replace(/\s/g, '');
  const lost: number[] = [];
  await page.route('**/login', async (route) => {
    const request = route.request();
    if (request.method() !== 'POST' || lost.length > 0) return route.fallback();
    const cookies = await context.cookies(request.url());
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
    const body = request.postData() ?? '';
    const answer = await fetch(request.url(), { method: 'POST', headers, body, redirect: 'manual' });
    await route.abort('aborted');
    lost.push(answer.status);
  });
  await page.getByLabel('Code', { exact: true }).fill(codeAt(secret));
  const button = page.getByRole('button', { name: 'Confirm and continue' });
  await button.click({ noWaitAfter: true });
  await expect.poll(() => lost).toEqual([303]);
  await button.click();
  await page.waitForURL((url) => url.href.startsWith(redirectUri));
  expect(new URL(page.url()).searchParams.get('code')).not.toBeNull();
  // Whose answer was lost is signed in here.
  await page.goto(`${server.baseUrl}/realms/${realm}/account`);
  expect(await heading()).toBe('Alice Miller');
});

test('the typed password can be shown, and is a password field again when it is sent', async () => {
  const realm = await realmWith();
  await page.goto(`${server.baseUrl}/realms/${realm}/login`);
  const field = page.getByLabel('Password', { exact: true });
  const button = page.getByRole('button', { name: 'Show password' });
  await field.fill('wrong');
  await button.click();
  expect([await field.getAttribute('type'), await button.getAttribute('aria-pressed')]).toEqual(['text', 'true']);
  await button.click();
  expect([await field.getAttribute('type'), await button.getAttribute('aria-pressed')]).toEqual(['password', 'false']);
  await button.click();
  await page.evaluate(`addEventListener('submit', (event) => event.preventDefault())`);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  expect(await field.getAttribute('type')).toBe('password');
  expect(complaints).toEqual([]);
});

test('without JavaScript there is no button to show the password, and the sign-in works', async () => {
  const realm = await realmWith();
  const still = await browser.newContext({ javaScriptEnabled: false });
  const plain = await still.newPage();
  await plain.goto(`${server.baseUrl}/realms/${realm}/login`);
  expect(await plain.getByRole('button', { name: 'Show password' }).count()).toBe(0);
  await plain.getByLabel('Username or e-mail').fill('alice');
  await plain.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await plain.getByRole('button', { name: 'Sign in', exact: true }).click();
  await plain.waitForURL(/\/account$/);
  await still.close();
});
