// Token exchange (RFC 8693) between services of a realm, and workloads' assertions as a grant (RFC 7523): what each may have, and
// what others try.
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { listClients, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { ACCESS_TOKEN_TYPE, JWT_BEARER, TOKEN_EXCHANGE } from '../../../server/contract/oauth.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createWorkloadIdentity } from '../../../server/contract/workload-identity.ts';
import { basic, claimsIn, makeClient, post, SECRET } from '../../support/clients.ts';
import { makeProofKey } from '../../support/dpop.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import {
  exchange,
  freshTokens,
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  signedIn,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: REALM };
const [API, LEDGER] = ['https://api.example.com', 'https://ledger.example.com'];
let server: TestServer;
let issuer: Receiver;
let token = '';
const ids: Record<string, string> = {};
beforeAll(async () => {
  issuer = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: issuer.caFile } });
  await makeProvider(server);
  await server.admin.call(putSettings, { params, body: { resourceIndicators: [API, LEDGER] } });
  const service = {
    secret: SECRET,
    grantTypes: [TOKEN_EXCHANGE, 'client_credentials'] as [typeof TOKEN_EXCHANGE, 'client_credentials'],
    defaultClientScopes: [],
    optionalClientScopes: ['email', 'phone', 'offline_access'],
    allowedResources: [API, LEDGER],
  };
  ids.api = await makeClient(server, REALM, { ...service, clientId: 'api' });
  await makeClient(server, REALM, { ...service, clientId: 'other', allowedResources: [LEDGER] });
  await makeClient(server, REALM, { ...service, clientId: 'plain', grantTypes: ['client_credentials'] });
  token = String((await freshTokens(server, { scope: 'openid email profile', resource: API })).body.access_token);
});
afterAll(async () => {
  await server?.stop();
  await issuer?.stop();
});

const trade = (form: Record<string, string> = {}, clientId = 'api', headers: Record<string, string> = {}) =>
  post(
    server,
    REALM,
    'token',
    {
      grant_type: TOKEN_EXCHANGE,
      subject_token: token,
      subject_token_type: ACCESS_TOKEN_TYPE,
      resource: LEDGER,
      ...form,
    },
    { authorization: basic(clientId), ...headers },
  );
const refusal = async (form: Record<string, string>, clientId?: string) => {
  const { status, body } = await trade(form, clientId);
  return [status, body.error];
};
const own = async (clientId: string) =>
  String(
    (await post(server, REALM, 'token', { grant_type: 'client_credentials' }, { authorization: basic(clientId) })).body
      .access_token,
  );

