// Owns: backchannel authentication over HTTP: a client asks, a person's own device decides, and tokens follow.
// Does not own: how devices sign (devices.test.ts), the bounds of details (authorization-details.test.ts).
// Implements: OpenID Connect CIBA Core 1.0, its security considerations included, FAPI-CIBA; decisions "Backchannel authentication".
import { randomUUID } from 'node:crypto';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthorizationDetailType } from '../../../server/contract/authorization-detail-types.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { CIBA } from '../../../server/contract/oauth.ts';
import { createUser, putUser } from '../../../server/contract/users.ts';
import { basic, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import type { Device } from '../../support/device.ts';
import { deviceFor } from '../../support/devices.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { exchange, makeProvider, makeRelyingParty, REALM, signedIn } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: REALM };
const keys = await generateKeyPair('ES256', { extractable: true });
const payment = { type: 'payment', amount: '12.50', creditor: 'Example Ltd' };
let server: TestServer;
let receiver: Receiver;
let issuer: string;
let clock = Date.now();
let serial = 0;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    now: () => new Date(clock),
    env: { SVC_OUTBOUND_CA_FILE: receiver.caFile },
    retryDelaysSeconds: [0],
  });
  issuer = `${server.baseUrl}/realms/${REALM}`;
  await makeProvider(server);
  await server.admin.call(createAuthorizationDetailType, {
    params,
    body: {
      type: 'payment',
      schema: {
        type: 'object',
        properties: { amount: { type: 'string' }, creditor: { type: 'string' } },
        required: ['amount', 'creditor'],
      },
      words: { en: 'Pay {amount}' },
    },
  });
  const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] };
  const shared = { grantTypes: [CIBA, 'refresh_token' as const], redirectUris: [], jwks } as const;
  for (const clientId of ['till', 'other', 'third'])
    await makeRelyingParty(server, clientId, {
      ...shared,
      grantTypes: [...shared.grantTypes],
      redirectUris: [],
      authorizationDetailsTypes: ['payment'],
    });
});
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});

/** A new user with a device. */
async function somebody() {
  serial += 1;
  const username = `person${serial}`;
  const { body } = await server.admin.call(createUser, {
    params,
    body: { username, email: `${username}@example.com`, emailVerified: true },
  });
  const id = body?.id ?? '';
  const device = await deviceFor(server, REALM, id, { clock: () => Math.floor(clock / 1000) });
  return { username, id, device };
}
const ask = (form: Record<string, string>, clientId = 'till') =>
  post(
    server,
    REALM,
    'backchannel_authentication',
    { scope: 'openid email', ...form },
    { authorization: basic(clientId) },
  );
const poll = (authReqId: unknown, clientId = 'till') =>
  post(
    server,
    REALM,
    'token',
    { grant_type: CIBA, auth_req_id: String(authReqId) },
    { authorization: basic(clientId) },
  );
const waiting = async (device: Device) => (await device.ask('GET', '/backchannel')).body;
/** @param change of what an honest device would sign */
async function decide(device: Device, decision: string, change: Record<string, unknown> = {}) {
  const [question] = await waiting(device);
  const { challenge, bindingMessage, asks, id } = question;
  return device.ask('POST', `/backchannel/${id}/decide`, { challenge, decision, bindingMessage, asks, ...change });
}

