// Signing in by another identity provider: the way there and back, who is new, and what is refused of what it says.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { putFlow } from '../../../server/contract/flows.ts';
import { exportUserData } from '../../../server/contract/gdpr.ts';
import { deleteIdentityLink, listIdentityLinks } from '../../../server/contract/identity-links.ts';
import { deleteIdentityProvider, putIdentityProvider } from '../../../server/contract/identity-providers.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { listUserSessions } from '../../../server/contract/user-access.ts';
import { createUser, listUsers, putUser, setPassword } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { authorizePath, makePeopledRealm, newVerifier, PASSWORD, redeem } from '../../support/applications.ts';
import { type Brokered, comeBy, makeProvider, oidcOf, sentTo, startBrokered, wayIn } from '../../support/brokering.ts';
import { claimsIn } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import type { TestServer } from '../../support/server.ts';
import { SUBJECT, type Upstream } from '../../support/upstream.ts';

let brokered: Brokered;
let server: TestServer;
let upstream: Upstream;
let realm = '';
beforeAll(async () => {
  brokered = await startBrokered();
  ({ server, upstream } = brokered);
});
afterAll(() => brokered?.stop());
beforeEach(async () => {
  realm = brokered.another('broker');
  upstream.claims = { email: 'ada@corp.example', email_verified: true, given_name: 'Ada', family_name: 'Low' };
  await makePeopledRealm(server, realm, []);
  await makeProvider(server, realm, oidcOf(upstream));
});

const account = () => `/realms/${realm}/account`;
const people = async () => (await server.admin.call(listUsers, { params: { realm } })).body ?? [];
const failures = async () =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type: 'LOGIN_FAILURE' } })).body?.map(
    ({ data }) => data.reason,
  );
const linksOf = async (userId: string) =>
  (await server.admin.call(listIdentityLinks, { params: { realm, userId } })).body ?? [];

