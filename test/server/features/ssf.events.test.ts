// Events of Shared Signals: what a receiver is told of which people, by which names, and what it never learns. CAEP 1.0, RISC 1.0.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import { endClientSessions } from '../../../server/contract/sessions.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser, deleteUser, putUser, setPassword } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { claimsIn } from '../../support/clients.ts';
import { startReceiver } from '../../support/receiver.ts';
import { REALM, requestPath } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import {
  caep,
  createReceiverOf,
  eventOf,
  makeSignals,
  names,
  PUSH,
  receiverToken,
  risc,
  type SetClaims,
  useClient,
  verified,
} from '../../support/signals.ts';

let server: TestServer;
let https: Awaited<ReturnType<typeof startReceiver>>;
let ids: Record<string, string>;
let app: ReturnType<typeof createReceiverOf>;
let other: ReturnType<typeof createReceiverOf>;
/** A stream of `app`, which may know people who have used it, and one of `other`, which may know all. */
let streams: { app: string; complex: string; email: string; other: string };
const params = { realm: REALM };
const user = (name: string) => ({ ...params, userId: ids[name] ?? '' });

beforeAll(async () => {
  https = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: https.caFile }, retryDelaysSeconds: [0, 0] });
  ids = await makeSignals(server, [
    { clientId: 'app', formats: ['iss_sub', 'email', 'complex'] },
    { clientId: 'other', subjects: 'all', formats: ['iss_sub'] },
  ]);
  app = createReceiverOf(server, await receiverToken(server, 'app'));
  other = createReceiverOf(server, await receiverToken(server, 'other'));
  streams = {
    app: await app.create(),
    complex: await app.create({ format: 'complex' }),
    email: await app.create({ format: 'email' }),
    other: await other.create(),
  };
  await useClient(server, 'ana', 'app');
});
afterAll(async () => {
  await server?.stop();
  await https?.stop();
});
beforeEach(async () => {
  for (const id of [streams.app, streams.complex, streams.email]) await app.drain(id);
  await other.drain(streams.other);
});

const issuer = () => `${server.baseUrl}/realms/${REALM}`;
const isAbout = (name: string) => (set: SetClaims) => JSON.stringify(set.sub_id).includes(ids[name] ?? '');
const has = (uri: string) => (set: SetClaims) => names(set).includes(uri);
async function makeUser(username: string) {
  const body = { username, email: `${username}@example.com`, emailVerified: true, password: PASSWORD };
  ids[username] = (await server.admin.call(createUser, { params, body })).body?.id ?? '';
}

