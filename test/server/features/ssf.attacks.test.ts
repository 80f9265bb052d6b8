// Streams under attack: a stream tells of no other realm's people, reaches no address that the server guards, and tells of a user's
// changes in their order. SSF 1.0 §8.1.2, §10; RFC 8935 §5.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  deleteSignalStream,
  listSignalReceivers,
  listSignalStreams,
} from '../../../server/contract/signal-receivers.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser, deleteUser, putUser, setPassword } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { startReceiver } from '../../support/receiver.ts';
import { REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import {
  ALL_EVENTS,
  caep,
  createReceiverOf,
  makeSignals,
  names,
  POLL,
  PUSH,
  receiverToken,
  risc,
  verified,
} from '../../support/signals.ts';

const NEIGHBOUR = 'neighbour';
let server: TestServer;
let https: Awaited<ReturnType<typeof startReceiver>>;
let ids: Record<string, string>;
/** Of the first realm, and of a client with the same id and secret in the neighbouring realm. */
let app: ReturnType<typeof createReceiverOf>;
let near: ReturnType<typeof createReceiverOf>;
const there = { realm: NEIGHBOUR };
const here = { realm: REALM };
const changed = caep('credential-change');

async function neighbourToken(): Promise<string> {
  const form = { grant_type: 'client_credentials', scope: 'ssf.manage' };
  return String((await post(server, NEIGHBOUR, 'token', form, { authorization: basic('app') })).body.access_token);
}

beforeAll(async () => {
  https = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: https.caFile }, retryDelaysSeconds: [0] });
  ids = await makeSignals(server, [{ clientId: 'app', subjects: 'all', formats: ['iss_sub', 'email', 'scim'] }]);
  await makeRealm(server, NEIGHBOUR);
  const clientScopes = [{ name: 'ssf.manage' }];
  await server.admin.call(importRealm, { params: there, body: { clientScopes } });
  await makeClient(server, NEIGHBOUR, {
    clientId: 'app',
    secret: SECRET,
    grantTypes: ['client_credentials'],
    optionalClientScopes: ['ssf.manage'],
  });
  const signalReceivers = [
    { clientId: 'app', events: ALL_EVENTS, subjects: 'all' as const, formats: ['iss_sub' as const, 'email' as const] },
  ];
  await server.admin.call(importRealm, { params: there, body: { signalReceivers } });
  app = createReceiverOf(server, await receiverToken(server, 'app'));
  near = createReceiverOf(server, await neighbourToken(), NEIGHBOUR);
});
afterAll(async () => {
  await server?.stop();
  await https?.stop();
});
beforeEach(() => {
  https.received.length = 0;
  https.answer = () => ({ status: 202 });
});

const push = (more: { authorization_header?: string } = {}) => ({
  delivery: { method: PUSH, endpoint_url: `${https.url}/events`, ...more },
});
const setAnasPassword = () =>
  server.admin.call(setPassword, { params: { ...here, userId: ids.ana ?? '' }, body: { password: PASSWORD } });

describe('a neighbouring realm', () => {
  test('tells nothing of its people to a client of the same name, and is told nothing', async () => {
    const body = { username: 'ana', email: 'ana@example.com', emailVerified: true, password: PASSWORD };
    const ana = (await server.admin.call(createUser, { params: there, body })).body?.id ?? '';
    const mine = await app.create();
    const theirs = await near.create();
    await server.admin.call(setPassword, { params: { ...there, userId: ana }, body: { password: PASSWORD } });
    await server.admin.call(putUser, { params: { ...there, userId: ana }, body: { enabled: false } });
    await server.admin.call(deleteUser, { params: { ...there, userId: ana } });
    const told = await near.until(theirs, (set) => names(set).includes(risc('account-purged')));
    expect(told.map(({ sub_id }) => sub_id.sub)).not.toContain(ids.ana);
    await setAnasPassword();
    const own = await app.until(mine, (set) => names(set).includes(changed));
    expect(own.filter(({ sub_id }) => sub_id.sub === ana)).toEqual([]);
    expect(new Set(own.map(({ iss }) => iss))).toEqual(new Set([`${server.baseUrl}/realms/${REALM}`]));
    expect((await near.poll(theirs)).sets).toEqual({});
    await app.call('DELETE', `streams?stream_id=${mine}`);
    await near.call('DELETE', `streams?stream_id=${theirs}`);
  });

  test('lends no token and no stream: each is of one realm', async () => {
    const id = await app.create();
    const crossed = createReceiverOf(server, await neighbourToken());
    expect((await crossed.call('GET', 'streams')).status).toBe(401);
    expect((await crossed.call('POST', `streams/${id}/poll`, {})).status).toBe(401);
    for (const [method, path, body] of [
      ['GET', `streams?stream_id=${id}`],
      ['DELETE', `streams?stream_id=${id}`],
      ['POST', `streams/${id}/poll`, {}],
      ['POST', 'status', { stream_id: id, status: 'disabled' }],
      ['POST', 'verification', { stream_id: id }],
    ] as const)
      expect([path, (await near.call(method, path, body)).status]).toEqual([path, 404]);
    expect((await near.call('GET', 'streams')).body).toEqual([]);
    const { body: receivers = [] } = await server.admin.call(listSignalReceivers, { params: here });
    const at = { ...there, id: receivers[0]?.id ?? '' };
    const missing = { status: 404 };
    await expect(server.admin.call(listSignalStreams, { params: at })).rejects.toMatchObject(missing);
    const stream = { ...at, streamId: id };
    await expect(server.admin.call(deleteSignalStream, { params: stream })).rejects.toMatchObject(missing);
    expect((await app.call('GET', `status?stream_id=${id}`)).body.status).toBe('enabled');
    await app.call('DELETE', `streams?stream_id=${id}`);
  });

  test('keeps its people out of a stream’s subjects, by whatever name', async () => {
    const id = await near.create();
    for (const subject of [
      { format: 'iss_sub', iss: `${server.baseUrl}/realms/${NEIGHBOUR}`, sub: ids.ana },
      { format: 'iss_sub', iss: `${server.baseUrl}/realms/${REALM}`, sub: ids.ana },
      { format: 'opaque', id: ids.ana },
      { format: 'email', email: 'ben@example.com' },
    ])
      expect((await near.call('POST', 'subjects/add', { stream_id: id, subject })).status).toBe(200);
    expect((await server.pool.query('select from signal_stream_subject')).rows).toEqual([]);
    await near.call('DELETE', `streams?stream_id=${id}`);
  });
});

