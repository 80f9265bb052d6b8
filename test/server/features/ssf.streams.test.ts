// Streams of Shared Signals: how receivers create, change and end them, and what other clients try with them. SSF 1.0 §8.1.
import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import {
  deleteSignalStream,
  listSignalReceivers,
  listSignalStreams,
  putSignalReceiver,
} from '../../../server/contract/signal-receivers.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { newVerifier } from '../../support/applications.ts';
import { makeClient, post } from '../../support/clients.ts';
import { REALM, RP, signedIn } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import {
  caep,
  createReceiverOf,
  makeSignals,
  POLL,
  PUSH,
  receiverToken,
  risc,
  verified,
} from '../../support/signals.ts';

let server: TestServer;
let app: ReturnType<typeof createReceiverOf>;
let other: ReturnType<typeof createReceiverOf>;
let now = Date.now();
const params = { realm: REALM };

beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(now) });
  await makeSignals(server, [
    { clientId: 'app', events: ['session-revoked', 'credential-change'], formats: ['iss_sub', 'email'] },
    { clientId: 'other', audience: 'https://other.example.com', formats: ['opaque'] },
  ]);
  app = createReceiverOf(server, await receiverToken(server, 'app'));
  other = createReceiverOf(server, await receiverToken(server, 'other'));
});
afterAll(() => server?.stop());

test('the metadata names the endpoints, in both places', async () => {
  const at = `${server.baseUrl}/realms/${REALM}`;
  const expected = {
    spec_version: '1_0',
    issuer: at,
    jwks_uri: `${at}/oauth2/jwks`,
    delivery_methods_supported: [PUSH, POLL],
    configuration_endpoint: `${at}/ssf/streams`,
    status_endpoint: `${at}/ssf/status`,
    add_subject_endpoint: `${at}/ssf/subjects/add`,
    remove_subject_endpoint: `${at}/ssf/subjects/remove`,
    verification_endpoint: `${at}/ssf/verification`,
    authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
  };
  for (const url of [
    `${at}/.well-known/ssf-configuration`,
    `${server.baseUrl}/.well-known/ssf-configuration/realms/${REALM}`,
  ])
    expect(await (await fetch(url)).json()).toEqual(expected);
});

describe('a stream', () => {
  test('has the events that are permitted and requested, and is read, changed, replaced and deleted', async () => {
    const requested = [caep('session-revoked'), risc('account-purged'), 'urn:example:unknown'];
    const made = await app.call('POST', 'streams', {
      delivery: { method: POLL },
      events_requested: requested,
      format: 'email',
      description: 'Sessions',
    });
    const { stream_id: id } = made.body;
    const stream = {
      stream_id: id,
      iss: `${server.baseUrl}/realms/${REALM}`,
      aud: 'app',
      delivery: { method: POLL, endpoint_url: `${server.baseUrl}/realms/${REALM}/ssf/streams/${id}/poll` },
      events_supported: [caep('credential-change'), caep('session-revoked')],
      events_requested: requested,
      events_delivered: [caep('session-revoked')],
      format: 'email',
      min_verification_interval: 60,
      description: 'Sessions',
    };
    expect([made.status, made.body]).toEqual([201, stream]);
    expect((await app.call('GET', `streams?stream_id=${id}`)).body).toEqual(stream);
    expect((await app.call('GET', 'streams')).body).toEqual([stream]);
    const patched = await app.call('PATCH', 'streams', {
      stream_id: id,
      iss: stream.iss,
      aud: ['app'],
      description: 'Mine',
    });
    expect([patched.status, patched.body]).toEqual([200, { ...stream, description: 'Mine' }]);
    for (const wrong of [
      { iss: 'https://evil.example' },
      { aud: 'other' },
      { events_delivered: [] },
      { format: 'opaque' },
    ])
      expect((await app.call('PATCH', 'streams', { stream_id: id, ...wrong })).status).toBe(400);
    const replaced = await app.call('PUT', 'streams', { stream_id: id, delivery: { method: POLL } });
    expect(replaced.body).toMatchObject({ format: 'iss_sub', events_delivered: stream.events_supported });
    expect(replaced.body).not.toHaveProperty('description');
    expect((await app.call('DELETE', `streams?stream_id=${id}`)).status).toBe(204);
    expect((await app.call('GET', 'streams')).body).toEqual([]);
    expect((await app.call('GET', `streams?stream_id=${id}`)).status).toBe(404);
  });

  test('is refused to ask for another subject format, a plain address or an unknown way', async () => {
    const push = (endpoint_url: string) => ({ delivery: { method: PUSH, endpoint_url } });
    for (const body of [
      { delivery: { method: POLL }, format: 'opaque' },
      { delivery: { method: POLL }, format: 'phone' },
      push('http://receiver.example.com/events'),
      { delivery: { method: PUSH } },
      { delivery: { method: 'urn:ietf:rfc:9999' } },
      { delivery: { ...push('https://r.example.com').delivery, authorization_header: 'Bearer a\r\nX: b' } },
    ])
      expect([body, (await app.call('POST', 'streams', body)).status]).toEqual([body, 400]);
  });

  test('is pushed by the drafts’ name of the way, and the answer never has the secret', async () => {
    const method = 'https://schemas.openid.net/secevent/risc/delivery-method/push';
    const delivery = {
      method,
      endpoint_url: 'https://receiver.example.com/events',
      authorization_header: 'Bearer hidden',
    };
    const { status, body } = await app.call('POST', 'streams', { delivery });
    expect([status, body.delivery]).toEqual([201, { method, endpoint_url: delivery.endpoint_url }]);
    const { body: receivers = [] } = await server.admin.call(listSignalReceivers, { params });
    const id = receivers.find(({ clientId }) => clientId === 'app')?.id ?? '';
    const shown = await server.admin.call(listSignalStreams, { params: { ...params, id } });
    expect(shown.body).toMatchObject([{ id: body.stream_id, method: 'push', status: 'enabled', waiting: 0 }]);
    expect(JSON.stringify(shown.body)).not.toContain('hidden');
    const { body: events = [] } = await server.admin.call(listEvents, {
      params,
      query: { type: 'SIGNAL_STREAM_CREATED' },
    });
    expect(events[0]).toMatchObject({ clientId: 'app', data: { streamId: body.stream_id, method: 'push' } });
    await server.admin.call(deleteSignalStream, { params: { ...params, id, streamId: body.stream_id } });
    expect((await app.call('GET', 'streams')).body).toEqual([]);
  });

  test('is one of ten at most', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => other.create()));
    expect((await other.call('POST', 'streams', { delivery: { method: POLL } })).status).toBe(409);
    for (const id of ids) await other.call('DELETE', `streams?stream_id=${id}`);
  });
});

