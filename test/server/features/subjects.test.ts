// Owns: whom tokens are about (`sub`) by each strategy, and that the server knows the person again by every one of them.
// Does not own: clients' own names as subjects (clients.subject.test.ts).
// Implements: decisions "Subject claim"; OpenID Connect Core §8; RFC 9068 §5.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClientInput } from '../../../server/contract/clients.ts';
import { createClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createInitialAccessToken, putProvisioning } from '../../../server/contract/provisioning.ts';
import { getSettings, putSettings } from '../../../server/contract/settings.ts';
import { getSubjectClaim, putSubjectClaim, type SubjectClaim } from '../../../server/contract/subject-claim.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser, putUser, setPassword, type UserInput } from '../../../server/contract/users.ts';
import { signInCli } from '../../support/admin-cli.ts';
import { authorizePath, getCode, newVerifier, PASSWORD, redeem, refresh } from '../../support/applications.ts';
import { claimsIn, makeClient, makeRealm, post } from '../../support/clients.ts';
import { createPerson, type Person } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let receiver: Receiver;
let made = 0;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile } });
});
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});

const REDIRECTS: Record<string, string[]> = {
  shop: ['https://shop.example/cb'],
  cart: ['https://shop.example/cart/cb', 'https://shop.example/other'],
  news: ['https://news.example/cb'],
  many: ['https://news.example/cb', 'https://shop.example/cb'],
};
const backTo = (clientId: string) => REDIRECTS[clientId]?.[0] ?? '';

