// Two servers in one cluster, each with its operator: each looks at its own resources alone, and an unknown server is told.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ABANDON, FINALIZER } from '../../operator/resource.ts';
import type { Client } from '../../server/contract/client.ts';
import { listClients } from '../../server/contract/clients.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { listManagers } from '../../server/contract/transfer.ts';
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
    const added = land.kubectl('patch', 'realm', 'home', '--type=merge', '-p', '{"spec":{"serverRef":"eu"}}');
    await expect(added).rejects.toThrow('neither added nor taken away');
    const taken = land.kubectl('patch', 'realm', 'away', '--type=merge', '-p', '{"spec":{"serverRef":null}}');
    await expect(taken).rejects.toThrow('neither added nor taken away');
  });

  test('what a resource of another server declares is neither handed to it nor in its way', async () => {
    const app = (clientId: string) => ({
      clientId,
      tokenEndpointAuthMethod: 'none',
      redirectUris: ['https://app.example.com/'],
    });
    const part = (name: string, clients: string[], more: object = {}) =>
      resource('Realm', name, { realm: 'shared', clients: clients.map(app), ...more });
    await land.apply(part('elsewhere', ['web'], { serverRef: 'none' }));
    await says('Realm', 'elsewhere', 'ServerUnknown');
    await land.apply(part('here', ['web', 'base']));
    await says('Realm', 'here', 'Applied');
    await land.apply(part('here', ['base']));
    const params = { realm: 'shared' };
    await eventually(async () => {
      const { body = [] } = await land.client.call(listClients, { params });
      expect(body.map(({ clientId }) => clientId)).not.toContain('web');
    });
    const { body = [] } = await land.client.call(listManagers, { params });
    expect(body.map(({ manager }) => manager.split('/').at(-1))).toEqual(['here']);
  });

  test('what is deleted while its server has no operator waits, and says the way out, which works', async () => {
    const left = resource('Realm', 'left', { realm: 'left', serverRef: 'none' });
    await land.apply({ ...left, metadata: { ...left.metadata, finalizers: [FINALIZER] } });
    await land.kubectl('delete', 'realm', 'left', '--wait=false');
    expect((await says('Realm', 'left', 'ServerUnknown')).message).toContain(`${ABANDON}=true`);
    await land.kubectl('annotate', 'realm', 'left', `${ABANDON}=true`);
    await eventually(async () => await expect(land.object('Realm', 'left')).rejects.toThrow('not found'));
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