describe('a person who is asked', () => {
  test('sees on their device who asks for what, approves, and the client gets tokens once', async () => {
    const { username, id, device } = await somebody();
    const { status, body } = await ask({ login_hint: username, binding_message: 'W4SC' });
    expect([status, body.expires_in, body.interval]).toEqual([200, 300, 5]);
    expect((await poll(body.auth_req_id)).body.error).toBe('authorization_pending');
    const [question] = await waiting(device);
    expect(question).toMatchObject({ username, application: 'till', bindingMessage: 'W4SC' });
    expect(question.asks).toContain('Know who you are');
    expect((await decide(device, 'approve')).status).toBe(204);
    expect(await waiting(device)).toEqual([]);
    clock += 6_000;
    const { body: tokens } = await poll(body.auth_req_id);
    expect(decodeJwt(String(tokens.id_token))).toMatchObject({ sub: id, aud: 'till', acr: '6', amr: ['pop', 'mca'] });
    expect(decodeJwt(String(tokens.access_token))).toMatchObject({ sub: id, client_id: 'till' });
    const again = await post(
      server,
      REALM,
      'token',
      { grant_type: 'refresh_token', refresh_token: String(tokens.refresh_token) },
      { authorization: basic('till') },
    );
    expect(again.status).toBe(200);
    expect((await poll(body.auth_req_id)).body.error).toBe('invalid_grant');
    const introspected = await post(
      server,
      REALM,
      'introspect',
      { token: String(again.body.access_token) },
      { authorization: basic('till') },
    );
    expect(introspected.body.active).toBe(false);
  });

  test('refuses, and the client is told so', async () => {
    const { username, device } = await somebody();
    const { body } = await ask({ login_hint: username });
    expect((await decide(device, 'deny')).status).toBe(204);
    expect((await poll(body.auth_req_id)).body.error).toBe('access_denied');
  });

  test('approves what the device showed, to the letter', async () => {
    const { username, device } = await somebody();
    const authorization_details = JSON.stringify([payment]);
    const { body } = await ask({ login_hint: username, binding_message: 'A1', authorization_details });
    const [{ asks }] = await waiting(device);
    expect(asks[0]).toBe('Pay “12.50” (type: “payment”; creditor: “Example Ltd”)');
    for (const [field, value] of [
      ['bindingMessage', 'A2'],
      ['bindingMessage', null],
      ['asks', asks.slice(1)],
      ['asks', undefined],
      ['challenge', 'another'],
      ['decision', 'yes'],
    ] as const)
      expect([field, (await decide(device, 'approve', { [field]: value })).status]).toEqual([field, 400]);
    expect((await decide(device, 'approve')).status).toBe(204);
    const { body: tokens } = await poll(body.auth_req_id);
    expect(tokens.authorization_details).toEqual([payment]);
  });

  test('is not answered for by a stranger’s device', async () => {
    const [person, stranger] = [await somebody(), await somebody()];
    await ask({ login_hint: person.username });
    expect(await waiting(stranger.device)).toEqual([]);
    const [{ id, challenge, asks, bindingMessage }] = await waiting(person.device);
    const signed = { challenge, asks, bindingMessage, decision: 'approve' };
    expect((await stranger.device.ask('POST', `/backchannel/${id}/decide`, signed)).status).toBe(404);
    expect((await person.device.ask('POST', `/backchannel/${id}/decide`, signed)).status).toBe(204);
    expect((await person.device.ask('POST', `/backchannel/${id}/decide`, signed)).status).toBe(404);
  });

  test('sees four unanswered requests of a client and eight of all, and no client learns of the others', async () => {
    const { username, device } = await somebody();
    for (const [clientId, shown] of [
      ['till', 4],
      ['other', 8],
      ['third', 8],
    ] as const) {
      for (let n = 0; n < 5; n += 1) expect((await ask({ login_hint: username }, clientId)).status).toBe(200);
      expect(await waiting(device)).toHaveLength(shown);
    }
  });

  test('approves nothing while they have to do something at a sign-in, and may approve it afterwards', async () => {
    const { username, id, device } = await somebody();
    await ask({ login_hint: username });
    const put = (body: { requiredActions: 'TERMS'[] }) =>
      server.admin.call(putUser, { params: { ...params, userId: id }, body });
    await put({ requiredActions: ['TERMS'] });
    const refused = await decide(device, 'approve');
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('Sign in once in a browser')]);
    await put({ requiredActions: [] });
    expect((await decide(device, 'approve')).status).toBe(204);
  });

  test('is asked again after ten minutes, however many requests they were not shown meanwhile', async () => {
    const { username, device } = await somebody();
    for (let n = 0; n < 4; n += 1) await ask({ login_hint: username });
    clock += 540_000;
    for (let n = 0; n < 5; n += 1) await ask({ login_hint: username });
    expect(await waiting(device)).toEqual([]);
    clock += 61_000;
    await ask({ login_hint: username });
    expect(await waiting(device)).toHaveLength(1);
  });

  test('is asked no more by a client after a refusal, for ten minutes; by others they are', async () => {
    const { username, device } = await somebody();
    await ask({ login_hint: username });
    await decide(device, 'deny');
    await ask({ login_hint: username });
    expect(await waiting(device)).toEqual([]);
    await ask({ login_hint: username }, 'other');
    expect(await waiting(device)).toHaveLength(1);
    await decide(device, 'approve');
    clock += 601_000;
    await ask({ login_hint: username });
    expect(await waiting(device)).toHaveLength(1);
  });
});

