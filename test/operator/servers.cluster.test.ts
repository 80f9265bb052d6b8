// Two servers in one cluster, each with its operator: each looks at its own resources alone, and an unknown server is told.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../server/contract/client.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { listWebhooks } from '../../server/contract/webhooks.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { landscape } from '../support/landscape.ts';
import { atRest, eventually, OPERATOR_SECRET, resource } from '../support/operator.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const assets = await clusterAssets();

describe.skipIf(!assets.found)('operators of two servers', () => {
  const land = landscape();
  let eu: TestServer;
  const operatorOf = (name: string) =>
    land.operatorLike(name, {
      args: ['--no-leader-elect', '--server-name', name],
      env: { SVC_SERVER_URL: eu.baseUrl },
    });
  beforeAll(async () => {
    eu = await startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET } });
    await operatorOf('eu').start();
  });
  afterAll(() => eu?.stop());

  const says = (kind: 'Realm' | 'Webhook', name: string, reason: string) =>
    eventually(async () => {
      const { metadata, status } = await land.object(kind, name);
      const { conditions = [] } = Object(status);
      const found = conditions.find((c: { reason: string }) => c.reason === reason);
      if (!found) throw new Error(`${name} says ${JSON.stringify(conditions)}, not ${reason}`);
      return { metadata, ...found };
    });
  const isThere = async (client: Client, realm: string) =>
    client.call(getRealm, { params: { realm } }).then(
      () => true,
      () => false,
    );
  const hook = (name: string, realm: string, more: object = {}) =>
    resource('Webhook', name, {
      realm,
      url: 'https://receiver.example.com/',
      eventTypes: ['KEY_DELETED'],
      ...more,
    });

  test('each makes what is its own, and all rests', async () => {
    await land.apply(
      resource('Realm', 'home', { realm: 'home' }),
      resource('Realm', 'away', { realm: 'away', serverRef: 'eu', deletionPolicy: 'Delete' }),
      hook('home', 'home'),
      hook('away', 'away', { serverRef: 'eu' }),
    );
    for (const name of ['home', 'away']) {
      await says('Realm', name, 'Applied');
      await says('Webhook', name, 'Applied');
    }
    expect([await isThere(land.client, 'home'), await isThere(land.client, 'away')]).toEqual([true, false]);
    expect([await isThere(eu.admin, 'home'), await isThere(eu.admin, 'away')]).toEqual([false, true]);
    const { body = [] } = await eu.admin.call(listWebhooks, { params: { realm: 'away' } });
    expect(body.map(({ name }) => name)).toEqual(['away']);
    const versions = async () =>
      Promise.all(['home', 'away'].map(async (name) => (await land.object('Realm', name)).metadata.resourceVersion));
    await atRest(versions);
  });

  test('a realm of one server lets nobody in at the other, and the server of a resource stays', async () => {
    await land.apply(hook('stray', 'away'));
    await says('Webhook', 'stray', 'RealmNotDeclared');
    const moved = land.kubectl('patch', 'realm', 'away', '--type=merge', '-p', '{"spec":{"serverRef":"us"}}');
    await expect(moved).rejects.toThrow('serverRef is immutable');
  });

  test('a server that no operator answers for is told, without a finalizer, until one does', async () => {
    await land.apply(resource('Realm', 'nowhere', { realm: 'nowhere', serverRef: 'us' }));
    const { type, message, metadata } = await says('Realm', 'nowhere', 'ServerUnknown');
    expect([type, message]).toEqual(['Reconciling', expect.stringContaining('an operator that serves us')]);
    expect(metadata).not.toHaveProperty('finalizers');
    expect([await isThere(land.client, 'nowhere'), await isThere(eu.admin, 'nowhere')]).toEqual([false, false]);
    await operatorOf('us').start();
    await says('Realm', 'nowhere', 'Applied');
    expect(await isThere(eu.admin, 'nowhere')).toBe(true);
    await atRest(async () => (await land.object('Realm', 'nowhere')).metadata.resourceVersion);
    await says('Realm', 'nowhere', 'Applied');
  });

  test('what goes, goes at its own server', async () => {
    await land.kubectl('delete', 'realm', 'away', '--timeout=120s');
    expect([await isThere(eu.admin, 'away'), await isThere(land.client, 'home')]).toEqual([false, true]);
  });
});
