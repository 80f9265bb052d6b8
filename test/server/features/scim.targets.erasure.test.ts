// Whoever is erased while they are on their way to a SCIM target does not stay there, and does not come back here.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { createScimTarget, getScimTarget, reconcileScimTarget } from '../../../server/contract/scim-targets.ts';
import { createUser } from '../../../server/contract/users.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const soon = { timeout: 60_000 };
let server: TestServer;
let receiver: Receiver;
let made = 0;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile } });
});
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});

async function realmWithTarget() {
  made += 1;
  const params = { realm: `erased${made}` };
  await server.admin.call(createRealm, { body: params });
  receiver.received.length = 0;
  const { body } = await server.admin.call(createScimTarget, {
    params,
    body: { name: 'wiki', url: `${receiver.url}/scim` },
  });
  return { params, id: body?.id ?? '' };
}
const links = async (realm: string) =>
  (await server.pool.query('select object_id from scim_link where realm_id = $1', [realm])).rows.map(
    ({ object_id }) => object_id,
  );

test('while the target makes them: they are removed there once it has', async () => {
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  receiver.answer = async ({ method, url }) => {
    if (method === 'DELETE') return { status: 204 };
    if (method === 'POST' && url.endsWith('/Users')) {
      await held;
      return { status: 201, body: JSON.stringify({ id: 'there-1' }) };
    }
    return { status: 200, body: JSON.stringify({ totalResults: 0, Resources: [] }) };
  };
  const { params } = await realmWithTarget();
  const { body } = await server.admin.call(createUser, { params, body: { username: 'eve' } });
  const posts = () => receiver.received.filter(({ method }) => method === 'POST');
  await expect.poll(() => posts().length, soon).toBe(1);
  await server.admin.call(eraseUser, { params: { ...params, userId: body?.id ?? '' } });
  answer();
  const removed = () => receiver.received.filter(({ method }) => method === 'DELETE').map(({ url }) => url);
  await expect.poll(removed, soon).toEqual(['/scim/Users/there-1']);
  await expect.poll(() => links(params.realm), soon).toEqual([]);
});

test('while everything is marked to be sent: their id does not come back', async () => {
  receiver.answer = () => ({ status: 503 });
  const { params, id } = await realmWithTarget();
  const { body } = await server.admin.call(createUser, { params, body: { username: 'eve' } });
  const userId = body?.id ?? '';
  const status = async () => (await server.admin.call(getScimTarget, { params: { ...params, id } })).body?.status;
  // It is left alone for a while then.
  await expect.poll(async () => (await status())?.lastError, soon).toMatch(/503/);
  const eraser = await server.pool.connect();
  try {
    await eraser.query('begin');
    await eraser.query('select from realm_user where id = $1 for update', [userId]);
    await eraser.query('delete from scim_link where object_id = $1', [userId]);
    await eraser.query('delete from realm_user where id = $1', [userId]);
    let ended = false;
    const reconciled = server.admin.call(reconcileScimTarget, { params: { ...params, id }, query: {} }).finally(() => {
      ended = true;
    });
    const waiting = async () =>
      ended ||
      (
        await server.pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      ).rows.length > 0;
    await expect.poll(waiting, soon).toBe(true);
    await eraser.query('commit');
    await reconciled;
  } finally {
    eraser.release();
  }
  expect(await links(params.realm)).not.toContain(userId);
});
