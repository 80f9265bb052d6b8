import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProblem } from '../../../server/contract/client.ts';
import { createClient, deleteClient } from '../../../server/contract/clients.ts';
import { EventTypeName, getEvent, listEvents, listEventTypes } from '../../../server/contract/events.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { leastIdAt, newId } from '../../../server/crypto/ids.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { administrator } from '../../support/administrators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: 'events' };
const user = newId();
let server: TestServer;

/** Ten sign-ins of the past: every third one failed, every second one was the user's. */
beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: params });
  const sql = sqlOver(server.pool);
  for (let i = 0; i < 10; i += 1) {
    const actor = { type: 'user', id: i % 2 === 0 ? user : newId(), name: 'someone' };
    const at = new Date(1_000_000 + i * 1000);
    await sql`
      insert into event (realm_id, id, type, occurred_at, actor, client_id, outcome, data)
      values (${params.realm}, ${leastIdAt(at)}, ${i % 3 === 0 ? 'LOGIN_FAILURE' : 'LOGIN_SUCCESS'}, ${at},
        ${JSON.stringify(actor)}::jsonb, ${i < 5 ? 'shop' : 'desk'}, ${i % 3 === 0 ? 'failure' : 'success'}, '{}')`;
  }
});
afterAll(() => server.stop());

const list = (query: Record<string, unknown>) => server.admin.call(listEvents, { params, query });
const count = async (query: Record<string, unknown>) => (await list(query)).body?.length;
const signIns = 'LOGIN_SUCCESS,LOGIN_FAILURE';

test('what happened is there at once, newest first, with who did it from where', async () => {
  await server.admin.call(putSettings, { params, body: { rememberMe: true } });
  const [newest] = (await list({})).body ?? [];
  expect(newest).toMatchObject({
    type: 'SETTINGS_UPDATED',
    realmId: params.realm,
    actor: { type: 'user', name: 'admin' },
    ipAddress: '127.0.0.1',
    outcome: 'success',
  });
  const ids = (await list({})).body?.map((event) => event.id) ?? [];
  expect(ids).toEqual([...ids].sort().reverse());
});

test('one event is read by its id, in its own realm alone', async () => {
  const [event] = (await list({ limit: 1 })).body ?? [];
  const at = (id: string, realm = params.realm) => ({ params: { realm, id } });
  expect((await server.admin.call(getEvent, at(event?.id ?? ''))).body).toEqual(event);
  await expect(server.admin.call(getEvent, at(event?.id ?? '', 'master'))).rejects.toMatchObject({ status: 404 });
  await expect(server.admin.call(getEvent, at(newId()))).rejects.toMatchObject({ status: 404 });
  const other = await administrator(server, { target: params.realm, permissions: ['users:read'] });
  await expect(other.call(getEvent, at(event?.id ?? ''))).rejects.toMatchObject({ status: 403 });
});