describe('a receiver', () => {
  test('is told of a changed password, with its cause, by the name that it asked for', async () => {
    await server.admin.call(setPassword, { params: user('ana'), body: { password: PASSWORD } });
    const uri = caep('credential-change');
    const set = (await app.until(streams.app, has(uri))).find(has(uri));
    expect(set).toMatchObject({
      iss: issuer(),
      aud: 'app',
      sub_id: { format: 'iss_sub', iss: issuer(), sub: ids.ana },
    });
    expect(set).not.toHaveProperty('sub');
    expect(set).not.toHaveProperty('exp');
    expect(eventOf(set, uri)).toMatchObject({
      credential_type: 'password',
      change_type: 'update',
      initiating_entity: 'admin',
      event_timestamp: expect.any(Number),
    });
    const byEmail = (await app.until(streams.email, has(uri))).find(has(uri));
    expect(byEmail?.sub_id).toEqual({ format: 'email', email: 'ana@example.com' });
    await useClient(server, 'ana', 'app');
  });

  test('is told of people who have used its client alone, unless it may know all', async () => {
    await server.admin.call(setPassword, { params: user('ben'), body: { password: PASSWORD } });
    await server.admin.call(setPassword, { params: user('ana'), body: { password: PASSWORD } });
    const uri = caep('credential-change');
    const told = await other.until(streams.other, (set) => has(uri)(set) && isAbout('ana')(set));
    expect(told.some(isAbout('ben'))).toBe(true);
    const mine = await app.until(streams.app, has(uri));
    expect(mine.some(isAbout('ben'))).toBe(false);
    await useClient(server, 'ana', 'app');
  });

  test('is told of sessions that its client has, and by a user’s name of the end of all', async () => {
    const first = await useClient(server, 'ana', 'app');
    const { sid } = claimsIn(first.idToken);
    await useClient(server, 'ana', 'app');
    await useClient(server, 'ana', 'rp');
    await first.person.post(`/realms/${REALM}/oauth2/logout`, { id_token_hint: first.idToken });
    const uri = caep('session-revoked');
    const one = (await app.until(streams.complex, has(uri))).filter(has(uri));
    expect(one.map(({ sub_id }) => sub_id)).toContainEqual({
      format: 'complex',
      user: { format: 'iss_sub', iss: issuer(), sub: ids.ana },
      session: { format: 'opaque', id: sid },
    });
    // another session of the client goes on: the name of the user alone would end it, too
    expect((await app.drain(streams.app)).filter(has(uri))).toEqual([]);
    await server.admin.call(endClientSessions, { params, query: { clientId: 'app' } });
    const all = (await app.until(streams.app, has(uri))).filter(has(uri));
    expect(all[0]?.sub_id).toEqual({ format: 'iss_sub', iss: issuer(), sub: ids.ana });
    // the session of `rp` is none of the receiver's
    expect((await app.drain(streams.complex)).filter(has(uri)).length).toBeLessThanOrEqual(3);
  });

  test('is told of an account that is disabled, enabled and deleted, and of a new address', async () => {
    await makeUser('cara');
    await useClient(server, 'cara', 'app');
    await server.admin.call(putUser, { params: user('cara'), body: { email: 'new@example.com' } });
    const changed = (await app.until(streams.app, has(risc('identifier-changed')))).find(
      has(risc('identifier-changed')),
    );
    expect(changed?.sub_id).toEqual({ format: 'email', email: 'cara@example.com' });
    expect(eventOf(changed, risc('identifier-changed'))).toMatchObject({ 'new-value': 'new@example.com' });
    // `other` has no addresses, so it is not told of one
    expect((await other.drain(streams.other)).some(has(risc('identifier-changed')))).toBe(false);
    await server.admin.call(putUser, { params: user('cara'), body: { enabled: false } });
    await app.until(streams.app, (set) => has(risc('account-disabled'))(set) && isAbout('cara')(set));
    await server.admin.call(putUser, { params: user('cara'), body: { enabled: true } });
    await app.until(streams.app, (set) => has(risc('account-enabled'))(set) && isAbout('cara')(set));
    await server.admin.call(deleteUser, { params: user('cara') });
    const purged = (await app.until(streams.app, has(risc('account-purged')))).find(has(risc('account-purged')));
    expect(purged?.sub_id).toEqual({ format: 'iss_sub', iss: issuer(), sub: ids.cara });
    const byEmail = (await app.until(streams.email, has(risc('account-purged')))).find(has(risc('account-purged')));
    expect(byEmail?.sub_id).toEqual({ format: 'email', email: 'new@example.com' });
    expect((await other.until(streams.other, has(risc('account-purged')))).some(isAbout('cara'))).toBe(true);
    const { rows } = await server.pool.query('select from signal_person where user_id = $1', [ids.cara]);
    expect(rows).toEqual([]);
  });

  test('is told of an erased user, of whom nothing else is left', async () => {
    await makeUser('dora');
    await useClient(server, 'dora', 'app');
    await server.admin.call(setPassword, { params: user('dora'), body: { password: PASSWORD } });
    await server.admin.call(eraseUser, { params: user('dora') });
    await app.until(streams.app, (set) => has(risc('account-purged'))(set) && isAbout('dora')(set));
    const { rows } = await server.pool.query(
      `select event from signal_set where user_id = $1 and status = 'pending' union select 'person' from signal_person where user_id = $1`,
      [ids.dora],
    );
    expect(new Set(rows.map(({ event }) => event))).toEqual(new Set(['account-purged']));
  });

  test('is told that a session which goes on has reached another level', async () => {
    await makeUser('ella');
    const { person } = await useClient(server, 'ella', 'app');
    const page = await person.open(requestPath({ client_id: 'app', acr_values: '2' }));
    expect(page.heading).toBe('Set up a second factor');
    await person.fill(page, { code: codeAt(secretOn(page)) });
    const uri = caep('assurance-level-change');
    const set = (await app.until(streams.app, has(uri))).find(has(uri));
    expect(eventOf(set, uri)).toMatchObject({
      namespace: issuer(),
      previous_level: '1',
      current_level: '2',
      change_direction: 'increase',
      initiating_entity: 'user',
    });
    // the app that was set up is a changed credential
    const changed = caep('credential-change');
    const more = await app.until(streams.email, has(changed));
    expect(eventOf(more.find(has(changed)), changed)).toMatchObject({ credential_type: 'app', change_type: 'create' });
  });

  test('is told of changed claims that its client gets, and of no others', async () => {
    await useClient(server, 'ana', 'app');
    await app.drain(streams.app);
    await server.admin.call(putUser, {
      params: user('ana'),
      body: { firstName: 'Anna', attributes: { secret: ['x'] } },
    });
    const uri = caep('token-claims-change');
    const set = (await app.until(streams.app, has(uri))).find(has(uri));
    expect(eventOf(set, uri)?.claims).toMatchObject({ given_name: 'Anna' });
    expect(JSON.stringify(set)).not.toContain('secret');
    expect(eventOf(set, uri)?.claims).not.toHaveProperty('realm_access');
  });
});

