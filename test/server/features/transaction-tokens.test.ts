// Transaction tokens: a service carries a user's request to the services behind it, by a token that narrows and never widens.
// draft-ietf-oauth-transaction-tokens, and its security considerations (§14).
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listClients, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { ACCESS_TOKEN_TYPE, TOKEN_EXCHANGE } from '../../../server/contract/oauth.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { ID_TOKEN_TYPE, REFRESH_TOKEN_TYPE, TXN_TOKEN_TYPE } from '../../../server/contract/token-types.ts';
import { createTransactionTokenPolicy } from '../../../server/contract/transaction-token-policies.ts';
import { listUsers, putUser } from '../../../server/contract/users.ts';
import { basic, claimsIn, makeClient, post, SECRET } from '../../support/clients.ts';
import { issuerOf } from '../../support/cross-domain.ts';
import { freshTokens, makeProvider, REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: REALM };
const API = 'https://api.shop.example';
const DOMAIN = 'shop.internal';
let server: TestServer;
let token = '';
beforeAll(async () => {
  server = await startTestServer();
  await makeProvider(server);
  await server.admin.call(putSettings, { params, body: { resourceIndicators: [API] } });
  const grantTypes: ('client_credentials' | typeof TOKEN_EXCHANGE)[] = [TOKEN_EXCHANGE, 'client_credentials'];
  const service = {
    secret: SECRET,
    grantTypes,
    allowedResources: [API],
    defaultClientScopes: [],
    optionalClientScopes: ['email'],
  };
  for (const clientId of ['gateway', 'orders', 'stranger']) await makeClient(server, REALM, { ...service, clientId });
  const scopes = { 'orders.place': ['email'], 'orders.read': ['email'], 'orders.pay': ['email', 'phone'] };
  const policy = { trustDomain: DOMAIN, scopes };
  const create = (body: object) =>
    server.admin.call(createTransactionTokenPolicy, { params, body: { ...policy, ...body } as never });
  await create({ name: 'gateway', clientId: 'gateway' });
  await create({ name: 'orders', clientId: 'orders', scopes: { 'orders.read': ['email'] }, replaces: true });
  token = await accessToken();
});
afterAll(() => server?.stop());

const accessToken = async () =>
  String((await freshTokens(server, { scope: 'openid email profile', resource: API })).body.access_token);
const ask = (form: Record<string, string> = {}, clientId = 'gateway') =>
  post(
    server,
    REALM,
    'token',
    {
      grant_type: TOKEN_EXCHANGE,
      requested_token_type: TXN_TOKEN_TYPE,
      subject_token: token,
      subject_token_type: ACCESS_TOKEN_TYPE,
      audience: DOMAIN,
      scope: 'orders.place',
      ...form,
    },
    { authorization: basic(clientId) },
  );
const refusal = async (...asked: Parameters<typeof ask>) => {
  const { status, body } = await ask(...asked);
  return status === 200 ? 200 : body.error;
};
const replace = (subject: unknown, form: Record<string, string> = {}, clientId = 'orders') =>
  ask({ subject_token: String(subject), subject_token_type: TXN_TOKEN_TYPE, scope: 'orders.read', ...form }, clientId);

