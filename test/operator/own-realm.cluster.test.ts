// A namespace renames, splits and rearranges what declares its own realm, on a real API server: the realm stays, and what
// moves between two of its Realm resources changes hands.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KindName } from '../../operator/resource.ts';
import { listClients } from '../../server/contract/clients.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { listManagers, moveManagers } from '../../server/contract/transfer.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, type Program, startLandscape } from '../support/landscape.ts';
import { atRest, eventually, resource } from '../support/operator.ts';

const assets = await clusterAssets();
const TEAM = 'own-realm-team';
const app = (clientId: string) => ({
  clientId,
  tokenEndpointAuthMethod: 'none',
  redirectUris: [`https://${clientId}.example.com/callback`],
});

describe.skipIf(!assets.found)('a namespace that made a realm', () => {
  let land: Landscape;
  let operator: Program;
  const operatorOf = (cluster: string) => {
    const args = ['--no-leader-elect', '--namespace', 'realmkeeper', '--cluster-name', cluster];
    return land.operatorLike(cluster, { args });
  };
  beforeAll(async () => {
    land = await startLandscape();
    operator = operatorOf('own');
    await Promise.all([land.server.start(), operator.start()]);
    await land.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: TEAM } });
  });
  afterAll(() => land?.stop());

  const realm = (name: string, of: string, spec: object = {}) =>
    resource('Realm', name, { realm: of, ...spec }, { namespace: TEAM });
  const says = (name: string, reason: string, kind: KindName = 'Realm') =>
    eventually(async () => {
      const { metadata, status: { conditions = [] } = {} } = await land.object(kind, name, TEAM);
      const found = conditions.find((c) => c.reason === reason && c.observedGeneration === metadata.generation);
      if (!found) throw new Error(`${name} says ${JSON.stringify(conditions)}, not ${reason}`);
      return found.message;
    });
  const createdAt = async (of: string) => (await land.client.call(getRealm, { params: { realm: of } })).body?.createdAt;
  const revision = async (of: string) => (await land.client.call(getRealm, { params: { realm: of } })).body?.revision;
  const clients = async (of: string) =>
    (await land.client.call(listClients, { params: { realm: of } })).body?.map(({ clientId }) => clientId).sort();
  const ownerOf = async (of: string, clientId: string) =>
    (await land.client.call(listManagers, { params: { realm: of } })).body
      ?.find(({ owns }) => owns.some(({ kind, key }) => kind === 'client' && key === clientId))
      ?.manager.split('/')
      .at(-1);
  const drop = (name: string) => land.kubectl('delete', 'realm', name, '-n', TEAM, '--timeout=120s');

  test('renames its Realm resource, the new one first or the old one first, and the realm stays', async () => {
    const settings = { displayName: 'Ours' };
    await land.apply(realm('old', 'renamed', { settings, clients: [app('web')], deletionPolicy: 'Delete' }));
    await says('old', 'Applied');
    const made = await createdAt('renamed');
    await land.apply(realm('new', 'renamed', { settings, clients: [app('web')] }));
    expect(await says('new', 'Conflict')).toContain(`${TEAM}/Realm/old`);
    await drop('old');
    await says('new', 'Applied');
    await drop('new');
    await land.apply(realm('newest', 'renamed', { settings, clients: [app('web')] }));
    await says('newest', 'Applied');
    expect([await createdAt('renamed'), await clients('renamed'), await ownerOf('renamed', 'web')]).toEqual([
      made,
      ['web'],
      'newest',
    ]);
  });

  test('holds parts of it by several Realm resources, and one that goes takes its own part alone', async () => {
    await land.apply(
      realm('settings', 'split', {
        settings: { displayName: 'Split' },
        clients: [app('base')],
        deletionPolicy: 'Delete',
      }),
      realm('shop', 'split', { clients: [app('shop')], deletionPolicy: 'Delete' }),
      realm('back', 'split', { clients: [app('back')], deletionPolicy: 'Delete' }),
    );
    for (const name of ['settings', 'shop', 'back']) await says(name, 'Applied');
    expect(await clients('split')).toEqual(['back', 'base', 'shop']);
    const made = await createdAt('split');
    await drop('settings');
    expect([await createdAt('split'), await clients('split')]).toEqual([made, ['back', 'shop']]);
    for (const name of ['shop', 'back']) await says(name, 'Applied');
    expect((await land.client.call(getSettings, { params: { realm: 'split' } })).body?.displayName).not.toBeUndefined();
  });

  test('moves a client between them: a conflict until the first lets it go, then taken; and both at once', async () => {
    await land.apply(realm('from', 'moved', { clients: [app('base'), app('web')] }), realm('to', 'moved'));
    await says('from', 'Applied');
    await says('to', 'Applied');
    await land.apply(realm('to', 'moved', { clients: [app('web')] }));
    expect(await says('to', 'Conflict')).toContain(`client web is managed by`);
    await atRest(() => revision('moved'));
    await land.apply(realm('from', 'moved', { clients: [app('base')] }));
    await says('to', 'Applied');
    await says('from', 'Applied');
    expect([await ownerOf('moved', 'web'), await ownerOf('moved', 'base')]).toEqual(['to', 'from']);
    await land.apply(
      realm('from', 'moved', { clients: [app('base'), app('web')] }),
      realm('to', 'moved', { clients: [app('other')] }),
    );
    await says('from', 'Applied');
    await says('to', 'Applied');
    await atRest(() => revision('moved'));
    expect([await ownerOf('moved', 'web'), await ownerOf('moved', 'other')]).toEqual(['from', 'to']);
  });

  test('finds all of it after its cluster was rebuilt, once an administrator has moved what the old one owned', async () => {
    await operator.kill();
    operator = operatorOf('one');
    await operator.start();
    const hook = resource(
      'Webhook',
      'rebuilt',
      { realm: 'rebuilt', url: 'https://a.example.com/', eventTypes: ['*'] },
      { namespace: TEAM },
    );
    await land.apply(realm('rebuilt', 'rebuilt', { clients: [app('web')] }), hook);
    await says('rebuilt', 'Applied');
    await says('rebuilt', 'Applied', 'Webhook');
    const made = await createdAt('rebuilt');
    await operator.kill();
    operator = operatorOf('two');
    await operator.start();
    const way = 'realmctl managers move k8s:one k8s:two';
    expect(await says('rebuilt', 'RealmExists')).toContain(
      `the same resource on the cluster one: if this cluster is in`,
    );
    expect(await says('rebuilt', 'RealmExists')).toContain(way);
    await land.client.call(moveManagers, { body: { from: 'k8s:one', to: 'k8s:two' } });
    await says('rebuilt', 'Applied');
    await says('rebuilt', 'Applied', 'Webhook');
    const { body = [] } = await land.client.call(listManagers, { params: { realm: 'rebuilt' } });
    expect(body.map(({ manager }) => manager)).toEqual([
      `k8s:two/${TEAM}/Realm/rebuilt`,
      `k8s:two/${TEAM}/Webhook/rebuilt`,
    ]);
    expect(await createdAt('rebuilt')).toBe(made);
  });
});
