// A real browser's part of SAML: cookies over another site's post, pages that post themselves under their policy, and a logout that
// goes from one application to the next.
import { createServer, type Server } from 'node:http';
import { type Profile, type SAML, ValidateInResponseTo } from '@node-saml/node-saml';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createUser } from '../../server/contract/users.ts';
import { PASSWORD } from '../support/applications.ts';
import { launchBrowser } from '../support/chromium.ts';
import { makeRealm } from '../support/clients.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { makeServiceProvider, serviceProvider, serviceProviderKeys } from '../support/service-provider.ts';

let server: TestServer;
let browser: Browser;
let page: Page;
let applications: Server;
let origin: string;
/** `saml` speaks by Redirect, whose messages are deflated; `posting` by POST, whose messages may not be. */
const providers = new Map<string, { saml: SAML; posting: SAML; profile?: Profile }>();

const bodyOf = async (request: AsyncIterable<Buffer>): Promise<Record<string, string>> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
};

/** Two applications, `/a/…` and `/b/…`: each begins a sign-on or a logout, takes responses, and answers logouts. */
async function application(method: string, url: URL, body: Record<string, string>): Promise<string | { to: string }> {
  const [, name = '', action] = url.pathname.split('/');
  const provider = providers.get(name);
  if (!provider) return 'nothing';
  const { saml, posting } = provider;
  const all = { ...Object.fromEntries(url.searchParams), ...body };
  if (action === 'start') return posting.getAuthorizeFormAsync('deep link', undefined);
  if (action === 'acs') {
    const { profile } = await saml.validatePostResponseAsync(all);
    if (profile) provider.profile = profile;
    return { to: `/${name}/home` };
  }
  if (action === 'home') return `<h1>Hello ${provider.profile?.nameID}</h1>`;
  if (action === 'leave') return { to: await saml.getLogoutUrlAsync(provider.profile!, '', {}) };
  if (all.SAMLResponse) return '<h1>Left</h1>';
  const { profile } =
    method === 'POST'
      ? await saml.validatePostRequestAsync(all)
      : await saml.validateRedirectAsync(all, url.search.slice(1));
  delete provider.profile;
  return { to: await saml.getLogoutResponseUrlAsync(profile!, '', {}, true) };
}

beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  applications = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin);
    bodyOf(request)
      .then((body) => application(request.method ?? '', url, body))
      .then((shown) => {
        if (typeof shown === 'string') response.setHeader('content-type', 'text/html').end(shown);
        else response.writeHead(303, { location: shown.to }).end();
      })
      .catch((error: Error) => response.setHeader('content-type', 'text/html').end(`<h1>${error.message}</h1>`));
  });
  await new Promise<void>((resolve) => applications.listen(0, '127.0.0.1', resolve));
  const address = applications.address();
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  await makeRealm(server, 'acme');
  await server.admin.call(createUser, { params: { realm: 'acme' }, body: { username: 'alice', password: PASSWORD } });
  for (const [name, binding] of [
    ['a', 'Redirect'],
    ['b', 'POST'],
  ] as const) {
    const entityId = `urn:${name}`;
    const url = `${origin}/${name}/acs`;
    await makeServiceProvider(server, 'acme', {
      entityId,
      name: name.toUpperCase(),
      nameIdFormat: 'unspecified',
      assertionConsumerServices: [{ url }],
      singleLogoutServices: [{ url: `${origin}/${name}/slo`, binding }],
      signingCertificates: [serviceProviderKeys.certificate],
      requireSignedRequests: true,
    });
    const common = { entityId, callbackUrl: url, validateInResponseTo: ValidateInResponseTo.never };
    providers.set(name, {
      saml: await serviceProvider(server, 'acme', common),
      posting: await serviceProvider(server, 'acme', {
        ...common,
        authnRequestBinding: 'HTTP-POST',
        skipRequestCompression: true,
        digestAlgorithm: 'sha256',
      }),
    });
  }
});
afterAll(async () => {
  await browser?.close();
  applications?.closeAllConnections();
  applications?.close();
  await server?.stop();
});
beforeEach(async () => {
  page = await (await browser.newContext()).newPage();
});

async function enterBoth(): Promise<void> {
  await page.goto(`${origin}/a/start`);
  await page.getByLabel('Username or e-mail').fill('alice');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${origin}/a/home`);
  // the session's cookie stays behind at another site's post, and is there all the same
  await page.goto(`${origin}/b/start`);
  await page.waitForURL(`${origin}/b/home`);
  expect(await page.getByRole('heading').textContent()).toBe('Hello alice');
}
const isSignedIn = async (): Promise<boolean> => {
  await page.goto(`${server.baseUrl}/realms/acme/account`);
  return (await page.getByLabel('Password', { exact: true }).count()) === 0;
};

test('one sign-in for two applications, and one logout that both hear of', async () => {
  await enterBoth();
  await page.goto(`${origin}/a/leave`);
  await page.getByRole('heading', { name: 'Left' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/a/slo');
  expect(providers.get('b')?.profile).toBeUndefined();
  expect(await isSignedIn()).toBe(false);
});

test('signing out at the realm leads by all of them, and back', async () => {
  await enterBoth();
  expect(await isSignedIn()).toBe(true);
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  expect([...providers.values()].map(({ profile }) => profile)).toEqual([undefined, undefined]);
  expect(await isSignedIn()).toBe(false);
});
