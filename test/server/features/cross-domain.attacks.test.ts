// What others try with grants across domains: the security considerations of RFC 7523 §3, RFC 8725 §3.11,
// draft-ietf-oauth-identity-assertion-authz-grant §9 and draft-ietf-oauth-identity-chaining §5.
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { createApplication, deleteApplication, putApplication } from '../../../server/contract/applications.ts';
import { listClients, putClient } from '../../../server/contract/clients.ts';
import { createCrossDomainPolicy } from '../../../server/contract/cross-domain-policies.ts';
import {
  createCrossDomainTrust,
  listCrossDomainTrusts,
  putCrossDomainTrust,
} from '../../../server/contract/cross-domain-trusts.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createIdentityProvider } from '../../../server/contract/identity-providers.ts';
import { ACCESS_TOKEN_TYPE, JWT_BEARER } from '../../../server/contract/oauth.ts';
import type { Permission } from '../../../server/contract/permissions.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { ID_JAG_TYPE } from '../../../server/contract/token-types.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser, listUsers, putUser } from '../../../server/contract/users.ts';
import { createWorkloadIdentity } from '../../../server/contract/workload-identity.ts';
import { administrator } from '../../support/administrators.ts';
import { PASSWORD } from '../../support/applications.ts';
import { makeKeys } from '../../support/bank.ts';
import { basic, claimsIn, makeClient, post } from '../../support/clients.ts';
import {
  ask,
  CHAT,
  CHAT_API,
  issuerOf,
  makeChat,
  makeHome,
  redeem,
  signIn,
  THERE,
} from '../../support/cross-domain.ts';
import { makeProofKey } from '../../support/dpop.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;
let server: TestServer;
let partner: Receiver;
let keys: Keys;
let strangers: Keys;
let audience = '';
let idToken = '';
let count = 0;
const there = { realm: CHAT };
const here = { realm: REALM };
beforeAll(async () => {
  partner = await startReceiver();
  [keys, strangers] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' };
  partner.answer = ({ url }) => {
    if (url === '/.well-known/openid-configuration')
      return { body: JSON.stringify({ issuer: partner.url, jwks_uri: `${partner.url}/keys` }) };
    return url === '/keys' ? { body: JSON.stringify({ keys: [jwk] }) } : { status: 404 };
  };
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: partner.caFile } });
  audience = issuerOf(server, CHAT);
  await makeHome(server, audience);
  await makeChat(server, issuerOf(server, REALM));
  await server.admin.call(createCrossDomainTrust, {
    params: there,
    body: {
      name: 'partner',
      issuer: partner.url,
      clientId: THERE,
      scopes: ['chat.read', 'account', 'offline_access'],
      emailDomains: ['partner.example'],
    },
  });
  for (const username of ['ben', 'root']) {
    const domain = username === 'ben' ? 'partner.example' : 'example.com';
    const body = { username, email: `${username}@${domain}`, emailVerified: true, password: PASSWORD };
    await server.admin.call(createUser, { params: there, body });
  }
  idToken = String((await signIn(server)).body.id_token);
}, 120_000);
afterAll(async () => {
  await server?.stop();
  await partner?.stop();
});
beforeEach(() => trust({ tokenTypes: ['id-jag'], enabled: true, trustEmail: false }));

async function trust(change: object, name = 'partner') {
  const { body = [] } = await server.admin.call(listCrossDomainTrusts, { params: there });
  const id = body.find((one) => one.name === name)?.id ?? '';
  await server.admin.call(putCrossDomainTrust, { params: { ...there, id }, body: change });
}

/** The partner's grant about ben, with claims and header changed; undefined leaves one out. */
function grantOf(
  claims: Record<string, unknown> = {},
  { typ = 'oauth-id-jag+jwt', pair = keys }: { typ?: string; pair?: Keys } = {},
) {
  count += 1;
  const iat = Math.floor(Date.now() / 1000);
  const payload = {
    iss: partner.url,
    sub: 'ben-there',
    aud: audience,
    client_id: THERE,
    jti: `grant-${count}`,
    iat,
    exp: iat + 300,
    scope: 'chat.read',
    resource: CHAT_API,
    email: 'ben@partner.example',
    email_verified: true,
    ...claims,
  };
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', ...(typ !== '' && { typ }) })
    .sign(pair.privateKey);
}
const outcome = async (assertion: unknown, ...more: [form?: Record<string, string>, options?: object]) => {
  const { status, body } = await redeem(server, assertion, ...more);
  return status === 200 ? 200 : body.error;
};
const fromHome = async () => String((await ask(server, { audience, subject_token: idToken })).body.access_token);

