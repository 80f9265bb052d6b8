// Grants across domains between two servers: an ID token of one becomes an access token of the other, as far as both realms'
// administrators permit it. draft-ietf-oauth-identity-assertion-authz-grant, draft-ietf-oauth-identity-chaining.
import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listCrossDomainPolicies, putCrossDomainPolicy } from '../../../server/contract/cross-domain-policies.ts';
import { listCrossDomainTrusts, putCrossDomainTrust } from '../../../server/contract/cross-domain-trusts.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createGroup } from '../../../server/contract/groups.ts';
import { ACCESS_TOKEN_TYPE, JWT_BEARER, TOKEN_EXCHANGE } from '../../../server/contract/oauth.ts';
import {
  ID_JAG_PROFILE,
  ID_JAG_TYPE,
  JWT_GRANT_TYPE,
  REFRESH_TOKEN_TYPE,
} from '../../../server/contract/token-types.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { listUsers, putUser } from '../../../server/contract/users.ts';
import { basic, claimsIn, post } from '../../support/clients.ts';
import {
  ask,
  CHAT,
  CHAT_API,
  FILES_API,
  issuerOf,
  makeChat,
  makeHome,
  redeem,
  signIn,
  THERE,
} from '../../support/cross-domain.ts';
import { makeProofKey } from '../../support/dpop.ts';
import { REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let home: TestServer;
let chat: TestServer;
let audience = '';
let idToken = '';
const params = { realm: REALM };
beforeAll(async () => {
  [home, chat] = [await startTestServer(), await startTestServer()];
  audience = issuerOf(chat, CHAT);
  await makeHome(home, audience);
  await makeChat(chat, issuerOf(home, REALM));
  idToken = String((await signIn(home)).body.id_token);
}, 120_000);
afterAll(async () => {
  await home?.stop();
  await chat?.stop();
});

const grant = async (form: Record<string, string> = {}) =>
  String((await ask(home, { audience, subject_token: idToken, ...form })).body.access_token);
async function policy(change: object, name = 'wiki-to-chat') {
  const { body = [] } = await home.admin.call(listCrossDomainPolicies, { params });
  const before = body.find((one) => one.name === name);
  await home.admin.call(putCrossDomainPolicy, { params: { ...params, id: before?.id ?? '' }, body: change });
}

describe('a grant for another domain', () => {
  test('is for its authorization server, the client there, and what the policy permits', async () => {
    const { status, body } = await ask(home, {
      audience,
      subject_token: idToken,
      scope: 'chat.read',
      resource: CHAT_API,
    });
    expect([status, body.issued_token_type, body.token_type, body.scope]).toEqual([
      200,
      ID_JAG_TYPE,
      'N_A',
      'chat.read',
    ]);
    expect(body).not.toHaveProperty('refresh_token');
    expect(decodeProtectedHeader(String(body.access_token)).typ).toBe('oauth-id-jag+jwt');
    const [claims, from] = [claimsIn(body.access_token), claimsIn(idToken)];
    expect(claims).toMatchObject({
      iss: issuerOf(home, REALM),
      aud: audience,
      sub: from.sub,
      client_id: THERE,
      scope: 'chat.read',
      resource: CHAT_API,
      auth_time: from.auth_time,
      acr: from.acr,
      amr: from.amr,
      email: 'alice@example.com',
    });
    expect(Number(claims.exp) - Number(claims.iat)).toBe(300);
    for (const name of ['sid', 'gid', 'at_hash', 'nonce']) expect(claims).not.toHaveProperty(name);
    await expect
      .poll(async () => (await home.admin.call(listEvents, { params, query: { type: 'TOKEN_ISSUED' } })).body?.[0])
      .toMatchObject({
        clientId: 'wiki',
        subject: { name: 'alice' },
        data: { grant: 'id_jag', policy: 'wiki-to-chat', audience, scope: 'chat.read', resources: [CHAT_API] },
      });
  });

  test('has all that the policy permits, if nothing is asked for', async () => {
    expect(claimsIn(await grant())).toMatchObject({ scope: 'chat.history chat.read', resource: [CHAT_API, FILES_API] });
  });

  test('is had for a refresh token, too, as long as that is in use', async () => {
    const { body } = await signIn(home);
    const form = { subject_token: String(body.refresh_token), subject_token_type: REFRESH_TOKEN_TYPE };
    const granted = claimsIn(await grant(form));
    expect(granted).toMatchObject({ aud: audience, sub: claimsIn(idToken).sub, amr: claimsIn(body.id_token).amr });
    await post(home, REALM, 'revoke', { token: form.subject_token }, { authorization: basic('wiki') });
    const refused = await ask(home, { audience, ...form });
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_request']);
  });

  test('is for the members of the policy’s groups', async () => {
    await home.admin.call(createGroup, { params, body: { name: 'staff' } });
    await policy({ groups: ['/staff'] });
    const refused = await ask(home, { audience, subject_token: idToken });
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_grant']);
    await home.admin.call(importRealm, { params, body: { users: [{ username: 'alice', groups: ['/staff'] }] } });
    expect(claimsIn(await grant()).aud).toBe(audience);
    await policy({ groups: [] });
  });

  test('demands the level and the age of the sign-in that the policy says', async () => {
    await policy({ leastLevel: 3 });
    const low = await ask(home, { audience, subject_token: idToken });
    expect([low.status, low.body.error, low.body.acr_values]).toEqual([400, 'insufficient_user_authentication', '3']);
    await policy({ leastLevel: null, maxAge: 1 });
    await expect
      .poll(async () => (await ask(home, { audience, subject_token: idToken })).body)
      .toMatchObject({ error: 'insufficient_user_authentication', max_age: 1 });
    await policy({ maxAge: null });
  });

  test('is announced by discovery at both ends', async () => {
    const found = Object(await (await fetch(`${audience}/.well-known/openid-configuration`)).json());
    expect(found).toMatchObject({
      authorization_grant_profiles_supported: [ID_JAG_PROFILE],
      identity_chaining_requested_token_types_supported: [ID_JAG_TYPE, JWT_GRANT_TYPE],
      grant_types_supported: expect.arrayContaining([JWT_BEARER, TOKEN_EXCHANGE]),
    });
    expect(new Set(found.grant_types_supported).size).toBe(found.grant_types_supported.length);
  });
});

describe('at the other domain the grant', () => {
  test('becomes an access token about its own user, without a refresh token', async () => {
    const { status, body } = await redeem(chat, await grant({ scope: 'chat.read', resource: CHAT_API }));
    expect([status, body.token_type, body.scope]).toEqual([200, 'Bearer', 'chat.read']);
    expect(body).not.toHaveProperty('refresh_token');
    const { body: users = [] } = await chat.admin.call(listUsers, { params: { realm: CHAT }, query: {} });
    expect(claimsIn(body.access_token)).toMatchObject({
      iss: audience,
      sub: users[0]?.id,
      aud: CHAT_API,
      client_id: THERE,
      scope: 'chat.read',
      acr: '0',
    });
    await expect
      .poll(
        async () =>
          (await chat.admin.call(listEvents, { params: { realm: CHAT }, query: { type: 'TOKEN_ISSUED' } })).body?.[0],
      )
      .toMatchObject({
        clientId: THERE,
        subject: { name: 'alice' },
        data: { grant: 'id_jag', trust: 'home', issuer: issuerOf(home, REALM), scope: 'chat.read' },
      });
  });

  test('gives less, if the client asks for less, and never more', async () => {
    const narrow = await redeem(chat, await grant(), { scope: 'chat.read', resource: FILES_API });
    expect(claimsIn(narrow.body.access_token)).toMatchObject({ aud: FILES_API, scope: 'chat.read' });
    const wider = await redeem(chat, await grant({ scope: 'chat.read' }), { scope: 'chat.history' });
    expect([wider.status, wider.body.error]).toEqual([400, 'invalid_scope']);
    const elsewhere = await redeem(chat, await grant({ resource: CHAT_API }), { resource: FILES_API });
    expect([elsewhere.status, elsewhere.body.error]).toEqual([400, 'invalid_target']);
  });

  test('and its access tokens count no more when the user is disabled, or all access ends', async () => {
    const there = { realm: CHAT };
    const { body } = await redeem(chat, await grant({ resource: CHAT_API }));
    const introspected = async () =>
      (await post(chat, CHAT, 'introspect', { token: String(body.access_token) }, { authorization: basic(THERE) })).body
        .active;
    expect(await introspected()).toBe(true);
    const { body: users = [] } = await chat.admin.call(listUsers, { params: there, query: {} });
    const at = { ...there, userId: users[0]?.id ?? '' };
    await chat.admin.call(putUser, { params: at, body: { enabled: false } });
    await chat.admin.call(putUser, { params: at, body: { enabled: true } });
    expect(await introspected()).toBe(false);
  });

  test('can be bound to a key, which both requests prove', async () => {
    const key = await makeProofKey();
    const proof = async (server: TestServer, realm: string) => ({
      dpop: await key.proof({ htm: 'POST', htu: `${issuerOf(server, realm)}/oauth2/token` }),
    });
    const asked = await ask(home, { audience, subject_token: idToken }, { headers: await proof(home, REALM) });
    const bound = String(asked.body.access_token);
    expect([asked.body.token_type, claimsIn(bound).cnf]).toEqual(['N_A', { jkt: key.jkt }]);
    const without = await redeem(chat, bound);
    expect([without.status, without.body.error]).toEqual([400, 'invalid_grant']);
    const { body } = await redeem(chat, bound, {}, { headers: await proof(chat, CHAT) });
    expect([body.token_type, claimsIn(body.access_token).cnf]).toEqual(['DPoP', { jkt: key.jkt }]);
  });
});

describe('an access token', () => {
  test('is chained to another server by identity chaining, if the policy and the trust permit it', async () => {
    const form = {
      requested_token_type: JWT_GRANT_TYPE,
      subject_token_type: ACCESS_TOKEN_TYPE,
      subject_token: String((await signIn(home, { scope: 'openid email' })).body.access_token),
    };
    const closed = await ask(home, { audience, ...form });
    expect([closed.status, closed.body.error]).toEqual([400, 'invalid_target']);
    await policy({ tokenTypes: ['id-jag', 'jwt'], tokenScopes: ['email'] });
    // a lone resource names the authorization server: identity chaining §2.3.1
    const { body } = await ask(home, { resource: audience, ...form, scope: 'chat.read' });
    expect([body.issued_token_type, decodeProtectedHeader(String(body.access_token)).typ]).toEqual([
      JWT_GRANT_TYPE,
      'authorization-grant+jwt',
    ]);
    const refused = await redeem(chat, body.access_token);
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_grant']);
    const there = { realm: CHAT };
    const { body: [trust] = [] } = await chat.admin.call(listCrossDomainTrusts, { params: there });
    const at = { ...there, id: trust?.id ?? '' };
    await chat.admin.call(putCrossDomainTrust, { params: at, body: { tokenTypes: ['id-jag', 'jwt'] } });
    const chained = await ask(home, { resource: audience, ...form, scope: 'chat.read' });
    const redeemed = await redeem(chat, chained.body.access_token, { resource: CHAT_API });
    const { body: users = [] } = await chat.admin.call(listUsers, { params: there, query: {} });
    expect(claimsIn(redeemed.body.access_token)).toMatchObject({
      iss: audience,
      sub: users[0]?.id,
      aud: CHAT_API,
      scope: 'chat.read',
    });
    const lacking = String((await signIn(home, { scope: 'openid' })).body.access_token);
    const narrow = await ask(home, { audience, ...form, subject_token: lacking });
    expect([narrow.status, narrow.body.error]).toEqual([400, 'invalid_scope']);
  });
});
