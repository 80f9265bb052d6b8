// Owns: the wizards: answers that survive a reload, faults at the question, the plan, and the test at their end.
// Does not own: the kinds' own pages (kinds.test.ts), what an object does (test/server/features).
// Implements: decisions "Console": a wizard ends with something that works.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listClients } from '../../server/contract/clients.ts';
import {
  createIdentityProvider,
  deleteIdentityProvider,
  listIdentityProviders,
} from '../../server/contract/identity-providers.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createRole } from '../../server/contract/roles.ts';
import { listSamlClients } from '../../server/contract/saml-clients.ts';
import { createDirectory, deleteDirectory } from '../../server/contract/user-federation.ts';
import { listWorkloadIdentities } from '../../server/contract/workload-identity.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { startMailServer } from '../support/gateways.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
let receiver: Receiver;
const realm = 'acme';
const params = { realm };
const at = (wizard: string) => `/realms/${realm}/set-up/${wizard}`;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile } });
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
  await server.admin.call(createRole, { params, body: { name: 'reader' } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await receiver?.stop();
});

const choose = (page: Page, label: string, option: string) =>
  page
    .getByRole('button', { name: label })
    .click()
    .then(() => page.getByRole('option', { name: option }).click());
const save = async (page: Page) => {
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
};

test('an application: faults at the question, a reload keeps the answers, the end has settings, code and a sign-in', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/set-up`);
  await heading('Set up');
  await look('what can be set up');
  await page.getByRole('link', { name: /Add an application/ }).click();
  await heading('Add an application');
  await look('kinds of applications');
  await page.getByRole('link', { name: /Web application/ }).click();
  await page.getByRole('heading', { level: 2, name: 'Settings' }).waitFor();
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.getByText('2 answers need a change.').waitFor();
  expect(await page.getByLabel('Client ID', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  await look('an application’s faults');
  await page.getByLabel('Client ID', { exact: true }).fill('shop');
  await page.getByLabel('Redirect URIs, 1').fill('not an address');
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.getByText('must be an absolute URI without a fragment').waitFor();
  await page.reload();
  await heading('Add an application');
  expect(await page.getByLabel('Client ID', { exact: true }).inputValue()).toBe('shop');
  await page.getByLabel('Redirect URIs, 1').fill('https://shop.example.com/callback');
  await page.goBack();
  await page.getByRole('link', { name: /Single page/ }).waitFor();
  await page.goForward();
  expect(await page.getByLabel('Redirect URIs, 1').inputValue()).toBe('https://shop.example.com/callback');
  await save(page);
  await page.getByRole('heading', { level: 2, name: 'Connect it' }).waitFor();
  const secret = (await page.getByRole('region', { name: 'Secret to copy' }).locator('pre').innerText()).trim();
  expect(secret).toMatch(/^[\w-]{43}$/);
  await page.getByRole('link', { name: 'Spring Boot' }).click();
  await page.getByText('spring:').waitFor();
  await look('the end of an application');
  const [made] = (await server.admin.call(listClients, { params, query: { q: 'shop' } })).body ?? [];
  expect(made).toMatchObject({
    clientId: 'shop',
    secretSet: true,
    redirectUris: ['https://shop.example.com/callback'],
  });
  const answer = await fetch(`${server.baseUrl}/realms/${realm}/oauth2/introspect`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`shop:${secret}`)}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'token=none',
  });
  expect(answer.status).toBe(200);

  const signIn = await page.getByRole('link', { name: /Open the sign-in page/ }).getAttribute('href');
  const tried = await page.context().newPage();
  await tried.goto(signIn ?? '');
  await tried.getByLabel('Username').waitFor();
  await tried.close();
  await page.reload();
  await page.getByRole('button', { name: 'Make a new secret' }).click();
  await page.getByText(/svc_cs_/).waitFor();
  await close();
});

test('a SAML application by its metadata; metadata that is none is refused at the question', async () => {
  const { page, open, close } = await openConsole({ server, browser });
  await open(`${at('application')}?variant=saml-metadata&step=settings`);
  await choose(page, 'Metadata', 'As XML');
  await page.getByLabel('XML', { exact: true }).fill('<no-metadata/>');
  await page.getByRole('button', { name: 'Review and create' }).click();
  await page.locator('.fault').first().waitFor();
  await page.getByText('1 answer needs a change.').waitFor();
  await page
    .getByLabel('XML', { exact: true })
    .fill(`<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://crm.example.com/saml">
    <SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
      <AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://crm.example.com/acs" index="0"/>
    </SPSSODescriptor></EntityDescriptor>`);
  await page.getByRole('button', { name: 'Review and create' }).click();
  const plan = page.getByRole('dialog');
  await plan.getByText('https://crm.example.com/acs').first().waitFor();
  expect((await server.admin.call(listSamlClients, { params })).body).toEqual([]);
  await plan.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText(`${server.baseUrl}/realms/${realm}/saml/idp/metadata`).waitFor();
  expect((await server.admin.call(listSamlClients, { params })).body).toMatchObject([
    { entityId: 'https://crm.example.com/saml' },
  ]);
  await close();
});

test('an identity provider’s settings are checked before they are saved, in words', async () => {
  receiver.answer = ({ url }) =>
    url.startsWith('/.well-known/') ? { status: 200, body: JSON.stringify({ issuer: 'https://other.example' }) } : {};
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`${at('identity-provider')}?variant=oidc&step=settings`);
  await page.getByLabel('Issuer', { exact: true }).fill(receiver.url);
  await page.setViewportSize({ width: 1440, height: 420 });
  await page.getByRole('button', { name: 'Check them' }).click();
  const answer = page.getByText(/names the issuer https:\/\/other\.example, the settings/);
  await answer.waitFor();
  // the bar of the form's actions stands at the bottom: what was found is above it
  const bar = page.locator('.form-actions');
  const endOf = async (of: typeof bar) => (await of.boundingBox()) ?? { y: 0, height: 0 };
  await expect
    .poll(async () => {
      const [found, { y }] = [await endOf(answer), await endOf(bar)];
      return found.y + found.height <= y;
    })
    .toBe(true);
  await page.setViewportSize({ width: 1440, height: 900 });
  await look('the check of an identity provider');
  expect((await server.admin.call(listIdentityProviders, { params })).body).toEqual([]);
  // a stored one is checked on its page
  const body = { alias: 'stored', type: 'oidc' as const, config: { issuer: receiver.url } };
  await server.admin.call(createIdentityProvider, { params, body });
  await open(`/realms/${realm}/identity-providers/stored?tab=check`);
  await page.getByRole('button', { name: 'Check them' }).click();
  await page.getByText(/names the issuer https:\/\/other\.example, the settings/).waitFor();
  await look('the check of a stored identity provider');
  await server.admin.call(deleteIdentityProvider, { params: { realm, alias: 'stored' } });
  receiver.answer = () => ({});
  receiver.received.length = 0;
  await close();
});

test('a stored directory is tested on its page, in the words of the connection', async () => {
  const connection = { urls: ['ldaps://127.0.0.1:1'], bindDn: 'cn=reader' };
  const users = { base: 'ou=people', filter: '(objectClass=person)' };
  const body = { alias: 'staff', connection, users, secret: 'x' };
  await server.admin.call(createDirectory, { params, body });
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/user-federation/staff?tab=test`);
  await page.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText('The directory could not be read.').waitFor();
  await look('the test of a directory');
  await page.getByRole('link', { name: 'Syncs' }).click();
  await page.waitForURL(/operations\?tab=syncs&directory=staff/);
  await server.admin.call(deleteDirectory, { params: { realm, alias: 'staff' } });
  await close();
});