test('a client that acts for itself is found by its name and by its UUID, after its deletion too', async () => {
  const body = {
    clientId: 'robot',
    grantTypes: ['client_credentials' as const],
    secret: 'a long enough secret of its own',
  };
  const { id = '' } = (await server.admin.call(createClient, { params, body })).body ?? {};
  const token = await fetch(`${server.baseUrl}/realms/${params.realm}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'robot', client_secret: body.secret }),
  });
  expect(token.status).toBe(200);
  await expect.poll(() => count({ actor: 'robot' })).toBe(1);
  expect(await count({ actor: id })).toBe(1);
  expect(await count({ actor: id, type: 'LOGOUT' })).toBe(0);
  await server.admin.call(deleteClient, { params: { ...params, id } });
  expect(await count({ actor: 'robot' })).toBe(1);
  expect(await count({ actor: id })).toBe(1);
});

test('every filter narrows, and together they narrow further', async () => {
  expect(await count({ type: signIns })).toBe(10);
  expect(await count({ type: 'LOGIN_FAILURE' })).toBe(4);
  expect(await count({ outcome: 'failure' })).toBe(4);
  expect(await count({ clientId: 'shop' })).toBe(5);
  expect(await count({ userId: user })).toBe(5);
  expect(await count({ userId: user, clientId: 'shop', outcome: 'failure' })).toBe(1);
  expect(await count({ userId: newId() })).toBe(0);
  expect(await count({ actor: user })).toBe(5);
  expect(await count({ actor: 'someone' })).toBe(10);
  expect(await count({ actor: 'someone', type: 'LOGIN_FAILURE', to: 1_005_000 })).toBe(2);
  expect(await count({ actor: 'nobody' })).toBe(0);
  expect(await count({ subject: params.realm, actor: 'admin' })).toBeGreaterThanOrEqual(1);
  expect(await count({ subject: 'nothing' })).toBe(0);
  expect(await count({ ipAddress: '127.0.0.1', actor: 'admin' })).toBeGreaterThanOrEqual(1);
  expect(await count({ ipAddress: '192.0.2.1' })).toBe(0);
});

test('a span of time includes its beginning and not its end', async () => {
  expect(await count({ from: 1_002_000, to: 1_005_000 })).toBe(3);
  expect(await count({ to: 1_000_000 })).toBe(0);
  expect(await count({ type: signIns, from: 1_009_000 })).toBe(1);
});

test('an event that was kept while the database was away is found by the time at which it was written', async () => {
  const [began, written] = [new Date('2020-01-01T00:00:00Z'), new Date('2020-01-01T20:00:00Z')];
  await sqlOver(server.pool)`
    insert into event (realm_id, id, type, occurred_at, outcome)
    values (${params.realm}, ${leastIdAt(began)}, 'LOGIN_SUCCESS', ${written}, 'success')`;
  const [from, to] = [written.getTime(), written.getTime() + 1];
  expect(await count({ from, to })).toBe(1);
  expect(await count({ from: from - 1, to: from })).toBe(0);
});

test.each([
  ['a user', { type: 'user', id: newId(), name: 'ann' }],
  ['an agent', { type: 'agent', id: newId(), name: 'courier' }],
  ['a client', { type: 'client', id: newId(), name: 'till' }],
  ['a workload without an id', { type: 'workload', id: null, name: 'system:serviceaccount:shop:till' }],
  ['somebody without a name', { type: 'client', id: newId(), name: null }],
])('%s is found as who did it and as whom it was done to, by id and by name, each event once', async (_, party) => {
  const sql = sqlOver(server.pool);
  const other = JSON.stringify({ type: 'user', id: newId(), name: 'other' });
  const said = JSON.stringify(party);
  for (const [actor, subject] of [
    [said, other],
    [other, said],
    [said, said],
  ])
    await sql`
      insert into event (realm_id, id, type, occurred_at, actor, subject, outcome)
      values (${params.realm}, ${newId()}, 'USER_UPDATED', now(), ${actor}::jsonb, ${subject}::jsonb, 'success')`;
  for (const word of [party.id, party.name].filter((one) => one !== null)) {
    expect(await count({ actor: word })).toBe(2);
    expect(await count({ subject: word })).toBe(2);
    expect(await count({ actor: word, subject: word })).toBe(1);
    expect(await count({ actor: word, subject: 'other', outcome: 'success' })).toBe(1);
    expect(await count({ actor: word, outcome: 'failure' })).toBe(0);
  }
  if (party.type === 'user') expect(await count({ userId: party.id })).toBe(3);
});

test('texts of any length are logged', async () => {
  const long = Array.from({ length: 600 }, newId).join('');
  const party = JSON.stringify({ type: 'workload', id: long, name: long });
  await sqlOver(server.pool)`
    insert into event (realm_id, id, type, occurred_at, actor, subject, client_id, ip_address, outcome)
    values (${params.realm}, ${newId()}, 'TOKEN_REFUSED', now(), ${party}::jsonb, ${party}::jsonb, ${long}, ${long}, 'failure')`;
  expect(await count({ type: 'TOKEN_REFUSED', outcome: 'failure' })).toBe(1);
  for (const filter of ['actor', 'subject', 'clientId']) expect(await count({ [filter]: long.slice(0, 255) })).toBe(0);
});

test('pages of a filter that several indexes answer follow each other without gap or repetition', async () => {
  const word = newId();
  for (let i = 0; i < 7; i += 1) {
    const party = JSON.stringify({ type: i % 2 === 0 ? 'user' : 'client', id: word, name: i % 3 === 0 ? word : 'x' });
    await sqlOver(server.pool)`
      insert into event (realm_id, id, type, occurred_at, actor, outcome)
      values (${params.realm}, ${newId()}, 'USER_UPDATED', now(), ${party}::jsonb, 'success')`;
  }
  const all = (await list({ actor: word })).body?.map((event) => event.id) ?? [];
  expect(all).toHaveLength(7);
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const answer = await list({ actor: word, limit: 2, ...(cursor ? { cursor } : {}) });
    seen.push(...(answer.body ?? []).map((event) => event.id));
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  expect(seen).toEqual(all);
});

test('pages follow each other without gap or repetition, while new events come in', async () => {
  const all = (await list({ type: signIns })).body?.map((event) => event.id);
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const answer = await list({ type: signIns, limit: 3, ...(cursor ? { cursor } : {}) });
    seen.push(...(answer.body ?? []).map((event) => event.id));
    await server.admin.call(putSettings, { params, body: { accessTokenTtlSeconds: 60 + seen.length } });
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  expect(seen).toEqual(all);
});

test.each([
  [{ type: 'LOGIN_SUCCESS,NO_SUCH' }, 'type'],
  [{ cursor: 'nonsense' }, 'cursor'],
  [{ cursor: Buffer.from('["x"]').toString('base64url') }, 'cursor'],
  [{ limit: 1001 }, 'limit'],
  [{ from: 1e17 }, 'from'],
  [{ from: -1e15 }, 'from'],
  [{ userId: 'me' }, 'userId'],
  [{ since: 5 }, 'since'],
])('%j is a 400 that names it', async (query, field) => {
  const problem = await list(query).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(problem instanceof ServerProblem)) throw new Error('not refused');
  expect(problem.status).toBe(400);
  expect(problem.problem?.errors?.map((error) => error.path)).toEqual([field]);
});

test("another realm's events are not shown", async () => {
  const other = { realm: 'events-other' };
  await server.admin.call(createRealm, { body: other });
  const { body } = await server.admin.call(listEvents, { params: other });
  expect(body?.map((event) => event.type)).toEqual(['REALM_CREATED']);
});

test('the types are those of the registry', async () => {
  expect((await server.admin.call(listEventTypes, { params })).body).toEqual(EventTypeName.options);
});