describe('a transaction token', () => {
  test('has the user, the purpose and the context of the transaction, for a minute, and no access token inside', async () => {
    const { status, body } = await ask({
      request_context: '{"req_ip":"69.151.72.123"}',
      request_details: '{"article":"MSFT","quantity":100}',
    });
    expect([status, body.token_type, body.issued_token_type]).toEqual([200, 'N_A', TXN_TOKEN_TYPE]);
    expect(body).not.toHaveProperty('refresh_token');
    const jwks = Object(await (await fetch(`${issuerOf(server, REALM)}/oauth2/jwks`)).json());
    const { payload } = await jwtVerify(String(body.access_token), createLocalJWKSet(jwks), {
      audience: DOMAIN,
      typ: 'txntoken+jwt',
    });
    expect(payload).toMatchObject({
      sub: claimsIn(token).sub,
      scope: 'orders.place',
      req_wl: 'gateway',
      tctx: { article: 'MSFT', quantity: 100 },
      rctx: { req_ip: '69.151.72.123' },
      txn: expect.any(String),
    });
    expect(Number(payload.exp) - Number(payload.iat)).toBeLessThanOrEqual(60);
    expect(JSON.stringify(payload)).not.toContain(token.split('.')[2]);
    await expect
      .poll(async () => (await server.admin.call(listEvents, { params, query: { type: 'TOKEN_ISSUED' } })).body?.[0])
      .toMatchObject({ clientId: 'gateway', subject: { name: 'alice' }, data: { txn: payload.txn, audience: DOMAIN } });
  });

  test('is had for a client’s own transaction', async () => {
    const form = { grant_type: 'client_credentials', resource: API };
    const { body } = await post(server, REALM, 'token', form, { authorization: basic('gateway') });
    expect(await refusal({ subject_token: String(body.access_token) })).toBe('invalid_scope');
  });

  test('permits no more than the access token', async () => {
    expect(await refusal({ scope: 'orders.pay' })).toBe('invalid_scope');
    expect(await refusal({ scope: 'orders.place orders.pay' })).toBe('invalid_scope');
    expect(await refusal({ scope: 'email' })).toBe('invalid_scope');
    expect(await refusal({ scope: '__proto__' })).toBe('invalid_scope');
    expect(await refusal({ scope: '' })).toBe('invalid_request');
  });

  test('is for clients with a policy of the trust domain, and for an access token that is for them', async () => {
    expect(await refusal({}, 'stranger')).toBe('invalid_target');
    expect(await refusal({ audience: 'bank.internal' })).toBe('invalid_target');
    expect(await refusal({ audience: '' })).toBe('invalid_request');
    const { body } = await freshTokens(server, { scope: 'openid email' });
    expect(await refusal({ subject_token: String(body.access_token) })).toBe('invalid_request');
    const idToken = { subject_token: String(body.id_token), subject_token_type: ID_TOKEN_TYPE };
    expect(await refusal(idToken)).toBe('invalid_request');
    const refresh = { subject_token: String(body.refresh_token), subject_token_type: REFRESH_TOKEN_TYPE };
    expect(await refusal(refresh)).toBe('invalid_request');
    expect(
      await refusal({
        subject_token: '{"sub":"alice"}',
        subject_token_type: 'urn:ietf:params:oauth:token-type:unsigned_json',
      }),
    ).toBe('invalid_request');
  });

  test.each([
    '[]',
    '"text"',
    '{',
    '{"a":',
    `{"a":"${'x'.repeat(5000)}"}`,
    '{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}',
  ])('has no context that is %s', async (context) => {
    expect(await refusal({ request_context: context })).toBe('invalid_request');
    expect(await refusal({ request_details: context })).toBe('invalid_request');
  });

  test('names the party that acts for the user, also when it is replaced', async () => {
    const exchanged = await post(
      server,
      REALM,
      'token',
      { grant_type: TOKEN_EXCHANGE, subject_token: token, subject_token_type: ACCESS_TOKEN_TYPE, resource: API },
      { authorization: basic('gateway') },
    );
    const subject_token = String(exchanged.body.access_token);
    const { act } = claimsIn(subject_token);
    expect(act).toMatchObject({ sub: 'gateway' });
    const { body } = await ask({ subject_token, scope: 'orders.read' });
    expect(claimsIn(body.access_token).act).toEqual(act);
    expect(claimsIn((await replace(body.access_token)).body.access_token).act).toEqual(act);
  });

  test('is not had by a client that may not exchange the access token, by its may_act', async () => {
    const { body: clients = [] } = await server.admin.call(listClients, { params, query: {} });
    const id = clients.find(({ clientId }) => clientId === 'rp')?.id ?? '';
    await server.admin.call(putClient, { params: { ...params, id }, body: { mayActClient: 'orders' } });
    const subject_token = await accessToken();
    expect(await refusal({ subject_token })).toBe('invalid_request');
    expect(await refusal({ subject_token, scope: 'orders.read' }, 'orders')).toBe(200);
    await server.admin.call(putClient, { params: { ...params, id }, body: { mayActClient: null } });
  });

  test('is no access token, and no credential', async () => {
    const { body } = await ask();
    const txn = String(body.access_token);
    expect(decodeProtectedHeader(txn).typ).toBe('txntoken+jwt');
    const userinfo = await fetch(`${issuerOf(server, REALM)}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${txn}` },
    });
    expect(userinfo.status).toBe(401);
    const shown = await post(server, REALM, 'introspect', { token: txn }, { authorization: basic('gateway') });
    expect(shown.body).toEqual({ active: false });
    expect(await refusal({ subject_token: txn })).toBe('invalid_request');
    const access = { subject_token: txn, requested_token_type: ACCESS_TOKEN_TYPE, audience: API, scope: '' };
    expect(await refusal(access)).toBe('invalid_request');
  });
});

describe('a token that replaces another', () => {
  test('keeps transaction, user, domain and context, tells the call chain, and may add to the context', async () => {
    const { body } = await ask({ scope: 'orders.place orders.read', request_details: '{"article":"MSFT"}' });
    const first = claimsIn(body.access_token);
    const second = await replace(body.access_token, { request_details: '{"warehouse":7}' });
    const claims = claimsIn(second.body.access_token);
    expect(claims).toMatchObject({
      txn: first.txn,
      sub: first.sub,
      aud: DOMAIN,
      scope: 'orders.read',
      req_wl: 'orders',
      req_wls: ['gateway'],
      tctx: { article: 'MSFT', warehouse: 7 },
    });
    expect(Number(claims.exp)).toBeLessThanOrEqual(Number(first.exp));
  });

  test('never widens or changes the transaction', async () => {
    const { body } = await ask({
      scope: 'orders.read',
      request_details: '{"quantity":1}',
      request_context: '{"ip":"a"}',
    });
    const outcome = async (form: Record<string, string>, clientId?: string) =>
      (await replace(body.access_token, form, clientId)).body.error;
    expect(await outcome({ scope: 'orders.place' })).toBe('invalid_scope');
    expect(await outcome({ scope: 'orders.read orders.place' })).toBe('invalid_scope');
    expect(await outcome({ request_details: '{"quantity":100}' })).toBe('invalid_request');
    expect(await outcome({ request_context: '{"ip":"b"}' })).toBe('invalid_request');
    expect(await outcome({ audience: 'bank.internal' })).toBe('invalid_target');
    // the gateway’s policy permits no replacement
    expect(await outcome({}, 'gateway')).toBe('invalid_request');
  });

  test('is not had after the access of the user has ended', async () => {
    const { body } = await ask({ scope: 'orders.read' });
    const { body: users = [] } = await server.admin.call(listUsers, { params, query: { q: 'alice' } });
    const at = { ...params, userId: users[0]?.id ?? '' };
    await server.admin.call(putUser, { params: at, body: { enabled: false } });
    expect((await replace(body.access_token)).body.error).toBe('invalid_request');
    expect(await refusal()).toBe('invalid_request');
    await server.admin.call(putUser, { params: at, body: { enabled: true } });
  });
});