describe('a binding message', () => {
  test('that waits already is not asked a second time', async () => {
    const { username, device } = await somebody();
    expect((await ask({ login_hint: username, binding_message: 'SAME' })).status).toBe(200);
    const second = await ask({ login_hint: username, binding_message: 'SAME' });
    expect([second.status, second.body.error]).toEqual([400, 'invalid_binding_message']);
    // By another name of the same person, nothing says that it is the same.
    expect((await ask({ login_hint: `${username}@example.com`, binding_message: 'SAME' })).status).toBe(200);
    expect(await waiting(device)).toHaveLength(1);
  });

  test.each([
    ['too long', 'x'.repeat(101)],
    ['two lines', 'a\nb'],
    ['text that runs backwards', 'W4\u202eSC'],
    ['a gap', `a${' '.repeat(9)}b`],
  ])('with %s is refused', async (_, binding_message) => {
    const { username } = await somebody();
    expect((await ask({ login_hint: username, binding_message })).body.error).toBe('invalid_binding_message');
  });
});

describe('nobody learns who there is', () => {
  test('an unknown, a disabled and a deviceless person are answered like one who does not decide', async () => {
    const { username, id } = await somebody();
    await server.admin.call(putUser, { params: { ...params, userId: id }, body: { enabled: false } });
    for (const login_hint of ['nobody', 'nobody@example.com', username, 'alice']) {
      const { status, body } = await ask({ login_hint, binding_message: 'X' });
      expect([status, Object.keys(body)]).toEqual([200, ['auth_req_id', 'expires_in', 'interval']]);
      expect((await poll(body.auth_req_id)).body.error).toBe('authorization_pending');
      const again = await ask({ login_hint, binding_message: 'X' });
      expect(again.body.error).toBe('invalid_binding_message');
    }
  });

  test('an unconfirmed e-mail address names nobody', async () => {
    const { username, id, device } = await somebody();
    await server.admin.call(putUser, { params: { ...params, userId: id }, body: { emailVerified: false } });
    expect((await ask({ login_hint: `${username}@example.com` })).status).toBe(200);
    expect(await waiting(device)).toEqual([]);
  });
});

describe('hints', () => {
  const token = (claims: Record<string, unknown>, exp: number | string = '5m', iss = 'till') =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuer(iss)
      .setAudience(issuer)
      .setExpirationTime(typeof exp === 'number' ? exp : new Date(clock + 300_000))
      .sign(keys.privateKey);

  test('exactly one is needed', async () => {
    expect((await ask({})).body.error).toBe('invalid_request');
    expect((await ask({ login_hint: 'alice', id_token_hint: 'x' })).body.error).toBe('invalid_request');
  });

  test('a token of the client names a person by each format', async () => {
    const { username, id, device } = await somebody();
    const formats = [
      { format: 'email', email: `${username}@example.com` },
      { format: 'opaque', id: username },
      { format: 'iss_sub', iss: issuer, sub: id },
    ];
    for (const [n, sub_id] of formats.entries()) {
      expect((await ask({ login_hint_token: await token({ sub_id }) })).status).toBe(200);
      expect(await waiting(device)).toHaveLength(n + 1);
    }
    const elsewhere = await token({ sub_id: { format: 'iss_sub', iss: 'https://other.example', sub: id } });
    expect((await ask({ login_hint_token: elsewhere })).status).toBe(200);
    expect(await waiting(device)).toHaveLength(3);
  });

  test('an expired, a foreign or an unsigned token names nobody', async () => {
    const sub_id = { format: 'opaque', id: 'alice' };
    const old = await token({ sub_id }, Math.floor(clock / 1000) - 600);
    expect((await ask({ login_hint_token: old })).body.error).toBe('expired_login_hint_token');
    for (const login_hint_token of [await token({ sub_id }, '5m', 'other'), 'a.b.c', await token({ sub_id: 'alice' })])
      expect((await ask({ login_hint_token })).body.error).toBe('invalid_request');
  });

  test('an ID token names its person to its own client only', async () => {
    const { answer } = await signedIn(server);
    const { body } = await exchange(server, answer);
    const hint = String(body.id_token);
    expect((await ask({ id_token_hint: hint })).body.error).toBe('invalid_request');
    expect((await ask({ id_token_hint: String(body.access_token) })).body.error).toBe('invalid_request');
  });
});