describe('somebody who comes by a provider', () => {
  test('is sent there with state, nonce and a code challenge, and is a new person when they come back', async () => {
    const ada = createPerson(server.baseUrl);
    const page = await ada.open(`/realms/${realm}/login?for=account`);
    expect(page.text).toContain('Sign in with Corp');
    expect(page.text).toContain('<span class="monogram" aria-hidden="true">C</span>');
    const url = new URL(await sentTo(ada, page));
    expect(`${url.origin}${url.pathname}`).toBe(`${upstream.url}/authorize`);
    const asked = Object.fromEntries(url.searchParams);
    expect(asked).toMatchObject({
      response_type: 'code',
      client_id: 'realm',
      redirect_uri: `${server.baseUrl}/realms/${realm}/broker/corp/endpoint`,
      code_challenge_method: 'S256',
      scope: 'openid email profile',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked[name]).toMatch(/^[\w-]{43}$/);
    const back = new URL(upstream.answer(url.href));
    const home = await ada.open(`${back.pathname}${back.search}`);
    expect([home.status, new URL(home.url).pathname]).toEqual([200, account()]);
    const [person] = await people();
    expect(person).toMatchObject({
      username: 'ada@corp.example',
      email: 'ada@corp.example',
      emailVerified: true,
      firstName: 'Ada',
      lastName: 'Low',
    });
    const token = upstream.received.find((one) => one.url === '/token');
    expect(token?.headers.authorization).toBe(`Basic ${Buffer.from('realm:the%20secret%20there').toString('base64')}`);
    expect(new URLSearchParams(token?.raw.toString()).get('code_verifier')).toMatch(/^[\w-]{43}$/);
  });

  test('is the same person the next time, and the application hears of it by amr and acr', async () => {
    await comeBy(server, realm, upstream);
    const verifier = newVerifier();
    const { page } = await comeBy(server, realm, upstream, { path: authorizePath(realm, 'spa', verifier) });
    const code = new URL(page.url).searchParams.get('code') ?? '';
    const { body } = await redeem(server, realm, 'spa', { code, verifier });
    expect(claimsIn(body.id_token)).toMatchObject({ amr: ['fed'], acr: '1' });
    expect(await people()).toHaveLength(1);
    const [ada] = await people();
    expect(await linksOf(ada?.id ?? '')).toMatchObject([
      { identityProvider: 'corp', displayName: 'Corp', subject: SUBJECT, name: 'ada@corp.example' },
    ]);
    const linked = await server.admin.call(listEvents, { params: { realm }, query: { type: 'IDENTITY_LINKED' } });
    expect(linked.body).toHaveLength(1);
  });

  test('still proves a second factor where they have one, as after a password', async () => {
    await comeBy(server, realm, upstream);
    await server.admin.call(putFlow, {
      params: { realm, alias: 'browser' },
      body: {
        executions: [
          { authenticatorId: 'username-password', requirement: 'REQUIRED' },
          { authenticatorId: 'otp', requirement: 'REQUIRED' },
        ],
      },
    });
    const { page } = await comeBy(server, realm, upstream);
    expect(page.heading).toBe('Set up a second factor');
  });

  test('is not signed in while they are disabled', async () => {
    await comeBy(server, realm, upstream);
    const [ada] = await people();
    await server.admin.call(putUser, { params: { realm, userId: ada?.id ?? '' }, body: { enabled: false } });
    const { page } = await comeBy(server, realm, upstream);
    expect([page.status, page.text.includes('This account cannot sign in')]).toEqual([403, true]);
  });

  test('is out everywhere once an administrator disconnects them, and back as nobody known', async () => {
    const { person } = await comeBy(server, realm, upstream);
    const [ada] = await people();
    const userId = ada?.id ?? '';
    const [link] = await linksOf(userId);
    await server.admin.call(deleteIdentityLink, { params: { realm, userId, id: link?.id ?? '' } });
    expect(await linksOf(userId)).toEqual([]);
    expect((await server.admin.call(listUserSessions, { params: { realm, userId } })).body).toEqual([]);
    expect(new URL((await person.open(account())).url).pathname).toBe(`/realms/${realm}/login`);
    const { page } = await comeBy(server, realm, upstream);
    expect(page.heading).toBe('Is this account yours?');
    await expect(
      server.admin.call(deleteIdentityLink, { params: { realm, userId, id: link?.id ?? '' } }),
    ).rejects.toMatchObject({ status: 404 });
  });

  test('is out everywhere once the provider is deleted', async () => {
    const { person } = await comeBy(server, realm, upstream);
    await server.admin.call(deleteIdentityProvider, { params: { realm, alias: 'corp' } });
    expect(new URL((await person.open(account())).url).pathname).toBe(`/realms/${realm}/login`);
  });

  test('finds their link in the export of their data', async () => {
    await comeBy(server, realm, upstream);
    const [ada] = await people();
    const { body } = await server.admin.call(exportUserData, { params: { realm, userId: ada?.id ?? '' } });
    expect(body?.federatedLinks).toMatchObject([
      { by: 'identity-provider', identityProvider: 'corp', subject: SUBJECT, issuer: upstream.url },
    ]);
  });
});

describe('on their account page', () => {
  test('somebody sees who they are elsewhere, and keeps the one way in that they have', async () => {
    const { person } = await comeBy(server, realm, upstream);
    const page = await person.open(`${account()}?view=security`);
    expect(page.text).toContain('Accounts elsewhere');
    expect(page.text).toContain('ada@corp.example');
    const [ada] = await people();
    const [link] = await linksOf(ada?.id ?? '');
    const { csrf = '' } = page.fields;
    const kept = await person.post(`${account()}/identities/${link?.id}/remove`, { csrf });
    expect(kept.text).toContain('The way to sign in was not removed');
    expect((await person.post(`${account()}/identities/${link?.id}/remove`, { csrf: 'forged' })).status).toBe(403);
    const params = { realm, userId: ada?.id ?? '' };
    await server.admin.call(setPassword, { params, body: { password: PASSWORD } });
    const again = await comeBy(server, realm, upstream);
    const gone = await again.person.post(`${account()}/identities/${link?.id}/remove`, {
      csrf: again.page.fields.csrf ?? '',
    });
    expect(gone.text).toContain('The way to sign in was removed');
    // What is gone can be connected again.
    expect([gone.text.includes('Disconnect'), gone.text.includes('Connect <bdi>Corp</bdi>')]).toEqual([false, true]);
    expect(await linksOf(params.userId)).toEqual([]);
  });

  test('nobody takes away somebody else’s', async () => {
    await comeBy(server, realm, upstream);
    const [ada] = await people();
    const [link] = await linksOf(ada?.id ?? '');
    upstream.claims = { ...upstream.claims, sub: 'subject-2', email: 'eve@corp.example' };
    upstream.userinfo = { sub: 'subject-2' };
    const { person, page } = await comeBy(server, realm, upstream);
    await person.post(`${account()}/identities/${link?.id}/remove`, { csrf: page.fields.csrf ?? '' });
    expect(await linksOf(ada?.id ?? '')).toHaveLength(1);
  });
});

describe('the sign-in page', () => {
  test('has no button for a provider that is hidden or off, and goes there by the application’s hint alone', async () => {
    const put = (body: object) => server.admin.call(putIdentityProvider, { params: { realm, alias: 'corp' }, body });
    await put({ hidden: true });
    const ada = createPerson(server.baseUrl);
    expect(wayIn(await ada.open(`/realms/${realm}/login?for=account`))).toBe('');
    const hinted = await ada.open(
      authorizePath(realm, 'spa', newVerifier(), { kc_idp_hint: 'corp', login_hint: 'ada' }),
    );
    expect(new URL(hinted.url).origin).toBe(new URL(upstream.url).origin);
    expect(new URL(hinted.url).searchParams.get('login_hint')).toBe('ada');
    await put({ enabled: false });
    const off = await createPerson(server.baseUrl).open(
      authorizePath(realm, 'spa', newVerifier(), { kc_idp_hint: 'corp' }),
    );
    expect(off.text).toContain('Username or e-mail');
  });

  test('is passed over by a flow of one provider, and asks after coming back by the back button', async () => {
    await server.admin.call(putFlow, {
      params: { realm, alias: 'browser' },
      body: {
        executions: [{ authenticatorId: 'idp-redirect', requirement: 'REQUIRED', config: { provider: 'corp' } }],
      },
    });
    const ada = createPerson(server.baseUrl);
    const there = await ada.open(`/realms/${realm}/login?for=account`);
    expect(new URL(there.url).origin).toBe(new URL(upstream.url).origin);
    const again = await ada.open(`/realms/${realm}/login`);
    expect(again.text).toContain('Go to Corp');
    const back = new URL(upstream.answer(await sentTo(ada, again)));
    expect(new URL((await ada.open(`${back.pathname}${back.search}`)).url).pathname).toBe(account());
  });

  test('offers no provider in a flow that switches them off', async () => {
    await server.admin.call(putFlow, {
      params: { realm, alias: 'browser' },
      body: {
        executions: [
          { authenticatorId: 'username-password', requirement: 'REQUIRED' },
          { authenticatorId: 'idp-redirect', requirement: 'DISABLED' },
        ],
      },
    });
    const ada = createPerson(server.baseUrl);
    expect(wayIn(await ada.open(`/realms/${realm}/login?for=account`))).toBe('');
    expect((await ada.open(`/realms/${realm}/login/provider/corp`)).status).toBe(400);
  });
});

test('nobody can have a provider say who an administrator is who holds more than they do', async () => {
  await comeBy(server, realm, upstream);
  const [ada] = await people();
  const grants = [{ role: 'realm-admin', realm }];
  const user = { realm, userId: ada?.id ?? '' };
  await server.admin.call(putUserAdminRoles, { params: user, body: { grants } });
  const permissions = ['identity-providers:read', 'identity-providers:write'] as const;
  const manager = await administrator(server, { home: realm, target: realm, permissions });
  const at = { realm, alias: 'corp' };
  const endpoints = { issuer: upstream.url, jwksUri: 'https://evil.example/jwks' };
  await expect(
    manager.call(putIdentityProvider, { params: at, body: { config: endpoints, secret: 'another' } }),
  ).rejects.toMatchObject({ status: 403 });
  await manager.call(putIdentityProvider, { params: at, body: { displayName: 'Corporation' } });
});

test('whoever switches a provider on that speaks for people needs the permissions that these have; to switch it off needs none', async () => {
  await comeBy(server, realm, upstream);
  const [ada] = await people();
  const user = { realm, userId: ada?.id ?? '' };
  const grants = [{ role: 'realm-admin', realm }];
  await server.admin.call(putUserAdminRoles, { params: user, body: { grants } });
  const permissions = ['identity-providers:read', 'identity-providers:write'] as const;
  const manager = await administrator(server, { home: realm, target: realm, permissions });
  const at = { realm, alias: 'corp' };
  const set = (by: typeof manager, enabled: boolean) => by.call(putIdentityProvider, { params: at, body: { enabled } });
  await set(manager, false);
  await expect(set(manager, true)).rejects.toMatchObject({ status: 403 });
  const document = { identityProviders: [{ alias: 'corp', enabled: true }] };
  const declared = manager.call(importRealm, { params: { realm }, query: { force: 'true' }, body: document });
  await expect(declared).rejects.toMatchObject({ status: 403 });
  await set(manager, false);
  expect((await set(server.admin, true)).body?.enabled).toBe(true);
});

describe('what a provider says is refused', () => {
  const refused = async (reason: string, parameters: Record<string, string> = {}) => {
    const { person, page } = await comeBy(server, realm, upstream, { parameters });
    expect(page.text).toContain('You were not signed in by Corp');
    expect(new URL((await person.open(account())).url).pathname).toBe(`/realms/${realm}/login`);
    expect(await people()).toEqual([]);
    expect(await failures()).toEqual([`provider-${reason}`]);
  };
  test.each<[string, string, () => void]>([
    ['for another client', 'token-aud', () => (upstream.claims = { aud: 'another' })],
    ['for several without saying whom', 'token-azp', () => (upstream.claims = { aud: ['realm', 'another'] })],
    ['made for another', 'token-azp', () => (upstream.claims = { azp: 'another' })],
    ['of another issuer', 'token-iss', () => (upstream.claims = { iss: 'https://id.example.com' })],
    ['with another nonce', 'token-nonce', () => (upstream.claims = { nonce: 'another' })],
    ['without a nonce', 'token-nonce', () => (upstream.claims = { nonce: undefined })],
    ['that is over', 'token-err-jwt-expired', () => (upstream.claims = { exp: 1_700_000_000 })],
    ['without an end', 'token-exp', () => (upstream.claims = { exp: undefined })],
    ['of tomorrow', 'token-iat', () => (upstream.claims = { iat: 4_000_000_000 })],
    ['unsigned', 'token-err-jose-alg-not-allowed', () => (upstream.alg = 'none')],
    ['signed with the public key as a secret', 'token-err-jose-alg-not-allowed', () => (upstream.alg = 'HS256')],
    ['signed by another', 'token-err-jws-signature-verification-failed', () => (upstream.alg = 'another key')],
    ['about a number', 'no-subject', () => Object.assign(upstream, { claims: { sub: 7 }, userinfo: { sub: 7 } })],
    [
      'about an empty name',
      'no-subject',
      () => Object.assign(upstream, { claims: { sub: '' }, userinfo: { sub: '' } }),
    ],
    ['about another than userinfo', 'userinfo-other-subject', () => (upstream.userinfo = { sub: 'another' })],
    ['no token', 'no-access-token', () => (upstream.token = { status: 200, body: '{}' })],
    ['not JSON', 'token-no-object', () => (upstream.token = { status: 200, body: '<html>' })],
    ['a failure', 'token-500', () => (upstream.token = { status: 500, body: '' })],
  ])('where it is %s', async (_, reason, say) => {
    say();
    await refused(reason);
  });

  test('where the person says no there', () => refused('error-access_denied', { code: '', error: 'access_denied' }));
  test('where another provider answers (mix-up), by its iss', () =>
    refused('other-issuer', { iss: 'https://evil.example' }));
});

describe('the way back', () => {
  test('ends at the browser that went: another one, or nobody’s state, signs nobody in', async () => {
    const ada = createPerson(server.baseUrl);
    const back = new URL(upstream.answer(await sentTo(ada, await ada.open(`/realms/${realm}/login?for=account`))));
    const path = `${back.pathname}${back.search}`;
    const victim = createPerson(server.baseUrl);
    await victim.open(`/realms/${realm}/login?for=account`);
    const shown = await victim.open(path);
    expect([shown.status, shown.heading]).toEqual([400, 'This sign-in can’t continue here']);
    expect(new URL((await victim.open(account())).url).pathname).toBe(`/realms/${realm}/login`);
    expect((await ada.open(`${back.pathname}?code=x&state=made-up`)).status).toBe(400);
    expect((await ada.open(`${back.pathname}?code=x`)).status).toBe(400);
    expect(upstream.received.filter((one) => one.url === '/token')).toEqual([]);
  });

  test('is gone once: the same answer again signs nobody in', async () => {
    const { person, back } = await comeBy(server, realm, upstream);
    expect((await person.open(back)).status).toBe(400);
    expect(upstream.received.filter((one) => one.url === '/token')).toHaveLength(1);
  });

  test('is that provider’s own: an answer at another one’s address counts for nothing (mix-up)', async () => {
    await makeProvider(server, realm, oidcOf(upstream, { alias: 'evil', displayName: 'Evil' }));
    const ada = createPerson(server.baseUrl);
    const back = new URL(upstream.answer(await sentTo(ada, await ada.open(`/realms/${realm}/login?for=account`))));
    const page = await ada.open(`/realms/${realm}/broker/evil/endpoint${back.search}`);
    expect(page.text).toContain('Choose another one');
    expect(upstream.received.filter((one) => one.url === '/token')).toEqual([]);
    expect(await failures()).toEqual(['provider-state']);
  });
});

describe('an account that has the address already', () => {
  const alice = () =>
    server.admin.call(createUser, {
      params: { realm },
      body: { username: 'alice', email: 'ada@corp.example', emailVerified: true, password: PASSWORD },
    });

  test('is connected by its password, when the sign-in ends', async () => {
    await alice();
    const { person, page } = await comeBy(server, realm, upstream);
    expect([page.heading, page.text.includes('There is an account for ada@corp.example')]).toEqual([
      'Is this account yours?',
      true,
    ]);
    const wrong = await person.fill(page, { password: 'not it' });
    expect(wrong.text).toContain('The password is wrong');
    expect(await linksOf((await people())[0]?.id ?? '')).toEqual([]);
    const home = await person.fill(wrong, { password: PASSWORD });
    expect(new URL(home.url).pathname).toBe(account());
    expect(await people()).toHaveLength(1);
    expect(await linksOf((await people())[0]?.id ?? '')).toMatchObject([{ subject: SUBJECT }]);
    const next = await comeBy(server, realm, upstream);
    expect(new URL(next.page.url).pathname).toBe(account());
  });

  test('is not connected before all is proven that its sign-in asks for', async () => {
    await alice();
    await server.admin.call(putFlow, {
      params: { realm, alias: 'browser' },
      body: {
        executions: [
          { authenticatorId: 'username-password', requirement: 'REQUIRED' },
          { authenticatorId: 'otp', requirement: 'REQUIRED' },
        ],
      },
    });
    const { person, page } = await comeBy(server, realm, upstream);
    const next = await person.fill(page, { password: PASSWORD });
    expect(next.heading).toBe('Set up a second factor');
    expect(await linksOf((await people())[0]?.id ?? '')).toEqual([]);
  });

  test('is never connected where the provider may not', async () => {
    await alice();
    await server.admin.call(putIdentityProvider, { params: { realm, alias: 'corp' }, body: { linking: 'never' } });
    const { page } = await comeBy(server, realm, upstream);
    expect(page.text).toContain('There is an account with your address here already');
    expect(await linksOf((await people())[0]?.id ?? '')).toEqual([]);
  });

  test('is not taken over by an address that the provider has not confirmed', async () => {
    await alice();
    upstream.claims = { email: 'ada@corp.example', email_verified: false };
    const { person, page } = await comeBy(server, realm, upstream);
    expect(page.heading).toBe('Is this account yours?');
    expect(new URL((await person.open(account())).url).pathname).toBe(`/realms/${realm}/login`);
    expect(await linksOf((await people())[0]?.id ?? '')).toEqual([]);
  });
});