describe('a stream', () => {
  test('to a private address is never dialled, and its row says why', async () => {
    const guarded = await startTestServer({ env: { SVC_OUTBOUND_ALLOW: '' }, retryDelaysSeconds: [] });
    try {
      await makeSignals(guarded, [{ clientId: 'app', subjects: 'all' }]);
      const receiver = createReceiverOf(guarded, await receiverToken(guarded, 'app'));
      const { body } = await receiver.call('POST', 'streams', push({ authorization_header: 'Bearer theirs' }));
      await receiver.call('POST', 'verification', { stream_id: body.stream_id });
      const failed = async () =>
        (await guarded.pool.query(`select error from signal_set where status = 'dead'`)).rows.map(({ error }) => error);
      await expect
        .poll(failed, { timeout: 20_000 })
        .toEqual([expect.stringContaining('127.0.0.1 does not answer, or is at no public address')]);
      expect(https.received).toEqual([]);
    } finally {
      await guarded.stop();
    }
  });

  test('follows no redirect, which would take its header along', async () => {
    https.answer = () => ({ status: 307, headers: { location: `${https.url}/else` } });
    const { body } = await app.call('POST', 'streams', push({ authorization_header: 'Bearer theirs' }));
    await app.call('POST', 'verification', { stream_id: body.stream_id });
    await expect.poll(() => https.received.length, { timeout: 20_000 }).toBe(2);
    expect(new Set(https.received.map(({ url }) => url))).toEqual(new Set(['/events']));
    await app.call('DELETE', `streams?stream_id=${body.stream_id}`);
  });

  test('takes no header along to a new address', async () => {
    const { body } = await app.call('POST', 'streams', push({ authorization_header: 'Bearer theirs' }));
    const delivery = { method: PUSH, endpoint_url: `${https.url}/evil` };
    await app.call('PATCH', 'streams', { stream_id: body.stream_id, delivery });
    await app.call('POST', 'verification', { stream_id: body.stream_id });
    await expect.poll(() => https.received.length, { timeout: 20_000 }).toBe(1);
    expect(https.received[0]?.url).toBe('/evil');
    expect(https.received[0]?.headers).not.toHaveProperty('authorization');
    await app.call('DELETE', `streams?stream_id=${body.stream_id}`);
  });

  test('is fetched where the receiver names no way, and pushed once it names an address', async () => {
    const { status, body } = await app.call('POST', 'streams', {});
    expect([status, body.delivery.method]).toEqual([201, POLL]);
    await app.call('POST', 'verification', { stream_id: body.stream_id, state: 'waits' });
    await app.call('PATCH', 'streams', { stream_id: body.stream_id, ...push() });
    await expect.poll(() => https.received.length, { timeout: 20_000 }).toBe(1);
    const set = await verified(server, String(https.received[0]?.raw));
    expect(Object.values(set.events)).toEqual([{ state: 'waits' }]);
    await app.call('DELETE', `streams?stream_id=${body.stream_id}`);
  });

  test('that was paused tells of each user in the order of the changes', async () => {
    const { body } = await app.call('POST', 'streams', {
      ...push(),
      events_requested: [risc('account-disabled'), risc('account-enabled')],
    });
    await app.call('POST', 'status', { stream_id: body.stream_id, status: 'paused' });
    for (const enabled of [false, true, false, true, false, true])
      for (const name of ['ana', 'ben'])
        await server.admin.call(putUser, { params: { ...here, userId: ids[name] ?? '' }, body: { enabled } });
    const waiting = async () =>
      (await server.pool.query(`select from signal_set where stream_id = $1 and user_id is not null`, [body.stream_id]))
        .rows.length;
    await expect.poll(waiting, { timeout: 20_000 }).toBeGreaterThanOrEqual(2);
    await expect
      .poll(async () => (await server.pool.query('select from signal_source')).rows.length, { timeout: 20_000 })
      .toBe(0);
    const expected = await waiting();
    // The first is answered last: a second one sent beside it would overtake it.
    https.answer = () => ({ status: 202, afterMs: https.received.length === 1 ? 400 : 0 });
    await app.call('POST', 'status', { stream_id: body.stream_id, status: 'enabled' });
    const arrived = async () => {
      const sets = await Promise.all(https.received.map(({ raw }) => verified(server, String(raw))));
      return sets.filter(({ jti }, nth) => sets.findIndex((one) => one.jti === jti) === nth);
    };
    await expect.poll(async () => (await arrived()).length, { timeout: 20_000 }).toBe(expected + 2);
    const sets = await arrived();
    for (const name of ['ana', 'ben']) {
      const jtis = sets.filter(({ sub_id }) => sub_id.sub === ids[name]).map(({ jti }) => jti);
      expect(jtis).toEqual(jtis.toSorted());
    }
    await app.call('DELETE', `streams?stream_id=${body.stream_id}`);
  });
});
