// The device flow (RFC 8628): openid-client's way, the person who decides elsewhere, and what others try with codes.
import * as oidc from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { DEVICE_CODE } from '../../../server/contract/oauth.ts';
import { listUsers, putUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, claimsIn, post } from '../../support/clients.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { makeProvider, makeRelyingParty, REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let now = new Date();
const params = { realm: REALM };
const grantTypes = [DEVICE_CODE, 'refresh_token'] as const;
beforeAll(async () => {
  server = await startTestServer({ now: () => now });
  await makeProvider(server);
  await makeRelyingParty(server, 'tv', { name: 'The television', grantTypes: [...grantTypes], redirectUris: [] });
  await makeRelyingParty(server, 'asking', { grantTypes: [...grantTypes], consentRequired: true });
  await makeRelyingParty(server, 'cli', {
    tokenEndpointAuthMethod: 'none',
    requirePkce: true,
    secret: undefined,
    grantTypes: [...grantTypes],
  });
});
afterAll(() => server?.stop());
beforeEach(() => {
  // No test is limited by another's attempts.
  now = new Date(Math.max(Date.now(), now.getTime()) + 61_000);
});
const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1000);
};

interface Started {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
}
async function start(clientId = 'tv', form: Record<string, string> = { scope: 'openid email' }): Promise<Started> {
  const { status, body } = await post(server, REALM, 'device_authorization', form, { authorization: basic(clientId) });
  expect([status, body.error]).toEqual([200, undefined]);
  return body as unknown as Started;
}
const ask = (deviceCode: string, clientId = 'tv', more: Record<string, string> = {}) =>
  post(
    server,
    REALM,
    'token',
    { grant_type: DEVICE_CODE, device_code: deviceCode, ...more },
    { authorization: basic(clientId) },
  );
const errorFor = async (deviceCode: string, clientId?: string) => (await ask(deviceCode, clientId)).body.error;

const somebody = () => createPerson(server.baseUrl);
/** Signed in, before the field for the code. */
async function opened(person: Person, path = `/realms/${REALM}/device`): Promise<ShownPage> {
  const page = await person.open(path);
  return page.heading === 'Sign in' ? person.fill(page, { username: 'alice', password: PASSWORD }) : page;
}
const type = async (person: Person, userCode: string) =>
  person.post(`/realms/${REALM}/device`, { ...(await opened(person)).fields, user_code: userCode });
const decide = (person: Person, page: ShownPage, decision: string) =>
  person.post(`/realms/${REALM}/device/decision`, { ...page.fields, decision });

test('openid-client gets tokens when the person has signed in, typed the code and allowed it', async () => {
  const issuer = new URL(`${server.baseUrl}/realms/${REALM}`);
  const config = await oidc.discovery(issuer, 'cli', undefined, oidc.None(), { execute: [oidc.allowInsecureRequests] });
  expect(config.serverMetadata()).toMatchObject({
    device_authorization_endpoint: `${issuer.href}/oauth2/device_authorization`,
    grant_types_supported: expect.arrayContaining([DEVICE_CODE]),
  });
  const started = await oidc.initiateDeviceAuthorization(config, { scope: 'openid email offline_access' });
  expect(started).toMatchObject({
    interval: 5,
    expires_in: 600,
    user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
  });
  const person = somebody();
  const page = await opened(person, String(started.verification_uri_complete));
  expect([page.heading, page.fields.user_code]).toEqual(['Connect a device', started.user_code]);
  const asked = await person.post(`/realms/${REALM}/device`, page.fields);
  expect(asked.heading).toBe('Connect this device?');
  expect((await decide(person, asked, 'allow')).heading).toBe('The device is connected');
  const tokens = await oidc.pollDeviceAuthorizationGrant(config, { ...started, interval: 0.1 });
  expect(tokens.claims()).toMatchObject({ aud: 'cli', acr: '1' });
  expect(tokens.scope?.split(' ')).toEqual(expect.arrayContaining(['openid', 'email']));
  const again = await oidc.refreshTokenGrant(config, String(tokens.refresh_token));
  expect(claimsIn(again.access_token).sub).toBe(tokens.claims()?.sub);
  const events = await server.admin.call(listEvents, { params, query: { type: 'DEVICE_APPROVED' } });
  expect(events.body?.[0]).toMatchObject({
    clientId: 'cli',
    subject: { name: 'alice' },
    data: { scopes: expect.arrayContaining(['email']) },
  });
});

