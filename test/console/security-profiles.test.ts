// Owns: a client that a security profile holds, in the console: what it lacks, what the profile sets, the plan that sets one.
// Does not own: what a profile demands (server/features/fapi2.test.ts), the generic pages (kinds.test.ts).
// Implements: decisions "Client": the security profile shows what a client lacks.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { getClient } from '../../server/contract/clients.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { makeBankClient, makeKeys } from '../support/bank.ts';
import { launchBrowser } from '../support/chromium.ts';
import { makeClient, makeRealm } from '../support/clients.ts';
import { openConsole } from '../support/console.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const realm = 'bank';
const params = { realm };
let server: TestServer;
let browser: Browser;
let old: string;
let bank: string;
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await makeRealm(server, realm);
  old = await makeClient(server, realm, { clientId: 'old', idTokenSignedResponseAlg: 'RS256' });
  bank = await makeBankClient(server, realm, { clientId: 'bank', keys: [await makeKeys('ES256')] });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('a client gets a profile after the plan has shown its consequences, and says what the profile sets', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients/${bank}/edit`);
  await heading('Edit bank');
  await page.getByRole('button', { name: /Security profile/ }).click();
  await page.getByRole('option', { name: 'fapi2-message-signing' }).click();
  await page.getByRole('button', { name: 'Review and save' }).click();
  const review = page.getByRole('dialog');
  await review.getByText(/refuses its requests that are not pushed, lack PKCE or prove no key/).waitFor();
  await review.getByText(/refuses its requests that are not signed/).waitFor();
  await look('the plan of a profile');
  await review.getByRole('button', { name: 'Save', exact: true }).click();
  await heading('bank');
  await page.getByText('FAPI 2.0 Message Signing', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Security profile' }).click();
  await page.getByText('the client’s own field', { exact: false }).waitFor();
  await page.getByText('only as signed JWTs').waitFor();
  expect(await page.getByText('This client is refused everywhere').count()).toBe(0);
  await look('the profile of a client that meets it');
  await close();
});

test('a client that lacks something of the realm’s profile says what, until it is corrected', async () => {
  await server.admin.call(putSettings, { params, body: { profile: 'fapi2-security' } });
  const { body } = await server.admin.call(getClient, { params: { realm, id: old } });
  expect(body?.profileLacks).toHaveLength(2);
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/clients/${old}`);
  await heading('old');
  await page.getByText('This client is refused everywhere. It lacks for FAPI 2.0 Security Profile:').waitFor();
  await page.getByText('must be one of private_key_jwt').first().waitFor();
  await page.getByText('must be one of PS256, ES256, EdDSA').first().waitFor();
  await page.getByText('refused', { exact: true }).waitFor();
  await look('a client that is refused');
  await page.getByRole('link', { name: 'Security profile' }).click();
  await page.getByText('the realm’s settings').waitFor();
  await look('the profile of a client that is refused');
  await open(`/realms/${realm}/clients?columns=effectiveProfile,profileLacks`);
  await page.getByRole('row').filter({ hasText: 'fapi2-security' }).first().waitFor();
  await close();
});
