// A real browser's part of consent, form_post and logout: what the CSP lets through, and what it shows.
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { putSettings } from '../../server/contract/settings.ts';
import { createUser } from '../../server/contract/users.ts';
import { launchBrowser } from '../support/chromium.ts';
import { makeClient, makeRealm } from '../support/clients.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const PASSWORD = 'three wet umbrellas';
let server: TestServer;
let browser: Browser;
let page: Page;
let application: Server;
let origin: string;
let posted: string[] = [];

beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  application = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      if (request.method === 'POST') posted.push(body);
      response.setHeader('content-type', 'text/html').end('<h1>The application</h1>');
    });
  });
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
  const address = application.address();
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  await makeRealm(server, 'acme');
  await makeClient(server, 'acme', {
    clientId: 'third',
    name: 'Third Party',
    tokenEndpointAuthMethod: 'none',
    redirectUris: [`${origin}/callback`],
    postLogoutRedirectUris: [`${origin}/bye`],
    consentRequired: true,
  });
  await server.admin.call(putSettings, { params: { realm: 'acme' }, body: { supportedLocales: ['en', 'de'] } });
  await server.admin.call(createUser, {
    params: { realm: 'acme' },
    body: { username: 'alice', password: PASSWORD },
  });
});
afterAll(async () => {
  await browser?.close();
  application?.closeAllConnections();
  application?.close();
  await server?.stop();
});
beforeEach(async () => {
  posted = [];
  page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
});

const authorizeUrl = (more: Record<string, string> = {}) => {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'third',
    redirect_uri: `${origin}/callback`,
    scope: 'openid',
    code_challenge: createHash('sha256').update(randomBytes(32).toString('base64url')).digest('base64url'),
    code_challenge_method: 'S256',
    ...more,
  });
  return `${server.baseUrl}/realms/acme/oauth2/authorize?${query}`;
};

test('sign in, allow, land in the application by form_post, and sign out again', async () => {
  await page.goto(authorizeUrl({ response_mode: 'form_post', state: 'a"b' }));
  await page.getByLabel('Username or e-mail').fill('alice');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Allow access?' }).waitFor();
  expect(await page.locator('main').textContent()).toContain('Third Party');
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.waitForURL(`${origin}/callback`);
  expect(new URLSearchParams(posted[0]).get('state')).toBe('a"b');
  expect(new URLSearchParams(posted[0]).get('code')).toMatch(/^svc_ac_/);

  const bye = new URLSearchParams({ client_id: 'third', post_logout_redirect_uri: `${origin}/bye` });
  await page.goto(`${server.baseUrl}/realms/acme/oauth2/logout?${bye}`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${origin}/bye`);
  await page.goto(authorizeUrl());
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('on a small phone both answers are as wide as the page, and high enough for a thumb', async () => {
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto(authorizeUrl({ prompt: 'consent' }));
  await page.getByLabel('Username or e-mail').fill('alice');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  for (const name of ['Allow', 'Cancel']) {
    const box = await page.getByRole('button', { name }).boundingBox();
    expect([(box?.width ?? 0) >= 270, (box?.height ?? 0) >= 44]).toEqual([true, true]);
  }
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
});

test('refuse, and the application hears of it', async () => {
  await page.goto(authorizeUrl({ prompt: 'consent' }));
  await page.getByLabel('Username or e-mail').fill('alice');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForURL(/error=access_denied/);
  expect(page.url()).toContain(origin);
});

test('another language can be chosen where consent is asked for, and the way goes on in it', async () => {
  await page.goto(authorizeUrl({ prompt: 'consent', state: 's' }));
  await page.getByLabel('Username or e-mail').fill('alice');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Allow access?' }).waitFor();
  await page.locator('details.language summary').click();
  await page.getByRole('button', { name: 'Deutsch' }).click();
  await page.locator('html[lang="de"]').waitFor();
  await page.getByRole('button', { name: 'Erlauben' }).click();
  await page.waitForURL(/state=s/);
  expect(new URL(page.url()).searchParams.get('code')).toMatch(/^svc_ac_/);
});

test('the first letter of the application’s name stands where its picture doesn’t load', async () => {
  const clientId = 'pictured';
  await makeClient(server, 'acme', {
    ...{ clientId, name: 'Ötzi', tokenEndpointAuthMethod: 'none', consentRequired: true },
    redirectUris: [`${origin}/callback`],
    logoUri: 'https://127.0.0.1:9/logo.png',
  });
  await page.goto(authorizeUrl({ client_id: clientId }));
  await page.fill('[name=username]', 'alice');
  await page.fill('[name=password]', PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('Ötzi').first().waitFor();
  const shown = await page.evaluate(`(() => {
    const picture = document.querySelector('.asks img');
    const { content, width, height } = getComputedStyle(picture, '::after');
    return { alt: picture.alt, hidden: picture.ariaHidden, content, width, height };
  })()`);
  expect(shown).toEqual({ alt: 'Ö', hidden: 'true', content: '"Ö"', width: '48px', height: '48px' });
});
