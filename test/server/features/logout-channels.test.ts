// How applications hear that somebody's session has ended: from server to server (OpenID Connect Back-Channel Logout), whoever ends it,
// and in the browser that signs out (Front-Channel Logout).
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient, listClients, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import { createInitialAccessToken, putProvisioning } from '../../../server/contract/provisioning.ts';
import { endSession, listSessions, retryLogout } from '../../../server/contract/sessions.ts';
import { listUsers, setPassword } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { administrator } from '../../support/administrators.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, claimsIn } from '../../support/clients.ts';
import { createPerson, type Person } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import {
  exchange,
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  requestPath,
  signedIn,
  signInAt,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import {
  makeServiceProvider,
  postedSamlMessage,
  serviceProvider,
  serviceProviderKeys,
  WIKI,
} from '../../support/service-provider.ts';

const params = { realm: REALM };
const BYE = 'https://rp.example/bye';
let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile }, retryDelaysSeconds: [0] });
  await makeProvider(server);
  for (const clientId of ['shop', 'mail'])
    await makeRelyingParty(server, clientId, { backchannelLogoutUri: `${receiver.url}/${clientId}` });
  await makeRelyingParty(server, 'framed', { frontchannelLogoutUri: 'https://rp.example/out?tenant=1' });
  await makeServiceProvider(server, REALM, {
    singleLogoutServices: [{ url: `${WIKI}/slo`, binding: 'Redirect' }],
    signingCertificates: [serviceProviderKeys.certificate],
  });
});
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answer = () => ({});
});

/** Somebody who is signed in to these applications by one session. */
async function inSession(...clients: string[]): Promise<{ person: Person; sid: string; sub: string; hint: string }> {
  const [first = '', ...others] = clients;
  const { person, answer } = await signedIn(server, { client_id: first });
  const { body } = await exchange(server, answer, {}, first);
  for (const clientId of others) {
    const code = await signInAt(person, requestPath({ client_id: clientId }));
    await exchange(server, code, {}, clientId);
  }
  const { sid, sub } = JSON.parse(Buffer.from(String(body.id_token).split('.')[1] ?? '', 'base64url').toString());
  return { person, sid, sub, hint: String(body.id_token) };
}
/** The same session at a service provider, by SAML. */
async function enterWiki(person: Person) {
  const wiki = await serviceProvider(server, REALM);
  const shown = await person.open(await wiki.getAuthorizeUrlAsync('', undefined, {}));
  const { profile } = await wiki.validatePostResponseAsync(postedSamlMessage(shown).fields);
  return { wiki, profile: profile! };
}
const logoutPath = (more: Record<string, string>) => `/realms/${REALM}/oauth2/logout?${new URLSearchParams(more)}`;
const heard = (sid: string) =>
  receiver.received.filter(({ raw }) => {
    const token = new URLSearchParams(raw.toString()).get('logout_token') ?? '';
    return Buffer.from(token.split('.')[1] ?? '', 'base64url')
      .toString()
      .includes(sid);
  });
async function claimsOf(sid: string, clientId: string, path = `/${clientId}`) {
  await expect.poll(() => heard(sid).filter(({ url }) => url === path).length).toBeGreaterThan(0);
  const [one] = heard(sid).filter(({ url }) => url === path);
  const token = new URLSearchParams(one?.raw.toString()).get('logout_token') ?? '';
  const jwks = (await (await fetch(`${server.baseUrl}/realms/${REALM}/oauth2/jwks`)).json()) as JSONWebKeySet;
  const { payload } = await jwtVerify(token, createLocalJWKSet(jwks), {
    typ: 'logout+jwt',
    issuer: `${server.baseUrl}/realms/${REALM}`,
    audience: clientId,
  });
  return payload;
}

