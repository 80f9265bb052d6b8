// Owns: backchannel authentication in mode push: the server sends the tokens to the client’s notification endpoint.
// Does not own: requests and decisions, the modes poll and ping (backchannel.test.ts).
// Implements: OpenID Connect CIBA Core 1.0 §10.3, §11, §12; FAPI-CIBA.
import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ClientInput } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { CIBA } from '../../../server/contract/oauth.ts';
import { createUser } from '../../../server/contract/users.ts';
import { basic, post } from '../../support/clients.ts';
import type { Device } from '../../support/device.ts';
import { deviceFor } from '../../support/devices.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { makeProvider, makeRelyingParty, REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: REALM };
let server: TestServer;
let receiver: Receiver;
let serial = 0;
let username = '';
let clientId = '';
let device: Device;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile }, retryDelaysSeconds: [0] });
  await makeProvider(server);
});
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});
beforeEach(async () => {
  serial += 1;
  username = `person${serial}`;
  clientId = `till${serial}`;
  receiver.answer = () => ({ status: 204 });
  const { body } = await server.admin.call(createUser, { params, body: { username } });
  device = await deviceFor(server, REALM, body?.id ?? '');
  await makeRelyingParty(server, clientId, pushing(clientId));
});

const pushing = (to: string): Partial<ClientInput> => ({
  grantTypes: [CIBA, 'refresh_token'],
  backchannelNotificationEndpoint: `${receiver.url}/${to}`,
  backchannelTokenDeliveryMode: 'push',
});
const as = (form: Record<string, string>, endpoint = 'token') =>
  post(server, REALM, endpoint, form, { authorization: basic(clientId) });
const ask = () =>
  as(
    { scope: 'openid', login_hint: username, client_notification_token: 'for-this-one' },
    'backchannel_authentication',
  );
async function decide(decision: string): Promise<void> {
  const [{ challenge, bindingMessage, asks, id }] = (await device.ask('GET', '/backchannel')).body;
  const signed = { challenge, decision, bindingMessage, asks };
  expect((await device.ask('POST', `/backchannel/${id}/decide`, signed)).status).toBe(204);
}
const received = () => receiver.received.filter(({ url }) => url === `/${clientId}`);
async function told(): Promise<Record<string, unknown>> {
  await expect.poll(() => received().length).toBeGreaterThan(0);
  expect(received()[0]?.headers.authorization).toBe('Bearer for-this-one');
  return JSON.parse(String(received().at(-1)?.raw));
}
/** RS256. */
const half = (value: unknown) =>
  createHash('sha256').update(String(value)).digest().subarray(0, 16).toString('base64url');

test('the client gets its tokens once the person approves, and the ID token names the other ones', async () => {
  const { body } = await ask();
  expect(body).toEqual({ auth_req_id: expect.any(String), expires_in: 300 });
  await decide('approve');
  const tokens = await told();
  expect(tokens).toMatchObject({ auth_req_id: body.auth_req_id, token_type: 'Bearer' });
  expect(decodeJwt(String(tokens.id_token))).toMatchObject({
    at_hash: half(tokens.access_token),
    'urn:openid:params:jwt:claim:rt_hash': half(tokens.refresh_token),
    'urn:openid:params:jwt:claim:auth_req_id': body.auth_req_id,
  });
  const introspected = await as({ token: String(tokens.access_token) }, 'introspect');
  expect(introspected.body).toMatchObject({ active: true, username });
  const again = await as({ grant_type: 'refresh_token', refresh_token: String(tokens.refresh_token) });
  expect(again.status).toBe(200);
});

test('the client is told that the person refused', async () => {
  const { body } = await ask();
  await decide('deny');
  expect(await told()).toEqual({
    auth_req_id: body.auth_req_id,
    error: 'access_denied',
    error_description: 'The person did not agree',
  });
});

test('the client may not poll, before the decision or after it', async () => {
  const { body } = await ask();
  const poll = async () => (await as({ grant_type: CIBA, auth_req_id: String(body.auth_req_id) })).body.error;
  expect(await poll()).toBe('unauthorized_client');
  await decide('approve');
  const { access_token } = await told();
  expect(await poll()).toBe('unauthorized_client');
  expect((await as({ token: String(access_token) }, 'introspect')).body.active).toBe(true);
});

test('a client that was away gets the same tokens later, and they are issued once', async () => {
  receiver.answer = () => ({ status: received().length === 1 ? 503 : 204 });
  await ask();
  await decide('approve');
  await expect.poll(() => received().length).toBe(2);
  const [first, second] = received().map(({ raw }) => JSON.parse(String(raw)));
  expect(second).toEqual(first);
  const { body: events = [] } = await server.admin.call(listEvents, {
    params,
    query: { type: 'TOKEN_ISSUED', clientId },
  });
  expect(events).toHaveLength(1);
});

test('tokens of a grant that ended meanwhile are not sent again', async () => {
  receiver.answer = async () => {
    if (received().length > 1) return { status: 204 };
    const { refresh_token: token } = JSON.parse(String(received()[0]?.raw));
    expect((await as({ token }, 'revoke')).status).toBe(200);
    return { status: 503 };
  };
  const { body } = await ask();
  await decide('approve');
  await expect.poll(() => received().length).toBe(2);
  expect(await told()).toEqual({
    auth_req_id: body.auth_req_id,
    error: 'transaction_failed',
    error_description: 'The grant has ended',
  });
});

const kept = async () =>
  (
    await server.pool.query(
      `select from backchannel_authentication b join client c on c.realm_id = b.realm_id and c.id = b.client
       where c.client_id = $1 and b.notification is not null`,
      [clientId],
    )
  ).rowCount;

test('nothing of the tokens stays in the database once the client has them', async () => {
  await ask();
  expect(await kept()).toBe(1);
  await decide('approve');
  await told();
  await expect.poll(kept).toBe(0);
});

test('tokens that no try could deliver end', async () => {
  receiver.answer = () => ({ status: 503 });
  await ask();
  await decide('approve');
  const { access_token } = await told();
  await expect.poll(kept).toBe(0);
  expect(received()).toHaveLength(2);
  expect((await as({ token: String(access_token) }, 'introspect')).body.active).toBe(false);
});

test('the mode needs an endpoint, and takes no client whose tokens are bound to a key', async () => {
  const wrong: Partial<ClientInput>[] = [
    { ...pushing('x'), backchannelNotificationEndpoint: null },
    { ...pushing('x'), dpopBoundAccessTokens: true },
    { ...pushing('x'), tlsClientCertificateBoundAccessTokens: true },
    {
      ...pushing('x'),
      profile: 'fapi2-security',
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwksUri: 'https://x.example/k',
    },
  ];
  for (const fields of wrong)
    await expect(makeRelyingParty(server, 'wrong', fields)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('backchannelTokenDeliveryMode'),
    });
});