describe('another issuer’s grant', () => {
  test('counts once', async () => {
    const grant = await grantOf();
    const both = await Promise.all([outcome(grant), outcome(grant)]);
    expect(both.sort()).toEqual([200, 'invalid_grant']);
    expect(await outcome(grant)).toBe('invalid_grant');
    await expect
      .poll(
        async () =>
          (await server.admin.call(listEvents, { params: there, query: { type: 'TOKEN_REFUSED' } })).body?.[0]?.data,
      )
      .toMatchObject({ reason: 'it was presented before' });
  });

  test.each([
    ['is for another audience', { aud: 'https://elsewhere.example' }],
    ['has a second audience', { aud: ['https://elsewhere.example', 'x'] }],
    ['is for another client', { client_id: 'other' }],
    ['is for no client', { client_id: undefined }],
    ['has no id', { jti: undefined }],
    ['has expired', { exp: 1, iat: 0 }],
    ['is from the future', { iat: 4_000_000_000, exp: 4_000_000_100 }],
    ['lives too long', { exp: Math.floor(Date.now() / 1000) + 90_000 }],
    ['has a nonce, as an ID token', { nonce: 'n' }],
    ['is of an issuer that the client does not trust', { iss: 'https://elsewhere.example' }],
    ['names nobody', { email: undefined }],
    ['names an address that it does not call confirmed', { email_verified: undefined }],
    ['names an address that it calls unconfirmed', { email_verified: false }],
    ['names a user of a domain that is not the issuer’s', { email: 'root@example.com' }],
    ['hides another domain in the address', { email: 'root@example.com@partner.example' }],
    ['has a key confirmation that nobody knows', { cnf: { kid: 'x' } }],
  ])('does not count if it %s', async (_, claims) => {
    expect(await outcome(await grantOf(claims))).toBe('invalid_grant');
  });

  test('does not count with another signature, or none', async () => {
    expect(await outcome(await grantOf({}, { pair: strangers }))).toBe('invalid_grant');
    const [header = '', payload = ''] = (await grantOf()).split('.');
    const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'oauth-id-jag+jwt' })).toString('base64url');
    expect(await outcome(`${unsigned}.${payload}.`)).toBe('invalid_grant');
    expect(await outcome(`${header}.${payload}.`)).toBe('invalid_grant');
    expect(await outcome('a.b.c')).toBe('invalid_grant');
  });

  test.each(['JWT', '', 'at+jwt', 'logout+jwt', 'secevent+jwt', 'authorization-grant+jwt'])(
    'of the type %s is no ID-JAG',
    async (typ) => {
      expect(await outcome(await grantOf({}, { typ }))).toBe('invalid_grant');
    },
  );

  test('without a type counts only for a trust that takes such, and never as another’s token', async () => {
    await trust({ tokenTypes: ['untyped'] });
    expect(await outcome(await grantOf({}, { typ: 'JWT' }))).toBe(200);
    expect(await outcome(await grantOf({ at_hash: 'x' }, { typ: 'JWT' }))).toBe('invalid_grant');
    expect(await outcome(await grantOf({}, { typ: 'at+jwt' }))).toBe('invalid_grant');
    expect(await outcome(await grantOf())).toBe('invalid_grant');
  });

  test('counts not without the client’s proof, and not at another client', async () => {
    const form = { grant_type: JWT_BEARER, assertion: await grantOf(), client_id: THERE };
    expect((await post(server, CHAT, 'token', form)).body.error).toBe('invalid_client');
    expect((await post(server, CHAT, 'token', form, { authorization: basic(THERE, 'wrong') })).body.error).toBe(
      'invalid_client',
    );
    expect(await outcome(await grantOf({ client_id: 'other' }), {}, { clientId: 'other' })).toBe('invalid_grant');
    expect(await outcome(form.assertion)).toBe(200);
  });

  test('gives no scope beyond the trust and the client, no account, and no way to the admin API', async () => {
    const { body } = await redeem(
      server,
      await grantOf({ scope: 'openid account offline_access chat.admin chat.read email' }),
    );
    expect([body.scope, body.id_token, body.refresh_token]).toEqual(['chat.read', undefined, undefined]);
    for (const scope of ['account', 'chat.admin', 'openid'])
      expect(await outcome(await grantOf({ scope }), { scope })).toBe('invalid_scope');
    expect((await redeem(server, await grantOf({ scope: undefined }))).body.scope).toBeUndefined();
    for (const resource of [`${server.baseUrl}/admin`, 'https://elsewhere.example'])
      expect(await outcome(await grantOf({ resource }))).toBe('invalid_target');
    expect(await outcome(await grantOf({ resource: undefined }), { resource: `${server.baseUrl}/admin` })).toBe(
      'invalid_target',
    );
  });

  test('is nothing for a disabled user, or one with required actions', async () => {
    const { body: users = [] } = await server.admin.call(listUsers, { params: there, query: { q: 'ben' } });
    const params = { ...there, userId: users[0]?.id ?? '' };
    await server.admin.call(putUser, { params, body: { enabled: false } });
    expect(await outcome(await grantOf())).toBe('invalid_grant');
    await server.admin.call(putUser, { params, body: { enabled: true, requiredActions: ['UPDATE_PASSWORD'] } });
    expect(await outcome(await grantOf())).toBe('invalid_grant');
    await server.admin.call(putUser, { params, body: { requiredActions: [] } });
    expect(await outcome(await grantOf())).toBe(200);
  });

  test('names users by links of the trust’s identity provider, and by its own subjects alone', async () => {
    for (const alias of ['corp', 'rival'])
      await server.admin.call(createIdentityProvider, {
        params: there,
        body: {
          alias,
          type: 'oidc',
          clientId: 'us',
          config: { issuer: alias === 'corp' ? partner.url : 'https://rival.example' },
        },
      });
    const identities = [{ identityProvider: 'rival', issuer: 'https://rival.example', subject: 'root-there' }];
    await server.admin.call(importRealm, { params: there, body: { users: [{ username: 'root', identities }] } });
    await trust({ identityProvider: 'corp' });
    const named = { email: undefined, sub: 'root-there' };
    expect(await outcome(await grantOf(named))).toBe('invalid_grant');
    const own = [...identities, { identityProvider: 'corp', issuer: partner.url, subject: 'root-there' }];
    await server.admin.call(importRealm, { params: there, body: { users: [{ username: 'root', identities: own }] } });
    expect(await outcome(await grantOf(named))).toBe(200);
    await trust({ identityProvider: null });
  });

  test('gives no application to users without its roles, nor one that is switched off', async () => {
    await server.admin.call(createRole, { params: there, body: { name: 'chatter' } });
    const application = { params: { ...there, name: 'chat' } };
    const body = { name: 'chat', clients: [THERE], roles: ['chatter'] };
    await server.admin.call(createApplication, { params: there, body });
    expect(await outcome(await grantOf())).toBe('invalid_grant');
    await server.admin.call(importRealm, { params: there, body: { users: [{ username: 'ben', roles: ['chatter'] }] } });
    expect(await outcome(await grantOf())).toBe(200);
    await server.admin.call(putApplication, { ...application, body: { enabled: false } });
    expect(await outcome(await grantOf())).toBe('invalid_grant');
    await server.admin.call(deleteApplication, application);
  });

  test('of a disabled trust is nothing', async () => {
    await trust({ enabled: false });
    expect(await outcome(await grantOf())).toBe('invalid_grant');
  });

  test('is no workload’s token, no client assertion, and no access token', async () => {
    const identity = { issuer: partner.url, subject: 'ben-there', audience, clientId: THERE };
    await server.admin.call(createWorkloadIdentity, { params: there, body: { name: 'w', ...identity } });
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    };
    const response = await fetch(`${server.baseUrl}/realms/${CHAT}/workload-identity/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...form, subject_token: await grantOf() }).toString(),
    });
    expect(response.status).toBe(401);
    const grant = await fromHome();
    const assertion = {
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: grant,
    };
    const asClient = await post(server, CHAT, 'token', {
      grant_type: 'client_credentials',
      client_id: THERE,
      ...assertion,
    });
    expect(asClient.body.error).toBe('invalid_client');
    const userinfo = await fetch(`${server.baseUrl}/realms/${REALM}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${grant}` },
    });
    expect(userinfo.status).toBe(401);
    const form2 = {
      subject_token: grant,
      subject_token_type: ACCESS_TOKEN_TYPE,
      requested_token_type: ACCESS_TOKEN_TYPE,
      resource: CHAT_API,
    };
    expect((await ask(server, form2)).body.error).toMatch(/^invalid_/);
  });
});

test('a client of FAPI 2.0 gets for a grant no token that is not bound to its key', async () => {
  const bank = await makeKeys('PS256');
  await makeClient(server, CHAT, {
    clientId: 'bank',
    profile: 'fapi2-security',
    tokenEndpointAuthMethod: 'private_key_jwt',
    jwks: { keys: [bank.jwk] },
    grantTypes: [],
    optionalClientScopes: ['chat.read'],
  });
  const body = {
    name: 'bank',
    issuer: partner.url,
    clientId: 'bank',
    scopes: ['chat.read'],
    emailDomains: ['partner.example'],
  };
  await server.admin.call(createCrossDomainTrust, { params: there, body });
  const key = await makeProofKey();
  const send = async (bound: boolean, nonce?: string) => {
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss: 'bank', sub: 'bank', aud: audience, jti: crypto.randomUUID(), iat, exp: iat + 60 };
    const header = { alg: bank.alg, kid: bank.kid };
    const form = {
      grant_type: JWT_BEARER,
      assertion: await grantOf({ client_id: 'bank' }),
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await new SignJWT(claims).setProtectedHeader(header).sign(bank.privateKey),
    };
    const proof = { htu: `${audience}/oauth2/token`, claims: nonce === undefined ? {} : { nonce } };
    return post(server, CHAT, 'token', form, bound ? { dpop: await key.proof(proof) } : {});
  };
  expect((await send(false)).body.error).toBe('invalid_dpop_proof');
  const asked = await send(true);
  const { body: given } = await send(true, asked.headers.get('dpop-nonce') ?? '');
  expect([given.token_type, claimsIn(given.access_token).cnf]).toEqual(['DPoP', { jkt: key.jkt }]);
});

describe('a grant of this server', () => {
  test('goes from realm to realm of one server without a request to itself', async () => {
    const { status, body } = await redeem(server, await fromHome());
    expect([status, claimsIn(body.access_token).iss]).toEqual([200, audience]);
  });

  test('is not for another client’s ID token, an access token, another realm’s, or an audience without a policy', async () => {
    const refusal = async (form: Record<string, string>, options?: { clientId?: string }) =>
      (await ask(server, { audience, subject_token: idToken, ...form }, options)).body.error;
    const { body } = await signIn(server, {}, 'notes');
    expect(await refusal({ subject_token: String(body.id_token) })).toBe('invalid_request');
    expect(await refusal({}, { clientId: 'notes' })).toBe('invalid_target');
    expect(await refusal({ audience: 'https://elsewhere.example' })).toBe('invalid_target');
    expect(await refusal({ audience: issuerOf(server, REALM) })).toBe('invalid_target');
    expect(await refusal({ audience: '' })).toBe('invalid_request');
    const accessToken = String((await signIn(server)).body.access_token);
    expect(await refusal({ subject_token: accessToken })).toBe('invalid_request');
    expect(await refusal({ subject_token: accessToken, subject_token_type: ACCESS_TOKEN_TYPE })).toBe(
      'invalid_request',
    );
    expect(await refusal({ subject_token: await fromHome() })).toBe('invalid_request');
    expect(await refusal({ actor_token: accessToken, actor_token_type: ACCESS_TOKEN_TYPE })).toBe('invalid_request');
    expect(await refusal({ scope: 'chat.admin' })).toBe('invalid_scope');
    expect(await refusal({ scope: 'chat.read chat.admin' })).toBe('invalid_scope');
    expect(await refusal({ resource: 'https://elsewhere.example' })).toBe('invalid_target');
    expect(await refusal({ authorization_details: '[{"type":"payment"}]' })).toBe('invalid_authorization_details');
  });

  test('is for no ID token of a session that has ended', async () => {
    const { person, body } = await signIn(server);
    const subject_token = String(body.id_token);
    expect((await ask(server, { audience, subject_token })).status).toBe(200);
    const page = await person.open(`/realms/${REALM}/oauth2/logout?id_token_hint=${subject_token}`);
    expect(page.status).toBe(200);
    expect((await ask(server, { audience, subject_token })).body.error).toBe('invalid_request');
  });

  test('is for no ID token of a grant that outlived its session, and has ended', async () => {
    const { body } = await signIn(server, { scope: 'openid offline_access' });
    const subject_token = String(body.id_token);
    expect(claimsIn(subject_token).sid).toBeUndefined();
    expect((await ask(server, { audience, subject_token })).status).toBe(200);
    await post(server, REALM, 'revoke', { token: String(body.refresh_token) }, { authorization: basic('wiki') });
    expect((await ask(server, { audience, subject_token })).body.error).toBe('invalid_request');
  });

  test('is not had by a client to which the user does not agree, or agrees no more', async () => {
    const { body: clients = [] } = await server.admin.call(listClients, { params: here, query: { q: 'wiki' } });
    const params = { ...here, id: clients[0]?.id ?? '' };
    await server.admin.call(putClient, { params, body: { consentRequired: true } });
    expect((await ask(server, { audience, subject_token: idToken })).body.error).toBe('invalid_grant');
    await server.admin.call(putClient, { params, body: { consentRequired: false } });
    expect((await ask(server, { audience, subject_token: idToken })).status).toBe(200);
  });

  test('is not had for an application that is switched off', async () => {
    const application = { params: { ...here, name: 'wiki' } };
    await server.admin.call(createApplication, {
      params: here,
      body: { name: 'wiki', clients: ['wiki'], enabled: false },
    });
    expect((await ask(server, { audience, subject_token: idToken })).body.error).toBe('invalid_grant');
    await server.admin.call(deleteApplication, application);
  });

  test('is not redeemed where it was issued', async () => {
    const grant = await fromHome();
    expect((await redeem(server, grant, {}, { clientId: 'wiki', realm: REALM })).body.error).toBe('invalid_grant');
    const body = { name: 'self', issuer: issuerOf(server, REALM), clientId: 'wiki' };
    await expect(server.admin.call(createCrossDomainTrust, { params: here, body })).rejects.toMatchObject({
      status: 400,
    });
  });

  test('is had by no public client', async () => {
    const { body } = await server.admin.call(createCrossDomainPolicy, {
      params: here,
      body: { name: 'notes', clientId: 'notes', audience, targetClientId: THERE },
    });
    expect(body?.name).toBe('notes');
    const tokens = (await signIn(server, {}, 'notes')).body;
    const { body: clients = [] } = await server.admin.call(listClients, { params: here, query: { q: 'notes' } });
    const id = clients[0]?.id ?? '';
    await server.admin.call(putClient, {
      params: { ...here, id },
      body: { tokenEndpointAuthMethod: 'none', requirePkce: true },
    });
    const form = {
      subject_token: String(tokens.id_token),
      audience,
      client_id: 'notes',
      requested_token_type: ID_JAG_TYPE,
    };
    const { body: answer } = await post(server, REALM, 'token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      ...form,
    });
    expect(answer.error).toBe('unauthorized_client');
  });
});

describe('an administrator', () => {
  test('with the kind’s permission alone makes no trust and no policy', async () => {
    const permissions: Permission[] = ['cross-domain-trusts:write', 'cross-domain-policies:write'];
    const made = { home: CHAT, target: CHAT };
    const dora = await administrator(server, { ...made, permissions });
    const drew = await administrator(server, { ...made, permissions: [...permissions, 'users:write'] });
    const boss = { username: 'boss', email: 'boss@bosses.example', emailVerified: true };
    const userId = (await server.admin.call(createUser, { params: there, body: boss })).body?.id ?? '';
    await server.admin.call(putUserAdminRoles, {
      params: { ...there, userId },
      body: { grants: [{ role: 'realm-admin', realm: CHAT }] },
    });
    const body = { name: 'mine', issuer: 'https://mine.example', clientId: 'other', emailDomains: ['workers.example'] };
    const policy = { name: 'mine', clientId: 'other', audience: 'https://mine.example', targetClientId: 'x' };
    await expect(dora.call(createCrossDomainTrust, { params: there, body })).rejects.toMatchObject({ status: 403 });
    await expect(dora.call(createCrossDomainPolicy, { params: there, body: policy })).rejects.toMatchObject({
      status: 403,
    });
    // its issuer could name an administrator who holds more
    const over = { ...body, emailDomains: ['bosses.example'] };
    await expect(drew.call(createCrossDomainTrust, { params: there, body: over })).rejects.toMatchObject({
      status: 403,
    });
    expect((await drew.call(createCrossDomainTrust, { params: there, body })).status).toBe(201);
  });
});