/** A realm with clients on two hosts, and what its tokens call people. */
async function realmWith(claim: SubjectClaim, more: Partial<ClientInput> = {}) {
  made += 1;
  const realm = `subjects${made}`;
  await makeRealm(server, realm);
  const optionalClientScopes = ['offline_access', 'account'];
  for (const [clientId, redirectUris] of Object.entries(REDIRECTS))
    await makeClient(server, realm, {
      clientId,
      tokenEndpointAuthMethod: 'none',
      redirectUris,
      postLogoutRedirectUris: ['https://shop.example/bye'],
      optionalClientScopes,
      ...more,
    });
  await server.admin.call(putSubjectClaim, { params: { realm }, body: claim });
  return realm;
}
async function makeUser(realm: string, username = 'alice', more: Partial<UserInput> = {}): Promise<string> {
  const body = { username, password: PASSWORD, ...more };
  return (await server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
}
const staff = (...values: string[]) => ({ attributes: { staff: values } });

async function tokensOf(
  realm: string,
  clientId: string,
  { username = 'alice', person, scope = 'openid' }: { username?: string; person?: Person; scope?: string } = {},
) {
  const redirect_uri = backTo(clientId);
  const parameters = { redirect_uri, scope };
  const code = await getCode(server, realm, clientId, { username, parameters, ...(person && { person }) });
  const { body } = await redeem(server, realm, clientId, code, { redirect_uri });
  return { ...code, body, sub: claimsIn(body.access_token).sub, hint: String(body.id_token) };
}
/** What an application is told that asks without letting the person do anything. */
async function silently(realm: string, clientId: string, person: Person, more: Record<string, string>) {
  const asked = { redirect_uri: backTo(clientId), prompt: 'none', ...more };
  const { url } = await person.open(authorizePath(realm, clientId, newVerifier(), asked));
  return Object.fromEntries(new URL(url).searchParams);
}
const userinfo = async (realm: string, token: unknown) =>
  (await post(server, realm, 'userinfo', { access_token: String(token) })).body;
const events = async (realm: string, type: string) =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body ?? [];
const discovered = async (realm: string) =>
  Object((await (await fetch(`${server.baseUrl}/realms/${realm}/.well-known/openid-configuration`)).json()) as object);

describe('the strategy', () => {
  test('is read and set by an endpoint of its own and as settings, and needs an attribute where it is one', async () => {
    const realm = await realmWith({ strategy: 'pairwise' });
    const params = { realm };
    const { body, etag } = await server.admin.call(getSubjectClaim, { params });
    expect(body).toEqual({ strategy: 'pairwise' });
    const put = (claim: SubjectClaim, more = {}) =>
      server.admin.call(putSubjectClaim, { params, body: claim, ...more });
    const refused = { status: 400, problem: { errors: [{ path: 'subjectStrategy' }] } };
    await expect(put({ strategy: 'attribute' })).rejects.toMatchObject(refused);
    expect((await put({ strategy: 'attribute', attribute: 'staff' })).body).toEqual({
      strategy: 'attribute',
      attribute: 'staff',
    });
    const settings = (await server.admin.call(getSettings, { params })).body;
    expect(settings).toMatchObject({ subjectStrategy: 'attribute', subjectAttribute: 'staff' });
    const stale = put({ strategy: 'public' }, { headers: { 'if-match': etag ?? '' } });
    await expect(stale).rejects.toMatchObject({ status: 412 });
    await server.admin.call(importRealm, { params, body: { realm: { subjectStrategy: 'public' } } });
    expect((await server.admin.call(getSubjectClaim, { params })).body).toEqual({ strategy: 'public' });
  });

  test('is what discovery names', async () => {
    const types = async (claim: SubjectClaim) => (await discovered(await realmWith(claim))).subject_types_supported;
    expect(await types({ strategy: 'public' })).toEqual(['public', 'pairwise']);
    expect(await types({ strategy: 'pairwise' })).toEqual(['pairwise']);
    expect(await types({ strategy: 'attribute', attribute: 'staff' })).toEqual(['public', 'pairwise']);
  });

  test('public tells every client the person’s id, and nothing else of them', async () => {
    const realm = await realmWith({ strategy: 'public' });
    const id = await makeUser(realm);
    const { sub, body } = await tokensOf(realm, 'shop');
    expect(sub).toBe(id);
    expect(claimsIn(body.access_token)).not.toHaveProperty('svc_person');
  });
});

describe('pairwise', () => {
  test('is another subject for each host, the same at all of a host’s clients, and never the person’s id', async () => {
    const realm = await realmWith({ strategy: 'pairwise' });
    const ids = [await makeUser(realm), await makeUser(realm, 'bob')];
    const [shop, cart, news, many] = await Promise.all(
      ['shop', 'cart', 'news', 'many'].map(async (clientId) => (await tokensOf(realm, clientId)).sub),
    );
    const bob = (await tokensOf(realm, 'shop', { username: 'bob' })).sub;
    expect(cart).toBe(shop);
    // of several hosts, so a sector by itself
    expect(new Set([shop, news, many, bob, ...ids]).size).toBe(6);
    expect((await tokensOf(realm, 'shop')).sub).toBe(shop);
  });

  test('depends on the realm: the same person’s id elsewhere tells nothing', async () => {
    const one = await realmWith({ strategy: 'pairwise' });
    const other = await realmWith({ strategy: 'pairwise' });
    const id = await makeUser(one);
    const row = [other, id, 'alice', new Date()];
    await server.pool.query('insert into realm_user (realm_id, id, username, created_at) values ($1, $2, $3, $4)', row);
    await server.admin.call(setPassword, { params: { realm: other, userId: id }, body: { password: PASSWORD } });
    expect((await tokensOf(one, 'shop')).sub).not.toBe((await tokensOf(other, 'shop')).sub);
  });

  test('is one name everywhere: in both tokens, userinfo, introspection and after a refresh', async () => {
    const realm = await realmWith({ strategy: 'pairwise' });
    const id = await makeUser(realm);
    const { body, sub, hint } = await tokensOf(realm, 'shop');
    expect(claimsIn(hint).sub).toBe(sub);
    expect(await userinfo(realm, body.access_token)).toMatchObject({ sub, preferred_username: 'alice' });
    const next = (await refresh(server, realm, 'shop', body.refresh_token)).body;
    expect([claimsIn(next.access_token).sub, claimsIn(next.id_token).sub]).toEqual([sub, sub]);
    const secret = 'Kq3vT9xZ0bRw7LmY2sHdF5jN8pGcAe4U';
    const resource = { clientId: 'api', secret, tokenEndpointAuthMethod: 'client_secret_post' } as const;
    await makeClient(server, realm, { ...resource, allowedResources: [`${server.baseUrl}/realms/${realm}`] });
    const asking = { client_id: 'api', client_secret: secret, token: String(next.access_token) };
    const seen = (await post(server, realm, 'introspect', asking)).body;
    expect(seen).toMatchObject({ active: true, sub, username: 'alice' });
    expect(JSON.stringify([seen, await userinfo(realm, body.access_token), claimsIn(hint)])).not.toContain(id);
    expect(seen).not.toHaveProperty('svc_person');
  });

  test('a hint knows its person again: silently signed in, refused for somebody else, signed out unasked', async () => {
    const realm = await realmWith({ strategy: 'pairwise' });
    await makeUser(realm);
    await makeUser(realm, 'bob');
    const alice = await tokensOf(realm, 'shop');
    const bob = await tokensOf(realm, 'shop', { username: 'bob' });
    const hint = { id_token_hint: alice.hint };
    expect(await silently(realm, 'shop', alice.person, hint)).toHaveProperty('code');
    expect(await silently(realm, 'shop', bob.person, hint)).toMatchObject({ error: 'login_required' });
    const bye = new URLSearchParams({ ...hint, post_logout_redirect_uri: 'https://shop.example/bye' });
    const path = `/realms/${realm}/oauth2/logout?${bye}`;
    expect((await bob.person.open(path)).heading).toBe('Sign out?');
    expect((await alice.person.open(path)).url).toBe('https://shop.example/bye');
  });

  test('the account API and revocation know whose token it is, and the audit log names people by id', async () => {
    const realm = await realmWith({ strategy: 'pairwise' });
    const id = await makeUser(realm);
    const { body } = await tokensOf(realm, 'shop', { scope: 'openid account' });
    const token = String(body.access_token);
    const account = `${server.baseUrl}/realms/${realm}/account/gdpr/export`;
    const exported = await fetch(account, { headers: { authorization: `Bearer ${token}` } });
    expect(await exported.json()).toMatchObject({ userId: id });
    await post(server, realm, 'revoke', { client_id: 'shop', token });
    const revoked = await events(realm, 'TOKEN_REVOKED');
    expect(revoked.map(({ subject }) => subject)).toEqual([{ type: 'user', id, name: null }]);
    expect((await events(realm, 'TOKEN_ISSUED'))[0]?.subject).toMatchObject({ id });
    expect((await fetch(account, { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
  });

  test('administrators who sign in by realmctl keep their rights', async () => {
    const params = { realm: 'master' };
    await server.admin.call(putSubjectClaim, { params, body: { strategy: 'pairwise' } });
    try {
      const { body } = await signInCli(server);
      const headers = { authorization: `Bearer ${body.access_token}` };
      const me = await fetch(`${server.baseUrl}/admin/session`, { headers });
      expect(await me.json()).toMatchObject({ type: 'user', name: 'admin' });
    } finally {
      await server.admin.call(putSubjectClaim, { params, body: { strategy: 'public' } });
    }
  });

  test('can be one client’s alone, and a client of a pairwise realm can be told the id', async () => {
    const open = await realmWith({ strategy: 'public' }, { subjectType: 'pairwise' });
    const id = await makeUser(open);
    expect((await tokensOf(open, 'shop')).sub).not.toBe(id);
    const closed = await realmWith({ strategy: 'pairwise' }, { subjectType: 'public' });
    const other = await makeUser(closed);
    expect((await tokensOf(closed, 'shop')).sub).toBe(other);
  });
});

describe('an attribute', () => {
  const claim = { strategy: 'attribute', attribute: 'staff' } as const;

  test('is the subject at every client, and people are found by it again', async () => {
    const realm = await realmWith(claim);
    await makeUser(realm, 'alice', staff('S-1'));
    const { body, sub, person, hint } = await tokensOf(realm, 'shop');
    expect([sub, (await tokensOf(realm, 'news')).sub]).toEqual(['S-1', 'S-1']);
    expect(await userinfo(realm, body.access_token)).toMatchObject({ sub: 'S-1', preferred_username: 'alice' });
    expect(await silently(realm, 'shop', person, { id_token_hint: hint })).toHaveProperty('code');
  });

  test('gives nobody a token who has none, several, or one that is no subject; the refusal is audited', async () => {
    const realm = await realmWith(claim);
    const without = { none: {}, several: staff('S-1', 'S-2'), long: staff('x'.repeat(256)), foreign: staff('ß') };
    for (const [username, more] of Object.entries(without)) {
      await makeUser(realm, username, more);
      const path = authorizePath(realm, 'shop', newVerifier(), { redirect_uri: backTo('shop') });
      const person = createPerson(server.baseUrl);
      const { url } = await person.fill(await person.open(path), { username, password: PASSWORD });
      expect([username, new URL(url).searchParams.get('error')]).toEqual([username, 'access_denied']);
    }
    const denied = await events(realm, 'ACCESS_DENIED');
    expect(denied.map(({ subject, data }) => [subject?.name, data])).toEqual(
      Object.keys(without)
        .reverse()
        .map((username) => [username, { subject: null }]),
    );
  });

  test('is one person’s alone, by whatever way the second would come to it', async () => {
    const realm = await realmWith(claim);
    const params = { realm };
    await makeUser(realm, 'alice', staff('S-1'));
    const bob = await makeUser(realm, 'bob', staff('S-2'));
    const taken = { status: 409, problem: { errors: [{ path: 'attributes.staff' }] } };
    await expect(makeUser(realm, 'carol', staff('S-1'))).rejects.toMatchObject(taken);
    const change = (userId: string, body: Partial<UserInput>) =>
      server.admin.call(putUser, { params: { realm, userId }, body });
    await expect(change(bob, staff('S-1'))).rejects.toMatchObject(taken);
    for (const username of ['bob', 'carol']) {
      const body = { users: [{ username, ...staff('S-1') }] };
      await expect(server.admin.call(importRealm, { params, body })).rejects.toMatchObject({
        status: 409,
        message: expect.stringContaining('subjectAttribute'),
      });
    }
    await change(bob, staff('S-3'));
    await makeUser(realm, 'carol', staff('S-2'));
    expect((await tokensOf(realm, 'shop', { username: 'carol' })).sub).toBe('S-2');
  });

  test('can’t be the name of a client, nor a client be named so', async () => {
    const realm = await realmWith(claim);
    const params = { realm };
    await expect(makeUser(realm, 'alice', staff('shop'))).rejects.toMatchObject({ status: 409 });
    await makeUser(realm, 'alice', staff('S-1'));
    const named = { clientId: 'S-1' };
    await expect(server.admin.call(createClient, { params, body: named })).rejects.toMatchObject({ status: 409 });
    const imported = server.admin.call(importRealm, { params, body: { clients: [named] } });
    await expect(imported).rejects.toMatchObject({ status: 409 });
  });

  test('is refused as a realm’s strategy while two people share a value', async () => {
    const realm = await realmWith({ strategy: 'public' });
    const params = { realm };
    await makeUser(realm, 'alice', staff('S-1'));
    const bob = await makeUser(realm, 'bob', staff('S-1'));
    const refused = { status: 400, problem: { errors: [{ path: 'subjectAttribute' }] } };
    const set = () => server.admin.call(putSubjectClaim, { params, body: claim });
    await expect(set()).rejects.toMatchObject(refused);
    const body = { realm: { subjectStrategy: 'attribute', subjectAttribute: 'staff' } } as const;
    await expect(server.admin.call(importRealm, { params, body })).rejects.toMatchObject({ status: 409 });
    await server.admin.call(putUser, { params: { realm, userId: bob }, body: staff() });
    await set();
    expect((await tokensOf(realm, 'shop')).sub).toBe('S-1');
  });

  test('comes with people who are imported, before or together with the setting', async () => {
    const realm = await realmWith({ strategy: 'public' });
    const users = ['a', 'b'].map((username) => ({ username, ...staff(`S-${username}`) }));
    const body = { users, realm: { subjectStrategy: 'attribute', subjectAttribute: 'staff' } } as const;
    await server.admin.call(importRealm, { params: { realm }, body });
    const more = { users: [...users, { username: 'c', ...staff('S-c') }] };
    await server.admin.call(importRealm, { params: { realm }, body: more });
    const { rows } = await server.pool.query('select subject from realm_user where realm_id = $1 order by 1', [realm]);
    expect(rows.map(({ subject }) => subject)).toEqual(['S-a', 'S-b', 'S-c']);
  });
});

describe('when a person’s subject changes', () => {
  test('tokens that were given go on to be theirs, and a refresh is refused: the application must ask anew', async () => {
    const realm = await realmWith({ strategy: 'public' });
    const id = await makeUser(realm);
    const { body, person, hint } = await tokensOf(realm, 'shop');
    await server.admin.call(putSettings, { params: { realm }, body: { subjectStrategy: 'pairwise' } });
    expect(await userinfo(realm, body.access_token)).toMatchObject({ sub: id });
    expect(await silently(realm, 'shop', person, { id_token_hint: hint })).toHaveProperty('code');
    const answer = await refresh(server, realm, 'shop', body.refresh_token);
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_grant']);
    const anew = await tokensOf(realm, 'shop', { person });
    expect(anew.sub).not.toBe(id);
    expect((await refresh(server, realm, 'shop', anew.body.refresh_token)).status).toBe(200);
  });

  test('a token of an attribute’s value stays its person’s, whoever’s id that value is', async () => {
    const realm = await realmWith({ strategy: 'attribute', attribute: 'staff' });
    const victim = await makeUser(realm, 'victim', staff('S-1'));
    await makeUser(realm, 'mallory', staff(victim));
    const { body, sub } = await tokensOf(realm, 'shop', { username: 'mallory', scope: 'openid account' });
    expect(sub).toBe(victim);
    await server.admin.call(putSubjectClaim, { params: { realm }, body: { strategy: 'public' } });
    expect(await userinfo(realm, body.access_token)).toMatchObject({ preferred_username: 'mallory' });
  });
});

describe('a client that registers itself', () => {
  const register = async (realm: string, metadata: object) => {
    const { body } = await server.admin.call(createInitialAccessToken, { params: { realm }, body: {} });
    const answer = await fetch(`${server.baseUrl}/realms/${realm}/connect/register`, {
      method: 'POST',
      headers: { authorization: `Bearer ${body?.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [backTo('shop')], token_endpoint_auth_method: 'none', ...metadata }),
    });
    return { status: answer.status, body: Object(await answer.json()) };
  };

  test('gets the subject type that it asks for and the realm has', async () => {
    const realm = await realmWith({ strategy: 'public' });
    await server.admin.call(putProvisioning, { params: { realm }, body: { requireConsent: false } });
    expect((await register(realm, {})).body.subject_type).toBe('public');
    const { body } = await register(realm, { subject_type: 'pairwise' });
    expect(body.subject_type).toBe('pairwise');
    const id = await makeUser(realm);
    REDIRECTS[body.client_id] = REDIRECTS.shop ?? [];
    expect((await tokensOf(realm, body.client_id)).sub).not.toBe(id);
    const pairwise = await realmWith({ strategy: 'pairwise' });
    expect((await register(pairwise, {})).body.subject_type).toBe('pairwise');
    const refused = { status: 400, body: { error: 'invalid_client_metadata' } };
    expect(await register(pairwise, { subject_type: 'public' })).toMatchObject(refused);
    expect(await register(pairwise, { subject_type: 'attribute' })).toMatchObject(refused);
  });

  test('shares a sector only where the sector’s keeper lists its addresses', async () => {
    const realm = await realmWith({ strategy: 'pairwise' });
    const sector_identifier_uri = `${receiver.url}/sector.json`;
    const redirect_uris = REDIRECTS.many;
    const about = { status: 400, body: { error: 'invalid_client_metadata' } };
    expect(await register(realm, { redirect_uris })).toMatchObject(about);
    const answers = [{ status: 404 }, { body: '{}' }, { body: JSON.stringify(redirect_uris?.slice(1)) }];
    for (const answer of answers) {
      receiver.answer = () => answer;
      expect(await register(realm, { redirect_uris, sector_identifier_uri })).toMatchObject(about);
    }
    receiver.answer = () => ({ body: JSON.stringify(redirect_uris) });
    const { status, body } = await register(realm, { redirect_uris, sector_identifier_uri });
    expect([status, body.sector_identifier_uri]).toEqual([201, sector_identifier_uri]);
    const before = receiver.received.length;
    const stranger = await fetch(`${server.baseUrl}/realms/${realm}/connect/register`, {
      method: 'POST',
      headers: { authorization: `Bearer svc_iat_${'x'.repeat(51)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris, sector_identifier_uri }),
    });
    expect([stranger.status, receiver.received.length]).toEqual([401, before]);
  });
});
