// Events of trusted transmitters: what they do to whom, and what others try with them. RFC 8417 §5, RFC 8935, RFC 8936, SSF 1.0 §9.
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { createIdentityProvider } from '../../../server/contract/identity-providers.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import {
  connectSignalTransmitter,
  createSignalTransmitter,
  disconnectSignalTransmitter,
  getSignalConnection,
  listSignalTransmitters,
  putSignalTransmitter,
} from '../../../server/contract/signal-transmitters.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser, getUser, putUser } from '../../../server/contract/users.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { POLL_JOB, pollTerms } from '../../../server/features/protocol/signal-transmitters/jobs.ts';
import { termsOf } from '../../../server/jobs/job.ts';
import { createQueue } from '../../../server/jobs/queue.ts';
import { PASSWORD } from '../../support/applications.ts';
import { makeRealm } from '../../support/clients.ts';
import { startReceiver } from '../../support/receiver.ts';
import { makeProvider, REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { caep, risc, ssf, useClient } from '../../support/signals.ts';

let server: TestServer;
let partner: Awaited<ReturnType<typeof startReceiver>>;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let strangers: Awaited<ReturnType<typeof generateKeyPair>>;
const ids: Record<string, string> = {};
const params = { realm: REALM };
const SECRET = 'Bearer at-least-sixteen-characters';

beforeAll(async () => {
  partner = await startReceiver();
  [keys, strangers] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: partner.caFile } });
  await makeProvider(server);
  await makeRealm(server, 'second');
  const body = {
    alias: 'corp',
    type: 'oidc' as const,
    clientId: 'us',
    config: { issuer: partner.url },
  };
  await server.admin.call(createIdentityProvider, { params, body });
  for (const username of ['ana', 'ben']) {
    const user = { username, email: `${username}@example.com`, emailVerified: true, password: PASSWORD };
    ids[username] = (await server.admin.call(createUser, { params, body: user })).body?.id ?? '';
  }
  const users = [
    { username: 'ana', identities: [{ identityProvider: 'corp', issuer: partner.url, subject: 'ana-there' }] },
  ];
  await server.admin.call(importRealm, { params, body: { users } });
  await server.admin.call(createSignalTransmitter, {
    params,
    body: {
      name: 'corp',
      issuer: partner.url,
      identityProvider: 'corp',
      reactions: {
        sessionRevoked: 'endSessions',
        accountDisabled: 'disable',
        credentialCompromise: 'raiseRisk',
        tokenClaimsChange: 'notify',
      },
      secret: SECRET,
    },
  });
});
afterAll(async () => {
  await server?.stop();
  await partner?.stop();
});
beforeEach(() => {
  partner.answer = serves(keys);
});

const serves =
  (pair: typeof keys, more: object = {}) =>
  async ({ url }: { url: string }) => {
    if (url === '/.well-known/ssf-configuration')
      return { body: JSON.stringify({ issuer: partner.url, jwks_uri: `${partner.url}/keys`, ...more }) };
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
    return url === '/keys' ? { body: JSON.stringify({ keys: [jwk] }) } : { status: 404 };
  };