describe('an auth_req_id', () => {
  test('is for its client and realm alone, and the tries of others leave it as it is', async () => {
    const { username, device } = await somebody();
    const { body } = await ask({ login_hint: username });
    await decide(device, 'approve');
    expect((await poll(body.auth_req_id, 'other')).body.error).toBe('invalid_grant');
    await makeRealm(server, 'elsewhere');
    await makeClient(server, 'elsewhere', { clientId: 'till', secret: SECRET, grantTypes: [CIBA] });
    const form = { grant_type: CIBA, auth_req_id: String(body.auth_req_id) };
    const there = await post(server, 'elsewhere', 'token', form, { authorization: basic('till') });
    expect(there.body.error).toBe('invalid_grant');
    expect((await poll(body.auth_req_id)).status).toBe(200);
  });

  test('is not polled too often, and ends', async () => {
    const { username, device } = await somebody();
    const { body } = await ask({ login_hint: username, requested_expiry: '60' });
    expect(body.expires_in).toBe(60);
    expect((await poll(body.auth_req_id)).body.error).toBe('authorization_pending');
    expect((await poll(body.auth_req_id)).body.error).toBe('slow_down');
    clock += 61_000;
    expect(await waiting(device)).toEqual([]);
    expect((await poll(body.auth_req_id)).body.error).toBe('expired_token');
  });

  test('is only for clients with the grant that prove themselves', async () => {
    expect((await ask({ login_hint: 'alice' }, 'rp')).body.error).toBe('unauthorized_client');
    const nobody = await post(server, REALM, 'backchannel_authentication', {
      client_id: 'till',
      scope: 'openid',
      login_hint: 'alice',
    });
    expect([nobody.status, nobody.body.error]).toEqual([401, 'invalid_client']);
    await expect(
      makeClient(server, REALM, { clientId: 'open', tokenEndpointAuthMethod: 'none', grantTypes: [CIBA] }),
    ).rejects.toMatchObject({ status: 400 });
  });
});