test('SCIM’s events name people by their SCIM id, for a receiver that may have it', async () => {
  const uri = 'urn:ietf:params:scim:event:prov:';
  const events = ['scim-create' as const, 'scim-patch' as const, 'scim-deactivate' as const, 'scim-delete' as const];
  const body = {
    signalReceivers: [{ clientId: 'stranger', events, subjects: 'all' as const, formats: ['scim' as const] }],
  };
  await server.admin.call(importRealm, { params, body });
  const scim = createReceiverOf(server, await receiverToken(server, 'stranger'));
  const stream = await scim.create();
  await makeUser('finn');
  await server.admin.call(putUser, { params: user('finn'), body: { firstName: 'Finn' } });
  await server.admin.call(putUser, { params: user('finn'), body: { enabled: false } });
  await server.admin.call(deleteUser, { params: user('finn') });
  // Each event is delivered by itself: the last one may come before another.
  const sets: SetClaims[] = [];
  for (const name of ['create:notice', 'patch:notice', 'deactivate', 'delete'])
    if (!sets.some(has(`${uri}${name}`))) sets.push(...(await scim.until(stream, has(`${uri}${name}`))));
  expect(sets.every(({ sub_id }) => sub_id.uri === `/Users/${ids.finn}`)).toBe(true);
  expect(eventOf(sets.find(has(`${uri}patch:notice`)), `${uri}patch:notice`)).toEqual({ attributes: ['name'] });
  expect((await other.drain(streams.other)).some((set) => names(set).some((name) => name.startsWith(uri)))).toBe(false);
});

describe('subjects', () => {
  test('are removed and added again, and the answer is the same for strangers', async () => {
    const remove = (subject: object) => app.call('POST', 'subjects/remove', { stream_id: streams.app, subject });
    const add = (subject: object) => app.call('POST', 'subjects/add', { stream_id: streams.app, subject });
    const ana = { format: 'iss_sub', iss: issuer(), sub: ids.ana };
    for (const stranger of [
      { format: 'iss_sub', iss: issuer(), sub: ids.ben },
      { format: 'iss_sub', iss: 'https://else.example', sub: ids.ana },
      { format: 'opaque', id: 'nobody' },
      { format: 'email', email: 'nobody@example.com' },
    ]) {
      const { status, body } = await add(stranger);
      expect([status, body]).toEqual([200, undefined]);
    }
    const { rows } = await server.pool.query('select from signal_stream_subject');
    expect(rows).toEqual([]);
    expect((await remove({ format: 'complex', user: ana })).status).toBe(204);
    const uri = caep('credential-change');
    await server.admin.call(setPassword, { params: user('ana'), body: { password: PASSWORD } });
    await app.until(streams.email, has(uri));
    expect((await app.drain(streams.app)).some(has(uri))).toBe(false);
    expect((await add({ format: 'email', email: 'ANA@example.com' })).status).toBe(200);
    await server.admin.call(setPassword, { params: user('ana'), body: { password: PASSWORD } });
    await app.until(streams.app, has(uri));
    await useClient(server, 'ana', 'app');
  });
});

describe('a pushed token', () => {
  test('is sent with the receiver’s header, tried again, and given up where the receiver refuses it', async () => {
    https.received.length = 0;
    https.answer = () => ({ status: https.received.length === 1 ? 503 : 202 });
    const delivery = { method: PUSH, endpoint_url: `${https.url}/events`, authorization_header: 'Bearer theirs' };
    const { body } = await app.call('POST', 'streams', { delivery, events_requested: [caep('credential-change')] });
    await server.admin.call(setPassword, { params: user('ana'), body: { password: PASSWORD } });
    await expect.poll(() => https.received.length, { timeout: 20_000 }).toBe(2);
    const [first, second] = https.received;
    expect(second?.headers).toMatchObject({
      authorization: 'Bearer theirs',
      'content-type': 'application/secevent+jwt',
    });
    const [a, b] = await Promise.all([first, second].map((one) => verified(server, String(one?.raw))));
    expect(a?.jti).toBe(b?.jti);
    expect(names(b as SetClaims)).toEqual([caep('credential-change')]);
    https.received.length = 0;
    https.answer = () => ({ status: 400, body: JSON.stringify({ err: 'invalid_audience', description: 'not ours' }) });
    await server.admin.call(setPassword, { params: user('ana'), body: { password: PASSWORD } });
    const dead = async () =>
      (
        await server.pool.query(`select attempts, error from signal_set where stream_id = $1 and status = 'dead'`, [
          body.stream_id,
        ])
      ).rows;
    await expect.poll(dead, { timeout: 20_000 }).toEqual([{ attempts: 1, error: 'invalid_audience: not ours' }]);
    // paused: it waits; enabled again: it goes out
    https.received.length = 0;
    https.answer = () => ({ status: 202 });
    await app.call('POST', 'status', { stream_id: body.stream_id, status: 'paused' });
    await server.admin.call(setPassword, { params: user('ana'), body: { password: PASSWORD } });
    await app.until(streams.email, has(caep('credential-change')));
    expect(https.received).toEqual([]);
    await app.call('POST', 'status', { stream_id: body.stream_id, status: 'enabled' });
    await expect.poll(() => https.received.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(2);
    await app.call('DELETE', `streams?stream_id=${body.stream_id}`);
  });
});