const anaThere = () => ({ format: 'iss_sub', iss: partner.url, sub: 'ana-there' });
let count = 0;
interface Made {
  events?: object;
  subject?: object | undefined;
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  pair?: typeof keys;
}
function set({
  events = { [caep('session-revoked')]: {} },
  subject = anaThere(),
  claims = {},
  header = {},
  pair = keys,
}: Made = {}) {
  count += 1;
  const payload = {
    iss: partner.url,
    aud: `${server.baseUrl}/realms/${REALM}`,
    iat: Math.floor(Date.now() / 1000),
    jti: `token-${count}`,
    sub_id: subject,
    events,
    ...claims,
  };
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'RS256', kid: 'k1', typ: 'secevent+jwt', ...header })
    .sign(pair.privateKey);
}
async function push(
  jwt: string,
  {
    name = 'corp',
    realm = REALM,
    headers = {},
  }: { name?: string; realm?: string; headers?: Record<string, string> } = {},
) {
  const response = await fetch(`${server.baseUrl}/realms/${realm}/ssf/events/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/secevent+jwt', authorization: SECRET, ...headers },
    body: jwt,
  });
  const text = await response.text();
  return { status: response.status, err: text === '' ? undefined : JSON.parse(text).err };
}
const sessions = async (username: string) =>
  (await server.pool.query('select from session where user_id = $1', [ids[username]])).rows.length;
const received = async () =>
  (await server.admin.call(listEvents, { params, query: { type: 'SIGNAL_RECEIVED' } })).body ?? [];

describe('an event', () => {
  test('ends the sessions of the linked user, once, and of no one else', async () => {
    await useClient(server, 'ana', 'rp');
    await useClient(server, 'ben', 'rp');
    const jwt = await set();
    expect(await push(jwt)).toEqual({ status: 202, err: undefined });
    expect([await sessions('ana'), await sessions('ben')]).toEqual([0, 1]);
    const [event] = await received();
    expect(event).toMatchObject({
      actor: { type: 'system', name: 'signal transmitter corp' },
      subject: { type: 'user', id: ids.ana },
      data: { event: 'session-revoked', reaction: 'endSessions', transmitter: 'corp' },
    });
    await useClient(server, 'ana', 'rp');
    expect((await push(jwt)).status).toBe(202);
    expect(await sessions('ana')).toBe(1);
    expect(await received()).toHaveLength(1);
  });

  test('in a complex subject counts by its user, and the drafts’ form inside the event counts, too', async () => {
    for (const made of [
      { subject: { format: 'complex', user: anaThere(), session: { format: 'opaque', id: 'theirs' } } },
      { subject: { format: 'opaque', id: 'ana-there' } },
      {
        subject: undefined,
        claims: { sub_id: undefined },
        events: {
          [caep('session-revoked')]: { subject: { subject_type: 'iss-sub', iss: partner.url, sub: 'ana-there' } },
        },
      },
    ]) {
      await useClient(server, 'ana', 'rp');
      expect((await push(await set(made))).status).toBe(202);
      expect(await sessions('ana')).toBe(0);
    }
  });

  test('raises the risk of the next sign-ins for a day', async () => {
    const body = { riskPolicyEnabled: true, riskWeights: { 'security-signal': 5 } };
    await server.admin.call(putSettings, { params, body });
    expect(
      (await push(await set({ events: { [risc('credential-compromise')]: { credential_type: 'password' } } }))).status,
    ).toBe(202);
    await useClient(server, 'ana', 'rp');
    const query = { type: 'LOGIN_SUCCESS', userId: ids.ana ?? '' };
    const { body: events = [] } = await server.admin.call(listEvents, { params, query });
    expect(JSON.stringify(events[0]?.data)).toContain('security-signal');
    await server.admin.call(putSettings, { params, body: { riskPolicyEnabled: false } });
  });

  test('disables the account, and a notice changes nothing', async () => {
    await useClient(server, 'ana', 'rp');
    const before = await sessions('ana');
    await push(await set({ events: { [caep('token-claims-change')]: { claims: {} } } }));
    expect(await sessions('ana')).toBe(before);
    await push(await set({ events: { [risc('account-disabled')]: { reason: 'hijacking' } } }));
    const user = { ...params, userId: ids.ana ?? '' };
    expect((await server.admin.call(getUser, { params: user })).body?.enabled).toBe(false);
    expect(await sessions('ana')).toBe(0);
    await server.admin.call(putUser, { params: user, body: { enabled: true } });
  });

  test('of a stranger does nothing: another subject, another issuer’s, an address without permission', async () => {
    await useClient(server, 'ben', 'rp');
    await useClient(server, 'ana', 'rp');
    for (const subject of [
      { format: 'iss_sub', iss: partner.url, sub: 'ben-there' },
      { format: 'iss_sub', iss: 'https://else.example', sub: 'ana-there' },
      { format: 'iss_sub', iss: `${server.baseUrl}/realms/${REALM}`, sub: ids.ben },
      { format: 'opaque', id: ids.ben },
      { format: 'email', email: 'ben@example.com' },
      { format: 'account', uri: 'acct:ben@example.com' },
    ])
      expect((await push(await set({ subject }))).status).toBe(202);
    expect([(await sessions('ana')) > 0, (await sessions('ben')) > 0]).toEqual([true, true]);
    const [event] = await received();
    expect(event).toMatchObject({ subject: null, outcome: 'denied', data: { reaction: 'ignore' } });
  });

  test('by an address counts where the administrator permits it, for a confirmed one alone', async () => {
    const { body: all = [] } = await server.admin.call(listSignalTransmitters, { params });
    const at = { ...params, id: all[0]?.id ?? '' };
    await server.admin.call(putSignalTransmitter, { params: at, body: { matchEmail: true } });
    const subject = { format: 'email', email: 'BEN@example.com' };
    const ben = { ...params, userId: ids.ben ?? '' };
    await server.admin.call(putUser, { params: ben, body: { emailVerified: false } });
    await useClient(server, 'ben', 'rp');
    await push(await set({ subject }));
    expect(await sessions('ben')).toBeGreaterThan(0);
    await server.admin.call(putUser, { params: ben, body: { emailVerified: true } });
    await push(await set({ subject }));
    expect(await sessions('ben')).toBe(0);
    await server.admin.call(putSignalTransmitter, { params: at, body: { matchEmail: false } });
  });
});

describe('a token is refused', () => {
  const refused = async (made: Made, more: Parameters<typeof push>[1] = {}) => push(await set(made), more);

  test('unless all of it is right', async () => {
    await useClient(server, 'ana', 'rp');
    const old = Math.floor(Date.now() / 1000) - 8 * 86_400;
    expect(await refused({ header: { typ: 'JWT' } })).toEqual({ status: 400, err: 'invalid_request' });
    expect(await refused({ header: { typ: 'logout+jwt' } })).toEqual({ status: 400, err: 'invalid_request' });
    expect(await refused({ claims: { iss: 'https://else.example' } })).toEqual({ status: 400, err: 'invalid_issuer' });
    expect(await refused({ claims: { aud: 'rp' } })).toEqual({ status: 400, err: 'invalid_audience' });
    expect(await refused({ pair: strangers })).toEqual({ status: 400, err: 'invalid_key' });
    expect(await refused({ claims: { iat: old } })).toEqual({ status: 400, err: 'invalid_request' });
    expect(await refused({ claims: { iat: Date.now() / 1000 + 3600 } })).toEqual({
      status: 400,
      err: 'invalid_request',
    });
    expect(await refused({ claims: { jti: undefined } })).toEqual({ status: 400, err: 'invalid_request' });
    expect(await refused({ events: {} })).toEqual({ status: 400, err: 'invalid_request' });
    expect(await push('no token')).toEqual({ status: 400, err: 'invalid_request' });
    const [head = '', body = ''] = (await set()).split('.');
    expect(await push(`${head}.${body}.`)).toEqual({ status: 400, err: 'invalid_key' });
    const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'secevent+jwt' })).toString('base64url');
    expect(await push(`${none}.${body}.`)).toEqual({ status: 400, err: 'invalid_key' });
    expect(await sessions('ana')).toBeGreaterThan(0);
    const { body: events = [] } = await server.admin.call(listEvents, { params, query: { type: 'SIGNAL_REFUSED' } });
    expect(events[0]).toMatchObject({ outcome: 'failure', data: { transmitter: 'corp' } });
  });

  test('without the agreed header, of another realm, and by another name', async () => {
    expect(await refused({}, { headers: { authorization: 'Bearer guess' } })).toEqual({
      status: 401,
      err: 'authentication_failed',
    });
    expect((await refused({}, { realm: 'second' })).status).toBe(404);
    expect((await refused({}, { name: 'corp2' })).status).toBe(404);
    expect((await refused({}, { headers: { 'content-type': 'application/jwt' } })).status).toBe(400);
  });

  test('if the issuer’s document calls itself by another name', async () => {
    partner.answer = async (request) =>
      request.url.startsWith('/.well-known')
        ? serves(strangers)({ url: '/.well-known/ssf-configuration' })
        : serves(strangers)(request);
    const body = {
      name: 'liar',
      issuer: `${partner.url}/tenant`,
      reactions: { sessionRevoked: 'endSessions' as const },
    };
    await server.admin.call(createSignalTransmitter, { params, body });
    const jwt = await set({ claims: { iss: body.issuer }, pair: strangers });
    expect(await push(jwt, { name: 'liar' })).toEqual({ status: 400, err: 'invalid_key' });
  });

  test('a verification says only that the stream works', async () => {
    const events = { [ssf('verification')]: { state: 'x' } };
    expect(await push(await set({ events, subject: { format: 'opaque', id: 'stream' } }))).toEqual({
      status: 202,
      err: undefined,
    });
    expect((await received())[0]).toMatchObject({ outcome: 'success', data: { reaction: 'ignore' } });
  });
});

test('the server creates its stream at the transmitter, keeps it up to date, and deletes it', async () => {
  const asked: { method: string; url: string; body: Record<string, unknown>; token: unknown }[] = [];
  let theirs: Record<string, unknown> | undefined;
  partner.answer = async (request) => {
    if (!request.url.startsWith('/streams'))
      return serves(keys, { configuration_endpoint: `${partner.url}/streams` })(request);
    const body = request.raw.length > 0 ? JSON.parse(String(request.raw)) : {};
    asked.push({ method: request.method, url: request.url, body, token: request.headers.authorization });
    if (request.method === 'DELETE') return { status: 204 };
    if (request.method === 'PUT' && body.stream_id !== theirs?.stream_id) return { status: 404 };
    theirs = { ...body, stream_id: 'theirs-1', aud: ['realm-at-partner'] };
    return { status: request.method === 'POST' ? 201 : 200, body: JSON.stringify(theirs) };
  };
  const body = {
    name: 'managed',
    issuer: partner.url,
    reactions: { sessionRevoked: 'endSessions' as const, accountEnabled: 'ignore' as const },
    secret: SECRET,
    accessToken: 'a token of the transmitter',
  };
  const { body: made } = await server.admin.call(createSignalTransmitter, { params, body });
  const at = { ...params, id: made?.id ?? '' };
  expect(made).toMatchObject({ secret: null, accessToken: null, accessTokenSet: true });
  await expect(server.admin.call(getSignalConnection, { params: at })).rejects.toMatchObject({ status: 404 });
  const { body: connection } = await server.admin.call(connectSignalTransmitter, { params: at });
  expect(connection).toMatchObject({ streamId: 'theirs-1', audience: 'realm-at-partner', pollUrl: null });
  expect(asked).toMatchObject([
    {
      method: 'POST',
      token: 'Bearer a token of the transmitter',
      body: {
        delivery: {
          method: 'urn:ietf:rfc:8935',
          endpoint_url: `${server.baseUrl}/realms/${REALM}/ssf/events/managed`,
          authorization_header: SECRET,
        },
        events_requested: [caep('session-revoked')],
      },
    },
  ]);
  // the transmitter's own audience counts from now on
  expect((await push(await set({ claims: { aud: 'realm-at-partner' } }), { name: 'managed' })).status).toBe(202);
  await server.admin.call(connectSignalTransmitter, { params: at });
  expect(asked.at(-1)).toMatchObject({ method: 'PUT', body: { stream_id: 'theirs-1' } });
  await server.admin.call(disconnectSignalTransmitter, { params: at });
  expect(asked.at(-1)).toMatchObject({ method: 'DELETE', url: '/streams?stream_id=theirs-1' });
  await expect(server.admin.call(getSignalConnection, { params: at })).rejects.toMatchObject({ status: 404 });
  // a stream of another issuer is none
  partner.answer = async (request) =>
    request.url.startsWith('/streams')
      ? { status: 201, body: JSON.stringify({ stream_id: 'theirs-2', iss: 'https://evil.example' }) }
      : serves(keys, { configuration_endpoint: `${partner.url}/streams` })(request);
  await expect(server.admin.call(connectSignalTransmitter, { params: at })).rejects.toMatchObject({ status: 409 });
  await expect(server.admin.call(getSignalConnection, { params: at })).rejects.toMatchObject({ status: 404 });
  // a token is never sent to another issuer
  await expect(
    server.admin.call(putSignalTransmitter, { params: at, body: { issuer: 'https://evil.example' } }),
  ).rejects.toMatchObject({ status: 400 });
});

test('a transmitter that does not push is asked, and told what arrived', async () => {
  const waiting = new Map<string, string>([
    ['good', await set({ claims: { jti: 'good' } })],
    ['bad', await set({ claims: { jti: 'bad', aud: 'else' } })],
  ]);
  const asked: { ack: string[]; setErrs: Record<string, { err: string }> }[] = [];
  partner.answer = async (request) => {
    if (request.url !== '/poll') return serves(keys)(request);
    const body = JSON.parse(String(request.raw));
    asked.push(body);
    for (const jti of [...body.ack, ...Object.keys(body.setErrs)]) waiting.delete(jti);
    expect(request.headers.authorization).toBe(SECRET);
    return { body: JSON.stringify({ sets: body.maxEvents === 0 ? {} : Object.fromEntries(waiting) }) };
  };
  await useClient(server, 'ana', 'rp');
  const { body: all = [] } = await server.admin.call(listSignalTransmitters, { params });
  const id = all.find(({ name }) => name === 'corp')?.id ?? '';
  const body = { delivery: 'poll' as const, pollUrl: `${partner.url}/poll`, secret: SECRET };
  await server.admin.call(putSignalTransmitter, { params: { ...params, id }, body });
  const queue = createQueue({ url: server.databaseUrl, log: () => {} });
  queue.takes([{ ...termsOf(pollTerms), concurrency: 0, run: async () => {} }]);
  await queue.enqueue(sqlOver(server.pool), POLL_JOB, [{ realm: REALM, id }]);
  await queue.stop();
  await expect.poll(() => waiting.size, { timeout: 20_000 }).toBe(0);
  expect(await sessions('ana')).toBe(0);
  expect(asked.at(-1)).toMatchObject({ ack: ['good'], setErrs: { bad: { err: 'invalid_audience' } } });
  expect((await push(await set())).status).toBe(404);
});
