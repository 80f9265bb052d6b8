import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { createWebhook } from '../../../server/contract/webhooks.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { createTransact } from '../../../server/db/transact.ts';
import { createEventBatch } from '../../../server/events/batch.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { webhookConsumer } from '../../../server/features/configuration/webhooks/consumer.ts';
import { makeRealm } from '../../support/clients.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const ask = (realm: string, parameters: Record<string, string>) =>
  fetch(`${server.baseUrl}/realms/${realm}/oauth2/token`, { method: 'POST', body: new URLSearchParams(parameters) });

const refused = async (realm: string, clientId: string) => {
  for (;;) {
    const { body: events = [] } = await server.admin.call(listEvents, {
      params: { realm },
      query: { type: 'TOKEN_REFUSED' },
    });
    const found = events.find((event) => event.clientId === clientId);
    if (found) return found;
    await sleep(50);
  }
};

test('a stranger whose words are cut in the middle of a character cannot stop the audit log', async () => {
  // What is kept of the name and the grant type ends with half of the last character.
  await ask('master', { client_id: `${'a'.repeat(254)}😀`, grant_type: `${'a'.repeat(99)}😀` });
  await ask('master', { client_id: 'next', grant_type: 'client_credentials' });
  expect(await refused('master', 'next')).toMatchObject({ outcome: 'failure' });
});

test('an event that the database refuses for good holds up no other', async () => {
  const { pool, admin } = server;
  const lost: number[] = [];
  const outbox = createOutbox({ now: () => new Date(), newId, consumers: [webhookConsumer], enqueue: async () => {} });
  const batch = createEventBatch({
    transact: createTransact({ pool, outbox, committed: () => {}, strict: true }),
    newId,
    failed: (_, count) => void lost.push(count),
  });
  for (const clientId of ['one', 'with\0', 'two'])
    batch.record({ type: 'TOKEN_REFUSED', realm: 'master', by: { actor: null, ipAddress: null }, clientId });
  await batch.stop();
  const { body: events = [] } = await admin.call(listEvents, { params: { realm: 'master' } });
  expect(events.map((event) => event.clientId)).toEqual(expect.arrayContaining(['one', 'two']));
  expect(lost).toEqual([1]);
});

test('events of a realm that is locked are written when it is free, also where the server stops meanwhile', async () => {
  const { pool, admin, databaseUrl } = server;
  const failures: unknown[] = [];
  const enqueue = async () => {};
  const batch = createEventBatch({
    transact: createTransact({
      pool,
      outbox: createOutbox({ now: () => new Date(), newId, consumers: [webhookConsumer], enqueue }),
      committed: () => {},
      strict: true,
    }),
    newId,
    failed: (error) => void failures.push(error),
  });
  for (const realm of ['locked', 'free']) {
    await makeRealm(server, realm);
    await admin.call(createWebhook, {
      params: { realm },
      body: { name: 'ear', url: 'https://127.0.0.1:1/', eventTypes: '*', enabled: true },
    });
  }
  const happen = (realm: string, clientId: string) =>
    batch.record({ type: 'TOKEN_REFUSED', realm, by: { actor: null, ipAddress: null }, clientId });
  const written = async (realm: string) =>
    ((await admin.call(listEvents, { params: { realm }, query: { type: 'TOKEN_REFUSED' } })).body ?? []).map(
      ({ clientId }) => clientId,
    );
  const stopped = await connectedCluster(databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(`select from webhook where realm_id = 'locked' for update`);
    // One that the database never takes is among them.
    for (const clientId of ['one', 'with\0', 'two']) for (const realm of ['locked', 'free']) happen(realm, clientId);
    await expect.poll(() => written('free')).toHaveLength(2);
    const stopping = batch.stop();
    await sleep(200);
    expect(await written('locked')).toEqual([]);
    await client.query('rollback');
    return stopping;
  });
  expect(stopped).toBeUndefined();
  expect((await written('locked')).sort()).toEqual(['one', 'two']);
  expect(failures).toHaveLength(2);
});
