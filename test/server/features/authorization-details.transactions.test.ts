// Owns: tokens whose details of the type `transaction` limit what their application may ask a user to sign.
// Does not own: rich authorization requests of other types (authorization-details.test.ts), transactions (transactions.test.ts).
// Implements: docs/rich-authorization.md "Transactions"; RFC 9396 §6, §7.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  authorizationDetailTypes,
  createAuthorizationDetailType,
  listAuthorizationDetailTypes,
  putAuthorizationDetailType,
} from '../../../server/contract/authorization-detail-types.ts';
import { createClientScope } from '../../../server/contract/client-scopes.ts';
import { ACCESS_TOKEN_TYPE, TOKEN_EXCHANGE } from '../../../server/contract/oauth.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, post } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import {
  exchange,
  makeProvider,
  makeRelyingParty,
  REALM,
  requestPath,
  responseParameters,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const documentation = readFileSync(path.resolve(import.meta.dirname, '../../../docs/rich-authorization.md'), 'utf8');
/** The type as the documentation declares it. */
const {
  authorizationDetailTypes: [transactionType],
} = JSON.parse(
  [...documentation.matchAll(/^```json\n([\s\S]*?)^```/gm)]
    .map(([, text = '']) => text)
    .find((text) => text.includes('"transaction"')) ?? '',
);
const params = { realm: REALM };
const FILES = 'https://files.example.com';
const agreed = { amount: '12.50', currency: 'EUR', payee: 'Example Ltd' };
const transaction = { type: 'transaction', ...agreed };
const payment = { type: 'payment', amount: '12.50', currency: 'EUR', creditor: 'Example Ltd' };
const text = 'Pay Example Ltd';
const other = { text, ...agreed, payee: 'Mallory' };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  const { admin } = server;
  await makeProvider(server);
  await admin.call(putSettings, { params, body: { resourceIndicators: [FILES] } });
  await admin.call(createClientScope, { params, body: { name: 'transactions' } });
  for (const body of [transactionType, { ...authorizationDetailTypes.example, type: 'payment' }])
    await admin.call(createAuthorizationDetailType, { params, body });
  const optionalClientScopes = ['transactions'];
  await makeRelyingParty(server, 'payer', {
    optionalClientScopes,
    authorizationDetailsTypes: ['transaction', 'payment'],
    grantTypes: ['authorization_code', 'refresh_token'],
  });
  await makeRelyingParty(server, 'behind', {
    optionalClientScopes,
    grantTypes: [TOKEN_EXCHANGE],
    allowedResources: [FILES],
  });
});
afterAll(() => server?.stop());

const asked = (...details: readonly object[]) => ({ authorization_details: JSON.stringify(details) });
/** The answer of the token endpoint, after the user has agreed to these details. */
async function granted(
  details: readonly object[],
  { resource = '', ...more }: { resource?: string; authorization_details?: string } = {},
) {
  const person = createPerson(server.baseUrl);
  const request = { client_id: 'payer', scope: 'openid transactions', ...(details.length > 0 && asked(...details)) };
  let page = await person.open(requestPath({ ...request, resource }));
  page = await person.fill(page, { username: 'alice', password: PASSWORD });
  if (page.heading === 'Allow access?')
    page = await person.post(`/realms/${REALM}/oauth2/consent`, { ...page.fields, decision: 'allow' });
  return (await exchange(server, responseParameters(page) ?? {}, more, 'payer')).body;
}
const asks = (form: Record<string, string>, by = 'payer') =>
  post(server, REALM, 'token', form, { authorization: basic(by) });
const renewed = async (token: unknown, more: Record<string, string> = {}) =>
  (await asks({ grant_type: 'refresh_token', refresh_token: String(token), ...more })).body;
async function create(token: unknown, body: object): Promise<number> {
  const answer = await fetch(`${server.baseUrl}/realms/${REALM}/tx`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return answer.status;
}

test('a token for one transaction creates this one, and no other', async () => {
  const { access_token: token } = await granted([transaction]);
  expect(await create(token, { text, ...agreed })).toBe(201);
  for (const change of [{ amount: '12.51' }, { payee: 'Mallory' }, { currency: 'GBP' }])
    expect(await create(token, { text, ...agreed, ...change })).toBe(403);
  expect(await create(token, { text })).toBe(403);
  const free = await granted([]);
  expect(await create(free.access_token, other)).toBe(201);
});

test('a client that leaves the limit out at the token endpoint gets no transactions at all', async () => {
  const whole = await granted([transaction, payment]);
  expect(whole.scope).toBe('openid transactions');
  const narrower = await renewed(whole.refresh_token, asked(payment));
  expect(narrower).toMatchObject({ authorization_details: [payment], scope: 'openid' });
  expect(await create(narrower.access_token, other)).toBe(403);
  expect((await renewed(narrower.refresh_token)).scope).toBe('openid transactions');
  const atOnce = await granted([transaction, payment], asked(payment));
  expect(atOnce.scope).toBe('openid');
  expect(await create(atOnce.access_token, other)).toBe(403);
});

test('a client that exchanges the token, and may have no such details, gets no transactions', async () => {
  const { access_token: token } = await granted([transaction], { resource: FILES });
  const answer = await asks(
    {
      grant_type: TOKEN_EXCHANGE,
      subject_token: String(token),
      subject_token_type: ACCESS_TOKEN_TYPE,
      resource: FILES,
    },
    'behind',
  );
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).not.toHaveProperty('scope');
});

test('a type that is switched off takes the transactions with it', async () => {
  const { refresh_token: token } = await granted([transaction]);
  const [type] =
    (await server.admin.call(listAuthorizationDetailTypes, { params, query: { q: 'transaction' } })).body ?? [];
  const set = (enabled: boolean) =>
    server.admin.call(putAuthorizationDetailType, {
      params: { ...params, id: type?.id ?? '' },
      body: { ...transactionType, enabled },
    });
  await set(false);
  const after = await renewed(token);
  expect(after.scope).toBe('openid');
  expect(await create(after.access_token, other)).toBe(403);
  await set(true);
  const again = await renewed(after.refresh_token);
  expect(again.scope).toBe('openid transactions');
  expect(await create(again.access_token, other)).toBe(403);
});
