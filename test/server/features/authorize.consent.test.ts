// Consent and RP-initiated logout: what people are asked in their browser, and that nobody can answer for them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { listUserConsents } from '../../../server/contract/gdpr.ts';
import { createProtocolMapper } from '../../../server/contract/protocol-mappers.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import {
  authorizePath,
  CALLBACK,
  getCode,
  newVerifier,
  PASSWORD,
  redeem,
  refresh,
} from '../../support/applications.ts';
import { claimsIn, makeClient, makeRealm } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const BYE = 'https://app.example/bye';
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, 'acme');
  await makeRealm(server, 'other');
  for (const realm of ['acme', 'other']) {
    const tokenEndpointAuthMethod = 'none' as const;
    const common = {
      tokenEndpointAuthMethod,
      redirectUris: [CALLBACK],
      postLogoutRedirectUris: [BYE, 'http://127.0.0.1/bye'],
    };
    await makeClient(server, realm, { clientId: 'spa', ...common, optionalClientScopes: ['account'] });
    await makeClient(server, realm, {
      clientId: 'third',
      name: 'Third <b>Party</b>',
      ...common,
      consentRequired: true,
      optionalClientScopes: ['phone'],
    });
    for (const username of ['alice', 'bob', 'carol']) {
      await server.admin.call(createUser, { params: { realm }, body: { username, password: PASSWORD } });
    }
  }
});
afterAll(async () => server?.stop());

const person = () => createPerson(server.baseUrl);
const ask = (more: Record<string, string> = {}) => authorizePath('acme', 'third', newVerifier(), more);
const signedIn = async (username: string) => {
  const someone = person();
  await getCode(server, 'acme', 'spa', { person: someone, username });
  return someone;
};
const parameters = (url: string) => Object.fromEntries(new URL(url).searchParams);
const CONSENT = '/realms/acme/oauth2/consent';

describe('the consent page', () => {
  test('says who asks for what, escapes it, and remembers the answer', async () => {
    const alice = await signedIn('alice');
    const page = await alice.open(ask());
    expect(page.heading).toBe('Allow access?');
    expect(page.text).toContain('Third &lt;b&gt;Party&lt;/b&gt;');
    expect(page.text).toContain('Your e-mail address');
    expect(page.headers.get('content-security-policy')).toContain('form-action');
    const allowed = await alice.post(CONSENT, { ...page.fields, decision: 'allow' });
    expect(parameters(allowed.url)).toMatchObject({ state: 'state', code: expect.stringMatching(/^svc_ac_/) });
    expect(parameters((await alice.open(ask({ prompt: 'none' }))).url)).toHaveProperty('code');
    const { body } = await server.admin.call(listEvents, {
      params: { realm: 'acme' },
      query: { type: 'CONSENT_GRANTED' },
    });
    expect(body).toMatchObject([{ clientId: 'third', actor: { name: 'alice' }, subject: { name: 'alice' } }]);
  });

  test('comes again for a scope that was not agreed to, and for prompt=consent', async () => {
    const alice = await signedIn('alice');
    expect((await alice.open(ask({ scope: 'openid phone' }))).heading).toBe('Allow access?');
    expect((await alice.open(ask({ prompt: 'consent' }))).heading).toBe('Allow access?');
    expect(parameters((await alice.open(ask({ scope: 'openid phone', prompt: 'none' }))).url)).toMatchObject({
      error: 'consent_required',
    });
  });

  test('follows a forced sign-in without asking for the password again', async () => {
    const bob = await signedIn('bob');
    const page = await bob.open(ask({ prompt: 'login consent' }));
    const consent = await bob.fill(page, { username: 'bob', password: PASSWORD });
    expect(consent.heading).toBe('Allow access?');
    const done = await bob.post(CONSENT, { ...consent.fields, decision: 'allow' });
    expect(parameters(done.url)).toHaveProperty('code');
  });

  test('refused is access_denied', async () => {
    const carol = await signedIn('carol');
    const page = await carol.open(ask());
    const denied = await carol.post(CONSENT, { ...page.fields, decision: 'deny' });
    expect(parameters(denied.url)).toMatchObject({ error: 'access_denied', state: 'state' });
  });

  test('cannot be answered for another person, another request, or without having been shown', async () => {
    const carol = await signedIn('carol');
    const mallory = await signedIn('bob');
    const mine = (await mallory.open(ask({ prompt: 'consent' }))).fields;
    for (const fields of [
      { ...mine, decision: 'allow' },
      { request: mine.request ?? '', decision: 'allow' },
      { request: mine.request ?? '', proof: '', decision: 'allow' },
    ]) {
      const page = await carol.post(CONSENT, fields);
      expect(page.status).toBe(400);
    }
    const other = ask({ scope: 'openid phone' }).split('?')[1] ?? '';
    expect((await mallory.post(CONSENT, { ...mine, request: other, decision: 'allow' })).status).toBe(400);
    expect((await person().post(CONSENT, { ...mine, decision: 'allow' })).status).toBe(400);
  });
});