describe('by the back channel', () => {
  test('oidcc-backchannel-rp-initiated-logout: each application of a session is sent a logout token that says which, and no other application', async () => {
    const { person, sid, sub, hint } = await inSession('shop', 'mail', 'rp');
    await person.open(logoutPath({ id_token_hint: hint }));
    for (const clientId of ['shop', 'mail']) {
      const claims = await claimsOf(sid, clientId);
      expect(claims).toMatchObject({ sid, sub, jti: expect.any(String), iat: expect.any(Number) });
      expect(claims.events).toEqual({ 'http://schemas.openid.net/event/backchannel-logout': {} });
      expect(claims).not.toHaveProperty('nonce');
      expect(Number(claims.exp) - Number(claims.iat)).toBeLessThanOrEqual(120);
    }
    expect(
      heard(sid)
        .map(({ url }) => url)
        .toSorted(),
    ).toEqual(['/mail', '/shop']);
    expect(heard(sid)[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    const { body } = await server.admin.call(listEvents, { params, query: { type: 'SESSION_ENDED' } });
    expect(body?.[0]?.data).toMatchObject({ sessionId: sid, clients: ['mail', 'rp', 'shop'] });
  });

  test('they hear of it when an administrator ends it, and when a new password does', async () => {
    const one = await inSession('shop');
    await server.admin.call(endSession, { params: { ...params, id: one.sid } });
    expect((await claimsOf(one.sid, 'shop')).sub).toBe(one.sub);
    const other = await inSession('mail');
    const users = await server.admin.call(listUsers, { params, query: { q: 'alice' } });
    await server.admin.call(setPassword, {
      params: { ...params, userId: users.body![0]!.id },
      body: { password: PASSWORD, temporary: false },
    });
    expect((await claimsOf(other.sid, 'mail')).sub).toBe(other.sub);
  });

  test('they hear of it when a service provider ends it by SAML', async () => {
    const { person, sid, sub } = await inSession('shop');
    const { wiki, profile } = await enterWiki(person);
    await person.open(await wiki.getLogoutUrlAsync(profile, '', {}));
    expect((await claimsOf(sid, 'shop')).sub).toBe(sub);
  });

  test('one that fails is sent again; one that goes on failing is told in the audit log', async () => {
    const first = await inSession('shop');
    receiver.answer = () => ({ status: receiver.received.length === 1 ? 500 : 200 });
    await first.person.open(logoutPath({ id_token_hint: first.hint }));
    await expect.poll(() => heard(first.sid).length).toBe(2);
    const second = await inSession('shop');
    receiver.answer = () => ({ status: 400 });
    await second.person.open(logoutPath({ id_token_hint: second.hint }));
    const failed = async () =>
      (await server.admin.call(listEvents, { params, query: { type: 'BACKCHANNEL_LOGOUT_FAILED' } })).body ?? [];
    await expect.poll(async () => (await failed()).length).toBe(1);
    expect((await failed())[0]).toMatchObject({
      clientId: 'shop',
      outcome: 'failure',
      subject: { type: 'user', name: 'alice' },
      data: { sessionId: second.sid, reason: 'answered 400' },
    });
    expect(heard(second.sid).length).toBe(2);
  });

  test('one that was given up is told again by the id of its event, with its own session and user', async () => {
    const failures = async () =>
      (await server.admin.call(listEvents, { params, query: { type: 'BACKCHANNEL_LOGOUT_FAILED' } })).body ?? [];
    const { person, sid, sub, hint } = await inSession('shop');
    receiver.answer = () => ({ status: 503 });
    await person.open(logoutPath({ id_token_hint: hint }));
    const failed = async () => (await failures()).filter(({ data }) => data.sessionId === sid);
    await expect.poll(async () => (await failed()).length).toBe(1);
    receiver.received.length = 0;
    receiver.answer = () => ({});
    const [{ id } = { id: '' }] = await failed();
    const at = (event: string, realm = REALM) => ({ params: { realm, id: event } });
    const { status, body } = await server.admin.call(retryLogout, at(id));
    expect([status, body]).toEqual([202, { eventId: id, clientId: 'shop', sessionId: sid }]);
    expect(await claimsOf(sid, 'shop')).toMatchObject({ sub, sid });
    expect(await failed()).toHaveLength(1);
    const { body: told } = await server.admin.call(listEvents, {
      params,
      query: { type: 'BACKCHANNEL_LOGOUT_RETRIED' },
    });
    expect(told).toMatchObject([{ clientId: 'shop', actor: { name: 'admin' }, data: { sessionId: sid, eventId: id } }]);
    // an event of another type, of another realm, and of nobody
    await expect(server.admin.call(retryLogout, at(told?.[0]?.id ?? ''))).rejects.toMatchObject({ status: 404 });
    await expect(server.admin.call(retryLogout, at(id, 'master'))).rejects.toMatchObject({ status: 404 });
    await expect(server.admin.call(retryLogout, at(newId()))).rejects.toMatchObject({ status: 404 });
    const reader = await administrator(server, { target: REALM, permissions: ['sessions:read', 'events:read'] });
    await expect(reader.call(retryLogout, at(id))).rejects.toMatchObject({ status: 403 });
  });

  test('an application without a back-channel address is told of nothing', async () => {
    await makeRelyingParty(server, 'short-lived', { backchannelLogoutUri: `${receiver.url}/short-lived` });
    const { person, sid, hint } = await inSession('short-lived');
    receiver.answer = () => ({ status: 503 });
    await person.open(logoutPath({ id_token_hint: hint }));
    const query = { type: 'BACKCHANNEL_LOGOUT_FAILED', clientId: 'short-lived' };
    const failed = async () => (await server.admin.call(listEvents, { params, query })).body ?? [];
    await expect.poll(async () => (await failed()).length).toBe(1);
    const { body: clients } = await server.admin.call(listClients, { params, query: { q: 'short-lived' } });
    await server.admin.call(putClient, {
      params: { ...params, id: clients![0]!.id },
      body: { clientId: 'short-lived', backchannelLogoutUri: null },
    });
    const [{ id } = { id: '' }] = await failed();
    await expect(server.admin.call(retryLogout, { params: { ...params, id } })).rejects.toMatchObject({
      status: 409,
      problem: { type: 'urn:svc:problem:wrong-state' },
    });
    expect(sid).not.toBe('');
  });
});

describe('by the front channel', () => {
  test('oidcc-frontchannel-rp-initiated-logout: the browser loads a frame of each application of the session, and goes on', async () => {
    const { person, sid, hint } = await inSession('framed', 'rp');
    const page = await person.open(logoutPath({ id_token_hint: hint, post_logout_redirect_uri: BYE, state: 's' }));
    expect(page.heading).toBe('You are signed out');
    const iss = encodeURIComponent(`${server.baseUrl}/realms/${REALM}`);
    expect(page.text).toContain(`<iframe src="https://rp.example/out?tenant=1&amp;iss=${iss}&amp;sid=${sid}"`);
    expect(page.text).toContain(`href="${BYE}?state=s"`);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain('frame-src https://rp.example');
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toMatch(/script-src 'sha256-/);
    const { body } = await server.admin.call(listSessions, { params, query: {} });
    expect(body?.map(({ id }) => id)).not.toContain(sid);
  });

  test('service providers hear of it by SAML when the frames are loaded, and then the browser goes on', async () => {
    const { person, sid, hint } = await inSession('framed');
    const { wiki } = await enterWiki(person);
    const page = await person.open(logoutPath({ id_token_hint: hint, post_logout_redirect_uri: BYE }));
    expect(page.text).toContain(`&amp;sid=${sid}"`);
    const next = /id="next" href="([^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(next).toContain('/saml/idp/slo?logout=');
    const asked = new URL((await person.open(`${next}&on=1`)).url);
    expect(asked.origin + asked.pathname).toBe(`${WIKI}/slo`);
    const query = Object.fromEntries(asked.searchParams);
    const { profile } = await wiki.validateRedirectAsync(query, asked.search.slice(1));
    const away = await person.open(await wiki.getLogoutResponseUrlAsync(profile!, '', {}, true));
    expect(away.url).toBe(BYE);
  });

  test('so it is where the person signs out at their account page', async () => {
    const { person, sid } = await inSession('framed');
    const signOut = async () => {
      const account = await person.open(`/realms/${REALM}/account`);
      const csrf = /action="[^"]*sign-out"[\s\S]*?name="csrf" value="([^"]*)"/.exec(account.text)?.[1] ?? '';
      return person.post(`/realms/${REALM}/account/sign-out`, { csrf });
    };
    const page = await signOut();
    expect(page.text).toContain(`&amp;sid=${sid}"`);
    expect(page.headers.get('content-security-policy')).toContain('frame-src https://rp.example');
    expect((await person.open(`/realms/${REALM}/account`)).heading).toBe('Sign in');
  });

  test('and where a service provider begins it by SAML: it is answered when the frames are loaded', async () => {
    const { person, sid } = await inSession('framed');
    const { wiki, profile } = await enterWiki(person);
    const page = await person.open(await wiki.getLogoutUrlAsync(profile, '', {}));
    expect(page.text).toContain(`&amp;sid=${sid}"`);
    expect(page.headers.get('content-security-policy')).toContain('frame-src https://rp.example');
    expect(page.text).toContain("addEventListener('load'");
    const next = /class="button" href="([^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const answered = new URL((await person.open(next)).url);
    expect(answered.origin + answered.pathname).toBe(`${WIKI}/slo`);
    const query = Object.fromEntries(answered.searchParams);
    expect(await wiki.validateRedirectAsync(query, answered.search.slice(1))).toMatchObject({ loggedOut: true });
    expect((await person.open(next)).heading).toBe('You are signed out');
  });

  test('another browser’s service provider ends the session, and no frame of it is loaded elsewhere', async () => {
    const { person, sid, sub } = await inSession('framed', 'shop');
    const { wiki, profile } = await enterWiki(person);
    const away = await createPerson(server.baseUrl).open(await wiki.getLogoutUrlAsync(profile, '', {}));
    expect(away.text).not.toContain('iframe');
    expect((await claimsOf(sid, 'shop')).sub).toBe(sub);
  });

  test('without such an application the browser goes on at once, and no frame is allowed', async () => {
    const { person, hint } = await inSession('rp');
    const away = await person.open(logoutPath({ id_token_hint: hint, post_logout_redirect_uri: BYE }));
    expect(away.url).toBe(BYE);
    const again = await inSession('rp');
    const page = await again.person.open(logoutPath({ id_token_hint: again.hint }));
    expect(page.headers.get('content-security-policy')).not.toContain('frame-src');
  });
});

test('a client that registers itself has both, and is told by both', async () => {
  const { body: initial } = await server.admin.call(createInitialAccessToken, { params, body: {} });
  await server.admin.call(putProvisioning, { params, body: { requireConsent: false } });
  const metadata = {
    redirect_uris: [RP],
    backchannel_logout_uri: `${receiver.url}/registered`,
    backchannel_logout_session_required: true,
    frontchannel_logout_uri: 'https://rp.example/registered-out',
    frontchannel_logout_session_required: true,
    post_logout_redirect_uris: [BYE],
  };
  const registered = await fetch(`${server.baseUrl}/realms/${REALM}/connect/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${initial?.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(metadata),
  });
  const { client_id: clientId, client_secret: secret, ...said } = Object(await registered.json());
  const { backchannel_logout_uri, frontchannel_logout_uri, post_logout_redirect_uris } = metadata;
  expect(said).toMatchObject({ backchannel_logout_uri, frontchannel_logout_uri, post_logout_redirect_uris });
  const { person, answer } = await signedIn(server, { client_id: clientId });
  const { body } = await exchange(server, answer, {}, clientId, { authorization: basic(clientId, secret) });
  const { sid, sub } = claimsIn(body.id_token);
  const page = await person.open(
    logoutPath({ id_token_hint: String(body.id_token), post_logout_redirect_uri: BYE, state: 's' }),
  );
  expect(page.text).toContain(`<iframe src="https://rp.example/registered-out?iss=`);
  expect(page.text).toContain(`&amp;sid=${sid}"`);
  expect(page.text).toContain(`href="${BYE}?state=s"`);
  expect(await claimsOf(String(sid), clientId, '/registered')).toMatchObject({ sid, sub });
});

test('oidcc-backchannel-logout-discovery-endpoint-verification, oidcc-frontchannel-logout-discovery-endpoint-verification: discovery names both', async () => {
  const found = await fetch(`${server.baseUrl}/realms/${REALM}/.well-known/openid-configuration`);
  expect(await found.json()).toMatchObject({
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    frontchannel_logout_supported: true,
    frontchannel_logout_session_supported: true,
  });
});

test.each<[string, Record<string, string>]>([
  ['backchannelLogoutUri', { backchannelLogoutUri: 'http://rp.example/out' }],
  ['frontchannelLogoutUri', { frontchannelLogoutUri: 'https://elsewhere.example/out' }],
])('%s must be where it can be trusted', async (path, fields) => {
  const body = { clientId: 'bad', redirectUris: ['https://rp.example/cb'], ...fields };
  await expect(server.admin.call(createClient, { params, body })).rejects.toMatchObject({
    status: 400,
    problem: { errors: [{ path }] },
  });
});

test('applications of somebody who is erased hear of it by the session alone, and the log knows a pseudonym', async () => {
  const { sid, sub } = await inSession('shop', 'mail');
  const { body: people } = await server.admin.call(listUsers, { params, query: { q: 'alice' } });
  await server.admin.call(eraseUser, { params: { ...params, userId: people?.[0]?.id ?? '' } });
  for (const clientId of ['shop', 'mail']) {
    const claims = await claimsOf(sid, clientId);
    expect(claims).toMatchObject({ sid, events: { 'http://schemas.openid.net/event/backchannel-logout': {} } });
    expect(claims).not.toHaveProperty('sub');
  }
  const { body } = await server.admin.call(listEvents, { params, query: { type: 'SESSION_ENDED,USER_ERASED' } });
  const erased = body?.find(({ type }) => type === 'USER_ERASED');
  const ended = body?.find(({ data }) => data.sessionId === sid);
  expect(ended).toMatchObject({ subject: erased?.subject, data: { reason: 'deleted', clients: ['mail', 'shop'] } });
  expect(erased?.subject?.id).not.toBe(sub);
});