describe('a caller', () => {
  test('is a receiver with the scope, by a token of this realm', async () => {
    const stream = { delivery: { method: POLL } };
    const as = async (token: string) => (await createReceiverOf(server, token).call('POST', 'streams', stream)).status;
    expect(await as('')).toBe(401);
    expect(await as('nothing')).toBe(401);
    expect(await as(await receiverToken(server, 'stranger'))).toBe(403);
    const reading = createReceiverOf(server, await receiverToken(server, 'app', 'ssf.read'));
    expect((await reading.call('GET', 'streams')).status).toBe(200);
    const refused = await reading.call('POST', 'streams', stream);
    expect([refused.status, refused.body.error]).toEqual([403, 'insufficient_scope']);
    expect(
      await createReceiverOf(server, await receiverToken(server, 'app'), 'master').call('GET', 'streams'),
    ).toMatchObject({
      status: 401,
    });
  });

  test('is no client without a secret, whose users all have its tokens', async () => {
    await makeClient(server, REALM, {
      clientId: 'spa',
      tokenEndpointAuthMethod: 'none',
      redirectUris: [RP],
      optionalClientScopes: ['ssf.manage'],
    });
    const body = { signalReceivers: [{ clientId: 'spa', events: ['session-revoked' as const] }] };
    await server.admin.call(importRealm, { params, body });
    const code_verifier = newVerifier();
    const code_challenge = hash('sha256', code_verifier, 'base64url');
    const asked = { client_id: 'spa', scope: 'openid ssf.manage', code_challenge, code_challenge_method: 'S256' };
    const { answer } = await signedIn(server, asked);
    const form = { grant_type: 'authorization_code', code: answer.code ?? '', redirect_uri: RP, client_id: 'spa' };
    const { body: tokens } = await post(server, REALM, 'token', { ...form, code_verifier });
    expect(String(tokens.scope).split(' ')).toContain('ssf.manage');
    const refused = await createReceiverOf(server, String(tokens.access_token)).call('GET', 'streams');
    expect([refused.status, refused.body.error]).toEqual([403, 'access_denied']);
  });

  test('never reaches another receiver’s stream', async () => {
    const id = await other.create();
    expect((await app.call('GET', `streams?stream_id=${id}`)).status).toBe(404);
    expect((await app.call('PATCH', 'streams', { stream_id: id, description: 'mine' })).status).toBe(404);
    expect((await app.call('PUT', 'streams', { stream_id: id, delivery: { method: POLL } })).status).toBe(404);
    expect((await app.call('DELETE', `streams?stream_id=${id}`)).status).toBe(404);
    expect((await app.call('GET', `status?stream_id=${id}`)).status).toBe(404);
    expect((await app.call('POST', 'status', { stream_id: id, status: 'disabled' })).status).toBe(404);
    expect((await app.call('POST', 'verification', { stream_id: id })).status).toBe(404);
    expect((await app.call('POST', `streams/${id}/poll`, {})).status).toBe(404);
    const subject = { format: 'email', email: 'ana@example.com' };
    expect((await app.call('POST', 'subjects/add', { stream_id: id, subject })).status).toBe(404);
    expect((await app.call('GET', 'streams')).body).toEqual([]);
    expect((await other.call('GET', `streams?stream_id=${id}`)).body.description).toBeUndefined();
    await other.call('DELETE', `streams?stream_id=${id}`);
  });
});