describe('a client that asks for no scope', () => {
  const BANK = 'https://api.bank.example';
  const OTHER = 'https://api.other.example';
  const of = { params: { realm: 'acme' } };
  const at = (clientId: string, more: Record<string, string> = {}, verifier = newVerifier()) =>
    authorizePath('acme', clientId, verifier, more);
  const silent = async (someone: ReturnType<typeof person>, clientId: string, more: Record<string, string> = {}) =>
    parameters((await someone.open(at(clientId, { prompt: 'none', ...more }))).url);
  const strict = {
    tokenEndpointAuthMethod: 'none' as const,
    redirectUris: [CALLBACK],
    consentRequired: true,
    defaultClientScopes: [],
    optionalClientScopes: ['offline_access'],
  };
  let userId = '';
  beforeAll(async () => {
    await server.admin.call(putSettings, { ...of, body: { resourceIndicators: [BANK, OTHER] } });
    const attributes = { salary: ['90000'] };
    const { body } = await server.admin.call(createUser, {
      ...of,
      body: { username: 'dora', password: PASSWORD, attributes },
    });
    userId = body?.id ?? '';
    await makeClient(server, 'acme', { clientId: 'budget', ...strict });
    const clientId = await makeClient(server, 'acme', { clientId: 'payroll', ...strict });
    await server.admin.call(createProtocolMapper, {
      params: { realm: 'acme', clientId },
      body: { name: 'salary', source: 'attribute', in: ['userinfo'] },
    });
  });

  test('learns nobody’s name without being allowed to', async () => {
    const dora = await signedIn('dora');
    expect(await silent(dora, 'budget')).toMatchObject({ error: 'consent_required' });
    expect((await dora.open(at('budget'))).text).toContain('Know who you are');
    const nameless = at('budget', { prompt: 'none' }).replace('scope=openid&', '');
    expect(parameters((await dora.open(nameless)).url)).toMatchObject({ error: 'consent_required' });
  });

  test('acts nowhere for a person but where they agreed to, and the page says where', async () => {
    const dora = await signedIn('dora');
    expect(await silent(dora, 'budget', { resource: BANK })).toMatchObject({ error: 'consent_required' });
    const verifier = newVerifier();
    const wanted = { resource: BANK, scope: 'openid offline_access' };
    const page = await dora.open(at('budget', wanted, verifier));
    expect(page.text).toContain(BANK);
    const allowed = await dora.post(CONSENT, { ...page.fields, decision: 'allow' });
    const code = parameters(allowed.url).code ?? '';
    const { body } = await redeem(server, 'acme', 'budget', { code, verifier });
    expect([claimsIn(body.access_token).aud].flat()).toContain(BANK);
    const further = await refresh(server, 'acme', 'budget', body.refresh_token, { resource: OTHER });
    expect(further.body.error).toBe('invalid_target');
    expect(await silent(dora, 'budget', wanted)).toHaveProperty('code');
    expect(await silent(dora, 'budget', { resource: OTHER })).toMatchObject({ error: 'consent_required' });
    const { body: kept } = await server.admin.call(listUserConsents, { params: { realm: 'acme', userId } });
    expect(kept).toMatchObject([{ clientId: 'budget', scopes: ['offline_access', 'openid'], resources: [BANK] }]);
    expect((await dora.open('/realms/acme/account?view=applications')).text).toContain(
      `<li>Act for you at <bdi>${BANK}</bdi></li>`,
    );
  });

  test('is told nothing by its own mappers before the person has seen what', async () => {
    const dora = await signedIn('dora');
    expect(await silent(dora, 'payroll')).toMatchObject({ error: 'consent_required' });
    const page = await dora.open(at('payroll'));
    expect(page.text).toContain('salary');
    await dora.post(CONSENT, { ...page.fields, decision: 'allow' });
    expect(await silent(dora, 'payroll')).toHaveProperty('code');
    const { body: kept } = await server.admin.call(listUserConsents, { params: { realm: 'acme', userId } });
    expect(kept).toContainEqual(expect.objectContaining({ clientId: 'payroll', claims: ['salary'] }));
  });

  test('is asked for anew where the person took it back', async () => {
    const dora = await signedIn('dora');
    const page = await dora.open(at('payroll', { resource: BANK }));
    await dora.post(CONSENT, { ...page.fields, decision: 'allow' });
    expect(await silent(dora, 'payroll', { resource: BANK })).toHaveProperty('code');
    const { body } = await redeem(
      server,
      'acme',
      'spa',
      await getCode(server, 'acme', 'spa', { username: 'dora', parameters: { scope: 'openid account' } }),
    );
    const revoked = await fetch(`${server.baseUrl}/realms/acme/account/gdpr/consents/payroll`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    expect(revoked.status).toBe(204);
    expect(await silent(dora, 'payroll', { resource: BANK })).toMatchObject({ error: 'consent_required' });
  });
});

describe('logout', () => {
  const logout = (query: Record<string, string> = {}, realm = 'acme') =>
    `/realms/${realm}/oauth2/logout?${new URLSearchParams(query)}`;
  const tokens = async () => {
    const grant = await getCode(server, 'acme', 'spa');
    const { body } = await redeem(server, 'acme', 'spa', grant);
    return { alice: grant.person, idToken: String(body.id_token), refreshToken: body.refresh_token };
  };

  test('goes back to a loopback address on any port', async () => {
    const at = (port: string) => logout({ client_id: 'spa', post_logout_redirect_uri: `http://127.0.0.1${port}/bye` });
    expect((await person().open(at(':49152'))).url).toBe('http://127.0.0.1:49152/bye');
    expect((await person().open(at(':49152/not'))).status).toBe(400);
  });

  test('with the ID token ends the session and its grants, and goes back to the application', async () => {
    const { alice, idToken, refreshToken } = await tokens();
    const query = { id_token_hint: idToken, post_logout_redirect_uri: BYE, state: 'a b' };
    const page = await alice.open(logout(query));
    expect(page.url).toBe(`${BYE}?state=a+b`);
    expect((await refresh(server, 'acme', 'spa', refreshToken)).body.error).toBe('invalid_grant');
    expect((await alice.open(ask())).heading).toBe('Sign in');
    const { body } = await server.admin.call(listEvents, { params: { realm: 'acme' }, query: { type: 'LOGOUT' } });
    expect(body?.[0]).toMatchObject({ clientId: 'spa', actor: { name: 'alice' } });
  });

  test('without it asks the person first, by a form that only they can send', async () => {
    const { alice } = await tokens();
    const page = await alice.open(logout({ client_id: 'spa', post_logout_redirect_uri: BYE }));
    expect(page.heading).toBe('Sign out?');
    expect((await alice.open(ask({ prompt: 'none' }))).url).not.toContain('login_required');
    const confirm = '/realms/acme/oauth2/logout/confirm';
    expect((await alice.post(confirm, { request: page.fields.request ?? '' })).status).toBe(400);
    expect((await alice.post(confirm, page.fields)).url).toBe(BYE);
    expect((await alice.open(ask())).heading).toBe('Sign in');
  });

  test('with another session’s ID token asks, too', async () => {
    const [one, two] = [await tokens(), await tokens()];
    expect((await one.alice.open(logout({ id_token_hint: two.idToken }))).heading).toBe('Sign out?');
  });

  test('never redirects to an address that is not registered', async () => {
    const { alice, idToken } = await tokens();
    const wrong: Record<string, string>[] = [
      { id_token_hint: idToken, post_logout_redirect_uri: `${BYE}/x` },
      { post_logout_redirect_uri: BYE },
      { client_id: 'nobody', post_logout_redirect_uri: BYE },
      { client_id: 'third', id_token_hint: idToken },
      { id_token_hint: 'a.b.c' },
    ];
    for (const query of wrong) {
      const page = await alice.open(logout(query));
      expect([page.status, new URL(page.url).origin]).toEqual([400, server.baseUrl]);
    }
    expect((await alice.open(logout({ id_token_hint: idToken }, 'other'))).status).toBe(400);
  });

  test('with nobody signed in just says so', async () => {
    expect((await person().open(logout())).heading).toBe('You are signed out');
    expect((await person().open(logout({ client_id: 'spa', post_logout_redirect_uri: BYE }))).url).toBe(BYE);
  });
});
