// A real browser's part of front-channel logout: it loads each application's frame under the page's policy, and goes on by itself.
import { createServer, type Server } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUser } from '../../server/contract/users.ts';
import { authorizePath, newVerifier, PASSWORD } from '../support/applications.ts';
import { launchBrowser } from '../support/chromium.ts';
import { claimsIn, makeClient, makeRealm, post } from '../support/clients.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
let application: Server;
let origin: string;
/** What the application's frames were asked for. */
const loaded: URL[] = [];

beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  application = createServer(({ url = '' }, response) => {
    const asked = new URL(url, origin);
    if (asked.pathname.endsWith('/out')) loaded.push(asked);
    // an application that is down for this one
    if (asked.pathname === '/mail/out') return response.destroy();
    response.setHeader('content-type', 'text/html').end('<h1>The application</h1>');
  });
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
  const address = application.address();
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  await makeRealm(server, 'acme');
  for (const clientId of ['shop', 'mail'])
    await makeClient(server, 'acme', {
      clientId,
      tokenEndpointAuthMethod: 'none',
      redirectUris: [`${origin}/${clientId}`],
      postLogoutRedirectUris: [`${origin}/bye`],
      frontchannelLogoutUri: `${origin}/${clientId}/out?tenant=1`,
    });
  await server.admin.call(createUser, { params: { realm: 'acme' }, body: { username: 'alice', password: PASSWORD } });
});
afterAll(async () => {
  await browser?.close();
  application?.closeAllConnections();
  application?.close();
  await server?.stop();
});

test('frames are loaded by the address that names the session, and the browser goes on with the state', async () => {
  const page = await (await browser.newContext()).newPage();
  const refused: string[] = [];
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) refused.push(message.text());
  });
  const verifier = newVerifier();
  const at = (clientId: string, more: Record<string, string> = {}) =>
    server.baseUrl + authorizePath('acme', clientId, verifier, { redirect_uri: `${origin}/${clientId}`, ...more });

  await page.goto(at('shop'));
  await page.getByLabel('Username or e-mail').fill('alice');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${origin}/shop?**`);
  const { body } = await post(server, 'acme', 'token', {
    grant_type: 'authorization_code',
    client_id: 'shop',
    code: new URL(page.url()).searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: `${origin}/shop`,
  });
  await page.goto(at('mail'));
  await page.waitForURL(`${origin}/mail?**`);

  const bye = { id_token_hint: String(body.id_token), post_logout_redirect_uri: `${origin}/bye`, state: 'a b' };
  await page.goto(`${server.baseUrl}/realms/acme/oauth2/logout?${new URLSearchParams(bye)}`);
  // One of the frames can't be loaded, which holds up nobody.
  await page.waitForURL(`${origin}/bye?state=a+b`);

  const told = (clientId: string) =>
    loaded.filter(({ pathname }) => pathname === `/${clientId}/out`).map(({ searchParams }) => [...searchParams]);
  const { sid } = claimsIn(body.id_token);
  const expected = [
    ['tenant', '1'],
    ['iss', `${server.baseUrl}/realms/acme`],
    ['sid', sid],
  ];
  expect(told('shop')).toEqual([expected]);
  expect(told('mail').at(-1)).toEqual(expected);
  expect(refused).toEqual([]);
  await page.goto(at('shop', { prompt: 'none' }));
  expect(new URL(page.url()).searchParams.get('error')).toBe('login_required');
});
