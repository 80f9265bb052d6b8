// A real browser's way to another identity provider and back: the buttons, cookies over the other site's redirect, and pages whose
// policy has to let a form lead there.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { putIdentityProvider } from '../../server/contract/identity-providers.ts';
import { createUser } from '../../server/contract/users.ts';
import { PASSWORD } from '../support/applications.ts';
import { makeProvider } from '../support/brokering.ts';
import { launchBrowser } from '../support/chromium.ts';
import { makeClient, makeRealm, SECRET } from '../support/clients.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let partner: TestServer;
let server: TestServer;
let browser: Browser;
let page: Page;
const realm = 'shop';

beforeAll(async () => {
  [partner, server, browser] = await Promise.all([startTestServer(), startTestServer(), launchBrowser()]);
  await makeRealm(partner, 'corp');
  const email = 'ada@corp.example';
  const ada = { username: 'ada', email, emailVerified: true, firstName: 'Ada', lastName: 'Low', password: PASSWORD };
  await partner.admin.call(createUser, { params: { realm: 'corp' }, body: ada });
  await makeClient(partner, 'corp', {
    clientId: 'shop',
    secret: SECRET,
    redirectUris: [`${server.baseUrl}/realms/${realm}/broker/corp/endpoint`],
  });
  await makeRealm(server, realm);
  await makeProvider(server, realm, {
    ...{ alias: 'corp', type: 'oidc', displayName: 'Corp', clientId: 'shop', secret: SECRET },
    scopes: ['openid', 'email', 'profile'],
    config: { issuer: `${partner.baseUrl}/realms/corp` },
  });
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([partner?.stop(), server?.stop()]);
});
beforeEach(async () => {
  page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
});
afterEach(() => page.context().close());

async function signInThere(): Promise<void> {
  await page.waitForURL(`${partner.baseUrl}/realms/corp/login**`);
  await page.getByLabel('Username or e-mail').fill('ada');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${server.baseUrl}/realms/${realm}/account`);
}

test('a button leads to the provider, whose sign-in leads back to the account', async () => {
  await page.goto(`${server.baseUrl}/realms/${realm}/login?for=account`);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/ways.png` });
  await page.getByRole('link', { name: 'Sign in with Corp' }).click();
  await signInThere();
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Ada Low');
  await page.getByRole('link', { name: 'Security' }).click();
  await page.getByRole('heading', { name: 'Accounts elsewhere' }).waitFor();
  if (process.env.SCREENSHOTS)
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/account.png`, fullPage: true });
});

test('an address of a bound domain leads there from the form', async () => {
  const params = { realm, alias: 'corp' };
  await server.admin.call(putIdentityProvider, { params, body: { domains: ['corp.example'] } });
  await page.goto(`${server.baseUrl}/realms/${realm}/login?for=account`);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/name.png` });
  await page.getByLabel('Username or e-mail').fill('ada@corp.example');
  await page.getByRole('button', { name: 'Next' }).click();
  await signInThere();
});