test('an identity provider: the redirect address before, the sign-in after; a secret is in no storage', async () => {
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(at('identity-provider'));
  await page.getByRole('link', { name: /GitHub/ }).click();
  await page.getByText(`/realms/${realm}/broker/github/endpoint`).waitFor();
  await look('registering at GitHub');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Client ID', { exact: true }).fill('Iv1.0123456789abcdef');
  await page.getByLabel('Client secret').fill('a secret that stays here');
  expect(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })')).not.toContain(
    'a secret that stays',
  );
  await save(page);
  await page.getByRole('link', { name: /Try the sign-in/ }).waitFor();
  await page.getByText('Waiting for a sign-in…').waitFor();
  await look('the end of an identity provider');
  expect((await server.admin.call(listIdentityProviders, { params })).body).toMatchObject([
    { alias: 'github', type: 'oauth2', secretSet: true, clientId: 'Iv1.0123456789abcdef' },
  ]);
  await close();
});

test('mail: the test says in the gateway’s words what failed, and what went out', async () => {
  const mail = await startMailServer({ plain: true });
  try {
    const { page, open, look, close } = await openConsole({ server, browser });
    await open(`${at('messages')}?variant=smtp&step=settings`);
    await page.getByLabel('Mail server').fill('127.0.0.1');
    await choose(page, 'Encryption', 'None');
    await page.getByLabel('Port').fill(String(mail.port));
    await page.getByLabel('Sender', { exact: true }).fill('no-reply@acme.example');
    await save(page);
    await page.getByLabel('E-mail address').fill('ada@example.com');
    await page.getByRole('button', { name: 'Send the test' }).click();
    await page.getByText('The gateway took the message.').waitFor();
    await look('a test message');
    expect(mail.mails[0]?.to).toEqual(['ada@example.com']);
    mail.refuse = () => ({ responseCode: 550, message: '<b>no such mailbox</b>' });
    await page.getByRole('button', { name: 'Send the test' }).click();
    await page.getByText('The gateway did not take the message.').waitFor();
    await page.getByText('<b>no such mailbox</b>').waitFor();
    // the gateway's page has the test too, for a time after the wizard
    mail.refuse = () => undefined;
    await page.getByRole('link', { name: 'Open the gateway' }).click();
    await page.getByRole('link', { name: 'Test', exact: true }).click();
    await page.getByLabel('E-mail address').fill('grace@example.com');
    await page.getByRole('button', { name: 'Send the test' }).click();
    await page.getByText('The gateway took the message.').waitFor();
    expect(mail.mails.at(-1)?.to).toEqual(['grace@example.com']);
    await look('the test of a stored gateway');
    await close();
  } finally {
    await mail.stop();
  }
});