describe('an exchanged token', () => {
  test('is about the person, for what was asked for, says who acts, and ends with the first', async () => {
    const { status, body } = await trade({ scope: 'email' });
    expect([status, body.issued_token_type, body.token_type]).toEqual([200, ACCESS_TOKEN_TYPE, 'Bearer']);
    expect(body).not.toHaveProperty('refresh_token');
    const [claims, from] = [claimsIn(body.access_token), claimsIn(token)];
    const act = { iss: `${server.baseUrl}/realms/${REALM}`, sub: 'api' };
    expect(claims).toMatchObject({ sub: from.sub, client_id: 'api', aud: LEDGER, scope: 'email', act, sid: from.sid });
    expect(Number(claims.exp)).toBeLessThanOrEqual(Number(from.exp));
    await expect
      .poll(async () => (await server.admin.call(listEvents, { params, query: { type: 'TOKEN_ISSUED' } })).body?.[0])
      .toMatchObject({
        clientId: 'api',
        subject: { name: 'alice' },
        data: { grant: 'token_exchange', from: 'rp', actor: 'api' },
      });
  });

  test('is had by openid-client, with audience for resource', async () => {
    const at = new URL(`${server.baseUrl}/realms/${REALM}`);
    const insecure = { execute: [oidc.allowInsecureRequests] };
    const config = await oidc.discovery(at, 'api', undefined, oidc.ClientSecretBasic(SECRET), insecure);
    expect(config.serverMetadata().grant_types_supported).toEqual(expect.arrayContaining([TOKEN_EXCHANGE, JWT_BEARER]));
    const given = await oidc.genericGrantRequest(config, TOKEN_EXCHANGE, {
      subject_token: token,
      subject_token_type: ACCESS_TOKEN_TYPE,
      audience: LEDGER,
    });
    expect(claimsIn(given.access_token).aud).toBe(LEDGER);
  });

  test('has no scope beyond the first token’s and the client’s', async () => {
    expect((await trade()).body.scope).toBe('email');
    for (const scope of ['phone', 'profile', 'offline_access', 'openid'])
      expect(await refusal({ scope })).toEqual([400, 'invalid_scope']);
  });

  test('has no resource beyond the client’s, and no way to the realm’s own APIs', async () => {
    expect(await refusal({ resource: 'https://elsewhere.example.com' })).toEqual([400, 'invalid_target']);
    const { body } = await freshTokens(server, { scope: 'email', resource: API });
    const narrow = { subject_token: String(body.access_token) };
    expect(await refusal({ ...narrow, resource: '' })).toEqual([400, 'invalid_target']);
    expect((await trade(narrow)).status).toBe(200);
    expect(await refusal({ audience: 'https://elsewhere.example.com' })).toEqual([400, 'invalid_target']);
    expect(await refusal({ resource: `${server.baseUrl}/admin` })).toEqual([400, 'invalid_target']);
  });

  test('is had by no token of an application that was switched off since', async () => {
    const { body: [rp] = [] } = await server.admin.call(listClients, { params, query: { q: 'rp' } });
    const one = { params: { ...params, id: rp?.id ?? '' } };
    await server.admin.call(putClient, { ...one, body: { enabled: false } });
    expect(await refusal({})).toEqual([400, 'invalid_request']);
    await server.admin.call(putClient, { ...one, body: { enabled: true } });
    expect((await trade()).status).toBe(200);
  });

  test('goes on to the next service with all who act in it', async () => {
    const { body } = await trade();
    const next = await trade({ subject_token: String(body.access_token) }, 'other');
    expect(claimsIn(next.body.access_token).act).toMatchObject({ sub: 'other', act: { sub: 'api' } });
  });

  test('names nobody where the client’s setting says so, but whoever acted before', async () => {
    const put = (tokenExchangeImpersonation: boolean) =>
      server.admin.call(putClient, { params: { ...params, id: ids.api ?? '' }, body: { tokenExchangeImpersonation } });
    const { body: acted } = await trade({ resource: API });
    await put(true);
    expect(claimsIn((await trade()).body.access_token)).not.toHaveProperty('act');
    const again = await trade({ subject_token: String(acted.access_token) });
    expect(claimsIn(again.body.access_token).act).toMatchObject({ sub: 'api' });
    await put(false);
  });

  test('ends with the person’s session, as the first does', async () => {
    const { person, body } = await freshTokens(server, { scope: 'openid email', resource: API });
    const given = await trade({ subject_token: String(body.access_token) });
    const shown = () =>
      post(server, REALM, 'introspect', { token: String(given.body.access_token) }, { authorization: basic('api') });
    expect((await shown()).body).toMatchObject({ active: true, act: { sub: 'api' } });
    await person.open(`/realms/${REALM}/oauth2/logout?id_token_hint=${body.id_token}`);
    expect((await shown()).body).toEqual({ active: false });
    expect(await refusal({ subject_token: String(body.access_token) })).toEqual([400, 'invalid_request']);
  });
});