describe('the person', () => {
  test('sees who asks, from where and since when, before they are asked', async () => {
    const { user_code: code } = await start();
    later(180);
    const page = await type(somebody(), code.toLowerCase().replace('-', ' '));
    for (const words of ['The television', 'alice', '127.0.0.1', '3 minutes ago', code])
      expect(page.text).toContain(words);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  test('who opens a link with a code has told the server nothing yet: it is they who send it', async () => {
    const { device_code: device, verification_uri_complete: uri } = await start();
    await opened(somebody(), uri);
    expect(await errorFor(device)).toBe('authorization_pending');
  });

  test('says no, and the device is told so, for good', async () => {
    const { device_code: device, user_code: code } = await start();
    const person = somebody();
    const page = await type(person, code);
    expect((await decide(person, page, 'deny')).heading).toBe('Nothing was allowed');
    const { status, body } = await ask(device);
    expect([status, body.error]).toEqual([400, 'access_denied']);
    expect((await decide(person, page, 'allow')).status).toBe(400);
    expect(await errorFor(device)).toBe('access_denied');
  });

  test('is asked for consent where the client needs it, once for the same', async () => {
    const first = await start('asking');
    const person = somebody();
    const page = await type(person, first.user_code);
    expect(page.text).toContain('Know who you are');
    await decide(person, page, 'allow');
    expect((await ask(first.device_code, 'asking')).body.scope).toBe('openid email');
    const second = await start('asking');
    expect((await type(person, second.user_code)).text).not.toContain('Know who you are');
    const wider = await start('asking', { scope: 'openid email phone' });
    expect((await type(person, wider.user_code)).text).toContain('Know who you are');
  });

  test('has to prove what the device asks for more before they are asked', async () => {
    const { user_code: code } = await start('tv', { scope: 'openid', acr_values: '2' });
    const page = await type(somebody(), code);
    expect(page.url).toContain('/login');
    expect(page.text).not.toContain('Connect this device?');
  });

  test('can’t be made to answer by another site, or another session', async () => {
    const { device_code: device, user_code: code } = await start();
    const person = somebody();
    const page = await type(person, code);
    const other = somebody();
    await opened(other);
    expect((await decide(other, page, 'allow')).status).toBe(400);
    const forged = { user_code: code, since: '0', proof: 'x', decision: 'allow' };
    expect((await person.post(`/realms/${REALM}/device/decision`, forged)).status).toBe(400);
    expect((await person.post(`/realms/${REALM}/device`, { user_code: code })).status).toBe(400);
    expect(await errorFor(device)).toBe('authorization_pending');
  });

  test('guesses a few codes, and then has to wait', async () => {
    const person = somebody();
    const page = await opened(person);
    const guess = () => person.post(`/realms/${REALM}/device`, { ...page.fields, user_code: 'BBBB-BBBB' });
    const statuses: number[] = [];
    for (let n = 0; n < 11; n += 1) statuses.push((await guess()).status);
    expect(statuses).toEqual([...Array(10).fill(400), 429]);
  });

  test('gives nothing that outlives them: their end is the end of what the device has', async () => {
    const { device_code: device, user_code: code } = await start();
    const person = somebody();
    await decide(person, await type(person, code), 'allow');
    const users = await server.admin.call(listUsers, { params, query: { q: 'alice' } });
    const user = { params: { ...params, userId: users.body![0]!.id } };
    await server.admin.call(putUser, { ...user, body: { enabled: false } });
    expect(await errorFor(device)).toBe('invalid_grant');
    await server.admin.call(putUser, { ...user, body: { enabled: true } });
  });
});

describe('the device', () => {
  test('waits, is slowed down where it asks too often, and learns when it is too late', async () => {
    const { device_code: device, user_code: code } = await start();
    const asked = async () => {
      const { status, body } = await ask(device);
      return [status, body.error];
    };
    expect(await asked()).toEqual([400, 'authorization_pending']);
    later(2);
    expect(await asked()).toEqual([400, 'slow_down']);
    later(6);
    expect(await asked()).toEqual([400, 'slow_down']);
    later(16);
    expect(await asked()).toEqual([400, 'authorization_pending']);
    later(600);
    expect(await asked()).toEqual([400, 'expired_token']);
    expect((await type(somebody(), code)).text).toContain('No device is waiting with this code');
  });

  test('uses its code once; a second time ends what the first gave', async () => {
    const { device_code: device, user_code: code } = await start('tv', { scope: 'openid offline_access' });
    const person = somebody();
    await decide(person, await type(person, code), 'allow');
    const { body } = await ask(device);
    expect(body.token_type).toBe('Bearer');
    expect(await errorFor(device)).toBe('invalid_grant');
    const refreshed = await post(
      server,
      REALM,
      'token',
      { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) },
      { authorization: basic('tv') },
    );
    expect(refreshed.body.error).toBe('invalid_grant');
    expect((await type(person, code)).text).toContain('No device is waiting with this code');
  });

  test('of two questions at once gets tokens by one', async () => {
    const { device_code: device, user_code: code } = await start();
    const person = somebody();
    await decide(person, await type(person, code), 'allow');
    const statuses = (await Promise.all([ask(device), ask(device), ask(device)])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 400, 400]);
  });

  test('can’t use another client’s code, nor one that was made up', async () => {
    const { device_code: device, user_code: code } = await start();
    const person = somebody();
    await decide(person, await type(person, code), 'allow');
    expect(await errorFor(device, 'asking')).toBe('invalid_grant');
    expect(await errorFor(`${device.slice(0, -1)}x`)).toBe('invalid_grant');
    expect((await ask(device)).status).toBe(200);
  });

  test.each<[string, string, Record<string, string>, number, string]>([
    ['a client without the grant', 'rp', {}, 400, 'unauthorized_client'],
    ['a scope of others', 'tv', { scope: 'openid roles' }, 400, 'invalid_scope'],
    ['a resource that the realm has not', 'tv', { resource: 'https://api.example.com' }, 400, 'invalid_target'],
  ])('is refused for %s', async (_, clientId, form, status, error) => {
    const answer = await post(server, REALM, 'device_authorization', form, { authorization: basic(clientId) });
    expect([answer.status, answer.body.error]).toEqual([status, error]);
  });

  test('proves its client, and gets no admin rights of anybody', async () => {
    const unproven = await post(server, REALM, 'device_authorization', { client_id: 'tv' });
    expect([unproven.status, unproven.body.error]).toEqual([401, 'invalid_client']);
    const answer = await post(
      server,
      REALM,
      'device_authorization',
      { resource: `${server.baseUrl}/admin` },
      { authorization: basic('tv') },
    );
    expect(answer.body.error).toBe('invalid_target');
  });
});