test('a webhook ends with a signed delivery and the receiver’s answer', async () => {
  receiver.answer = () => ({ status: 204 });
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(at('webhook'));
  await page.getByLabel('Name', { exact: true }).fill('crm');
  await page.getByLabel('Address', { exact: true }).fill(`${receiver.url}/hook`);
  await save(page);
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('received', { exact: true }).waitFor();
  await look('a test delivery');
  const [request] = receiver.received;
  expect(request?.headers['x-svc-event']).toBe('WEBHOOK_TEST');
  expect(request?.headers['x-svc-signature']).toMatch(/^[0-9a-f]{64}$/);
  await page.getByRole('link', { name: 'Open the webhook' }).click();
  await page.getByRole('link', { name: 'Test', exact: true }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('received', { exact: true }).waitFor();
  expect(receiver.received).toHaveLength(2);
  await look('the test of a stored webhook');
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByText('One is stored. It is never shown').waitFor();
  await page.getByRole('button', { name: 'Set a secret' }).click();
  await page.getByRole('button', { name: 'Keep what is stored' }).click();
  await page.getByText('Nothing is changed yet.').waitFor();
  await close();
});

test('SCIM: the token and the address to copy; the token is shown once', async () => {
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(at('scim'));
  await page.getByRole('link', { name: /Microsoft Entra ID/ }).click();
  await page.getByRole('button', { name: 'Make the token' }).click();
  const token = (await page.getByText(/^svc_scim_/).innerText()).trim();
  const address = `${server.baseUrl}/realms/${realm}/scim/v2`;
  await page.getByText(address, { exact: true }).waitFor();
  await look('a SCIM token');
  const answer = await fetch(`${address}/Users`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  await page.getByText('just now').first().waitFor();
  await page.reload();
  await page.getByText('The token is not shown again.').waitFor();
  await close();
});

test('a workload of GitHub Actions: its subject is made of the answers, and the workflow is there to copy', async () => {
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`${at('workload')}?variant=github-actions&step=workload`);
  await page.getByLabel('Repository').fill('acme/shop');
  await choose(page, 'Which jobs', 'In an environment');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('combobox', { name: 'Acts as the client' }).fill('shop');
  await page.getByRole('option', { name: /shop/ }).first().click();
  await save(page);
  await page.getByText('ACTIONS_ID_TOKEN_REQUEST_URL').waitFor();
  await look('the end of a workload');
  expect((await server.admin.call(listWorkloadIdentities, { params })).body).toMatchObject([
    { subject: 'repo:acme/shop:environment:production', clientId: 'shop', adminAccess: false },
  ]);
  await close();
});

test('a directory that does not answer: its test says why', async () => {
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`${at('directory')}?variant=ldap&step=connection`);
  await page.getByLabel('Servers, 1').fill('ldap://127.0.0.1:1');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Base of people').fill('no distinguished name');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('must be a distinguished name').waitFor();
  await page.getByLabel('Base of people').fill('ou=people,dc=example,dc=com');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { level: 2, name: 'Groups and sync' }).waitFor();
  await look('the last step of a directory');
  await page.getByRole('button', { name: 'Try them' }).click();
  await page.getByText('The directory could not be read.').waitFor();
  await save(page);
  await page.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText('The directory could not be read.').waitFor();
  await page.getByRole('button', { name: 'Start the sync' }).click();
  await page.getByText('failed', { exact: true }).waitFor();
  await look('the end of a directory');
  await close();
});

test('an administrator of webhooks alone is shown no other wizard, and a phone shows them', async () => {
  const as = await consoleAdministrator(server, realm, 'hooks', ['webhooks:write', 'webhooks:read', 'events:read']);
  const { page, open, heading, look, close } = await openConsole(
    { server, browser },
    { as, viewport: { width: 390, height: 844 } },
  );
  await open(`/realms/${realm}/set-up`);
  await heading('Set up');
  expect(await page.locator('.choice-card strong').allInnerTexts()).toEqual(['Add a webhook']);
  await look('what may be set up, on a phone');
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  await open(at('application'));
  await page.getByText('It needs the permission').waitFor();
  await close();
});