describe('an exchange is refused', () => {
  test('to a client without the grant, one that proves nothing, and one that the token is not for', async () => {
    expect(await refusal({}, 'plain')).toEqual([400, 'unauthorized_client']);
    const unproven = await post(server, REALM, 'token', { grant_type: TOKEN_EXCHANGE, client_id: 'api' });
    expect([unproven.status, unproven.body.error]).toEqual([401, 'invalid_client']);
    expect(await refusal({}, 'other')).toEqual([400, 'invalid_request']);
  });

  test('where a token is bound to a key, unless that key is proven', async () => {
    const [key, thiefs] = [await makeProofKey(), await makeProofKey()];
    const htu = `${server.baseUrl}/realms/${REALM}/oauth2/token`;
    const bound = async (form: Record<string, string>, clientId: string) => {
      const dpop = await key.proof({ htu });
      const { body } = await post(server, REALM, 'token', form, { authorization: basic(clientId), dpop });
      return String(body.access_token);
    };
    const { answer } = await signedIn(server, { scope: 'openid email', resource: API });
    const code = { grant_type: 'authorization_code', code: answer.code ?? '', redirect_uri: RP };
    const subject = { subject_token: await bound(code, 'rp') };
    expect(claimsIn(subject.subject_token).cnf).toEqual({ jkt: key.jkt });
    const actor = {
      actor_token: await bound({ grant_type: 'client_credentials' }, 'api'),
      actor_token_type: ACCESS_TOKEN_TYPE,
    };
    for (const form of [subject, actor, { ...subject, ...actor }]) {
      expect(await refusal(form)).toEqual([400, 'invalid_request']);
      const refused = await trade(form, 'api', { dpop: await thiefs.proof({ htu }) });
      expect([refused.status, refused.body.error]).toEqual([400, 'invalid_request']);
      const { status, body } = await trade(form, 'api', { dpop: await key.proof({ htu }) });
      expect([status, claimsIn(body.access_token).cnf]).toEqual([200, { jkt: key.jkt }]);
    }
  });

  test('for what is no token of a person', async () => {
    for (const subject of [await own('plain'), 'x', `${token}x`])
      expect(await refusal({ subject_token: subject })).toEqual([400, 'invalid_request']);
    expect(await refusal({ subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' })).toEqual([
      400,
      'invalid_request',
    ]);
    expect(await refusal({ requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' })).toEqual([
      400,
      'invalid_request',
    ]);
  });

  test('where somebody else’s token says who acts', async () => {
    const actor = { actor_token_type: ACCESS_TOKEN_TYPE };
    expect(await refusal({ ...actor, actor_token: await own('plain') })).toEqual([400, 'invalid_request']);
    expect(await refusal({ ...actor, actor_token: token })).toEqual([400, 'invalid_request']);
    expect(await refusal(actor)).toEqual([400, 'invalid_request']);
    expect((await trade({ ...actor, actor_token: await own('api') })).status).toBe(200);
  });
});

test('a client’s tokens name who alone may act by them, and nobody else may', async () => {
  await makeRelyingParty(server, 'front', { mayActClient: 'other' });
  const { answer } = await signedIn(server, { client_id: 'front', scope: 'openid email', resource: API });
  const subject = String((await exchange(server, answer, {}, 'front')).body.access_token);
  expect(claimsIn(subject).may_act).toEqual({ client_id: 'other' });
  expect(await refusal({ subject_token: subject })).toEqual([400, 'invalid_request']);
  expect((await trade({ subject_token: subject }, 'other')).status).toBe(200);
});

test('where the client needs consent, the person must have agreed', async () => {
  await makeRelyingParty(server, 'asking', {
    grantTypes: [TOKEN_EXCHANGE],
    consentRequired: true,
    allowedResources: [API, LEDGER],
  });
  expect(await refusal({}, 'asking')).toEqual([400, 'invalid_scope']);
});

describe('a workload’s assertion', () => {
  test('is a grant of the token endpoint by the trust of workload identity, and whatever fails is one answer', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    issuer.answer = async () => ({ body: JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k' }] }) });
    const body = {
      name: 'job',
      issuer: issuer.url,
      jwksUri: `${issuer.url}/keys`,
      subject: 'job',
      audience: 'op',
      clientId: 'plain',
      scopes: 'email',
      enabled: true,
    };
    await server.admin.call(createWorkloadIdentity, { params, body });
    const assertion = (sub: string) =>
      new SignJWT({ sub, iss: issuer.url, aud: 'op' })
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(privateKey);
    const ask = async (sub: string) =>
      post(server, REALM, 'token', { grant_type: JWT_BEARER, assertion: await assertion(sub) });
    // On a busy machine the issuer's keys come later than a refusal is answered; they are kept for the next try.
    const given = await vi.waitFor(async () => {
      const { status, body } = await ask('job');
      expect([status, body.scope]).toEqual([200, 'email']);
      return body;
    }, 15_000);
    expect(claimsIn(given.access_token)).toMatchObject({ sub: 'plain', workload: { subject: 'job' } });
    const refused = await ask('somebody');
    expect([refused.status, refused.text]).toEqual([400, '{"error":"invalid_grant"}']);
  });
});