describe('a verification', () => {
  test('brings its state as a signed token about the stream, once in a minute', async () => {
    const id = await other.create();
    const ask = (state?: string) => other.call('POST', 'verification', { stream_id: id, ...(state && { state }) });
    expect((await ask('a word')).status).toBe(204);
    const { sets } = await other.poll(id);
    const [[jti, jwt] = ['', '']] = Object.entries(sets);
    const set = await verified(server, jwt);
    expect(set).toEqual({
      iss: `${server.baseUrl}/realms/${REALM}`,
      aud: 'https://other.example.com',
      jti,
      iat: Math.floor(now / 1000),
      sub_id: { format: 'opaque', id },
      events: { 'https://schemas.openid.net/secevent/ssf/event-type/verification': { state: 'a word' } },
    });
    const early = await ask();
    expect([early.status, early.body.error]).toEqual([429, 'slow_down']);
    now += 61_000;
    expect((await ask()).status).toBe(204);
    await other.call('DELETE', `streams?stream_id=${id}`);
  });
});

describe('a poll', () => {
  test('repeats tokens until they are acknowledged, and forgets those that the receiver refuses', async () => {
    const id = await other.create();
    for (const state of ['1', '2', '3']) {
      now += 61_000;
      await other.call('POST', 'verification', { stream_id: id, state });
    }
    const first = await other.poll(id, { maxEvents: 2 });
    expect([Object.keys(first.sets).length, first.moreAvailable]).toEqual([2, true]);
    expect(Object.keys((await other.poll(id, { maxEvents: 2 })).sets)).toEqual(Object.keys(first.sets));
    const [ack = '', refused = ''] = Object.keys(first.sets);
    const rest = await other.poll(id, { ack: [ack, 'no-id'], setErrs: { [refused]: { err: 'invalid_key' } } });
    expect([Object.keys(rest.sets).length, rest.moreAvailable]).toEqual([1, false]);
    await other.poll(id, { ack: Object.keys(rest.sets), maxEvents: 0 });
    expect(await other.poll(id)).toEqual({ sets: {}, moreAvailable: false });
    const { body: receivers = [] } = await server.admin.call(listSignalReceivers, { params });
    const receiver = receivers.find(({ clientId }) => clientId === 'other')?.id ?? '';
    const { body: shown } = await server.admin.call(listSignalStreams, { params: { ...params, id: receiver } });
    expect(shown).toMatchObject([{ id, waiting: 0, failed: 1, lastError: 'invalid_key' }]);
    await other.call('DELETE', `streams?stream_id=${id}`);
  });

  test('waits for a token unless the receiver wants the answer at once', async () => {
    const id = await other.create();
    const waiting = other.poll(id, { returnImmediately: false });
    now += 61_000;
    await other.call('POST', 'verification', { stream_id: id, state: 'awaited' });
    expect(Object.keys((await waiting).sets)).toHaveLength(1);
    await other.call('DELETE', `streams?stream_id=${id}`);
  });

  test('gets nothing while the stream is paused, and everything after it', async () => {
    const id = await other.create();
    const status = async (wanted: string) =>
      (await other.call('POST', 'status', { stream_id: id, status: wanted })).body;
    expect(await status('paused')).toEqual({ stream_id: id, status: 'paused' });
    now += 61_000;
    await other.call('POST', 'verification', { stream_id: id, state: 'later' });
    expect((await other.poll(id)).sets).toEqual({});
    expect((await other.call('GET', `status?stream_id=${id}`)).body).toEqual({ stream_id: id, status: 'paused' });
    await status('enabled');
    const states = (await other.drain(id)).flatMap(({ events }) =>
      Object.values(events).map((e) => e.state ?? e.status),
    );
    expect(states).toEqual(['paused', 'later', 'enabled']);
    await status('disabled');
    expect((await other.poll(id)).sets).toEqual({});
    await other.call('DELETE', `streams?stream_id=${id}`);
  });
});

test('a receiver that is disabled has no streams, and those of a deleted client are gone', async () => {
  const id = await other.create();
  const { body: receivers = [] } = await server.admin.call(listSignalReceivers, { params });
  const receiver = receivers.find(({ clientId }) => clientId === 'other')?.id ?? '';
  await server.admin.call(putSignalReceiver, { params: { ...params, id: receiver }, body: { enabled: false } });
  expect((await other.call('GET', `streams?stream_id=${id}`)).status).toBe(403);
  await server.admin.call(putSignalReceiver, { params: { ...params, id: receiver }, body: { enabled: true } });
  expect((await other.call('GET', `streams?stream_id=${id}`)).status).toBe(200);
});