describe('a signed request', () => {
  const sign = (claims: Record<string, unknown> = {}, jti = randomUUID()) => {
    const at = Math.floor(clock / 1000);
    return new SignJWT({ scope: 'openid', login_hint: 'alice', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuer('till')
      .setAudience(issuer)
      .setIssuedAt(at)
      .setNotBefore(at)
      .setExpirationTime(at + 300)
      .setJti(jti)
      .sign(keys.privateKey);
  };

  test('counts once, and nothing beside it counts', async () => {
    const { username, device } = await somebody();
    const request = await sign({ login_hint: username, binding_message: 'INSIDE' });
    expect((await ask({ request, binding_message: 'BESIDE' })).status).toBe(200);
    expect(await waiting(device)).toMatchObject([{ bindingMessage: 'INSIDE' }]);
    expect((await ask({ request })).body.error).toBe('invalid_request_object');
  });

  test('is needed under FAPI, with a binding message', async () => {
    await makeClient(server, REALM, {
      clientId: 'bank',
      tokenEndpointAuthMethod: 'private_key_jwt',
      grantTypes: [CIBA],
      profile: 'fapi2-security',
      jwks: { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] },
    });
    const at = () => Math.floor(clock / 1000);
    const signed = (claims: Record<string, unknown>) =>
      new SignJWT({
        iss: 'bank',
        aud: issuer,
        iat: at(),
        nbf: at(),
        exp: at() + 60,
        jti: randomUUID(),
        ...claims,
      })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .sign(keys.privateKey);
    const asBank = async (form: Record<string, string>) =>
      post(server, REALM, 'backchannel_authentication', {
        ...form,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await signed({ sub: 'bank' }),
      });
    const plain = await asBank({ scope: 'openid', login_hint: 'alice', binding_message: 'X' });
    expect(plain.body.error_description).toContain('signed');
    const request = await signed({ scope: 'openid', login_hint: 'alice' });
    expect((await asBank({ request })).body.error_description).toContain('binding_message');
    const whole = await signed({ scope: 'openid', login_hint: 'alice', binding_message: 'Y' });
    expect((await asBank({ request: whole })).status).toBe(200);
  });
});

describe('a client with a notification endpoint', () => {
  test.each(['approve', 'deny'])(
    'is told after %s, with its own token and no tokens for the person',
    async (decision) => {
      const clientId = `told-${decision}`;
      const endpoint = `${receiver.url}/${clientId}`;
      await makeRelyingParty(server, clientId, { grantTypes: [CIBA], backchannelNotificationEndpoint: endpoint });
      const { username, device } = await somebody();
      const { body } = await ask({ login_hint: username, client_notification_token: 'for-this-one' }, clientId);
      expect((await decide(device, decision)).status).toBe(204);
      const told = () => receiver.received.filter(({ url }) => url === `/${clientId}`);
      await expect.poll(() => told().length).toBe(1);
      expect(told()[0]?.headers.authorization).toBe('Bearer for-this-one');
      expect(JSON.parse(String(told()[0]?.raw))).toEqual({ auth_req_id: body.auth_req_id });
      const polled = await poll(body.auth_req_id, clientId);
      expect(polled.body.error).toBe(decision === 'deny' ? 'access_denied' : undefined);
    },
  );

  test('at an address within the network is not told, since the server calls no such address', async () => {
    const inside = { grantTypes: [CIBA], backchannelNotificationEndpoint: 'https://169.254.169.254/latest' } as const;
    await makeRelyingParty(server, 'inside', { ...inside, grantTypes: [CIBA] });
    const { username, device } = await somebody();
    const { body } = await ask({ login_hint: username, client_notification_token: 'x' }, 'inside');
    expect((await decide(device, 'approve')).status).toBe(204);
    expect((await poll(body.auth_req_id, 'inside')).status).toBe(200);
  });

  test('needs a token for it, and an https address', async () => {
    await makeRelyingParty(server, 'pinged', {
      grantTypes: [CIBA],
      backchannelNotificationEndpoint: 'https://rp.example/decided',
    });
    expect((await ask({ login_hint: 'alice' }, 'pinged')).body.error).toBe('invalid_request');
    const bad = { login_hint: 'alice', client_notification_token: 'a b' };
    expect((await ask(bad, 'pinged')).body.error).toBe('invalid_request');
    await expect(
      makeRelyingParty(server, 'plainly', { backchannelNotificationEndpoint: 'http://rp.example/decided' }),
    ).rejects.toMatchObject({ status: 400 });
  });
});

test('events tell what was asked and decided, without the id that gives tokens', async () => {
  const { username, id, device } = await somebody();
  const { body } = await ask({ login_hint: username, binding_message: 'EV' });
  await decide(device, 'approve');
  const { body: events = [] } = await server.admin.call(listEvents, { params, query: { limit: 20 } });
  expect(events).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: 'BACKCHANNEL_REQUESTED', clientId: 'till', outcome: 'success' }),
      expect.objectContaining({
        type: 'BACKCHANNEL_APPROVED',
        clientId: 'till',
        subject: expect.objectContaining({ id }),
        data: expect.objectContaining({ bindingMessage: 'EV', device: device.id() }),
      }),
    ]),
  );
  expect(JSON.stringify(events)).not.toContain(String(body.auth_req_id));
});

test('discovery names the endpoint, and the modes that work', async () => {
  const answer = await fetch(`${issuer}/.well-known/openid-configuration`);
  expect(await answer.json()).toMatchObject({
    backchannel_authentication_endpoint: `${issuer}/oauth2/backchannel_authentication`,
    backchannel_token_delivery_modes_supported: ['poll', 'ping', 'push'],
    grant_types_supported: expect.arrayContaining([CIBA]),
  });
});
