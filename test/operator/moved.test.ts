// What moves from one resource of a namespace to another changes hands: it keeps its id and its secret, in any order.
import { expect, test } from 'vitest';
import type { AnyKind } from '../../operator/kinds/kind.ts';
import { realm } from '../../operator/kinds/realm.ts';
import { managerOf, resourceOf } from '../../operator/resource.ts';
import { createHandOver } from '../../operator/runtime/hand-over.ts';
import { createClientSecret, getClientSecret, listClients } from '../../server/contract/clients.ts';
import { listEvents } from '../../server/contract/events.ts';
import { importRealm, listManagers, type RealmDocument } from '../../server/contract/transfer.ts';
import { listWebhooks } from '../../server/contract/webhooks.ts';
import { CLUSTER, eventually, operatorSite, resource } from '../support/operator.ts';

const site = operatorSite({ name: 'moved' });
const params = () => ({ realm: site.realm });
type App = NonNullable<RealmDocument['clients']>[number];
const app = (clientId: string): App => ({ clientId, grantTypes: ['client_credentials'] });
const part = (name: string, ...clientIds: string[]) =>
  resource('Realm', name, { realm: site.realm, clients: clientIds.map(app), deletionPolicy: 'Delete' });
const client = async (clientId: string) =>
  (await site.server.admin.call(listClients, { params: params() })).body?.find((one) => one.clientId === clientId);
/** `client web` → whose it is. */
const owner = async (name: string) => {
  const { body = [] } = await site.server.admin.call(listManagers, { params: params() });
  return body
    .find(({ owns }) => owns.some(({ kind, key }) => `${kind} ${key}` === name))
    ?.manager.split('/')
    .at(-1);
};
async function withSecret(clientId: string) {
  const { id = '' } = (await client(clientId)) ?? {};
  await site.server.admin.call(createClientSecret, { params: { ...params(), id } });
  return id;
}
async function isThe(id: string, clientId: string): Promise<void> {
  expect((await client(clientId))?.id).toBe(id);
  const { body } = await site.server.admin.call(getClientSecret, { params: { ...params(), id } });
  expect(body?.secretSet).toBe(true);
}

test('a client, declared by its new resource before the old one lets it go', async () => {
  await site.folder.write('from.yaml', part('from', 'base', 'web'));
  await site.folder.write('to.yaml', part('to', 'other'));
  const operator = await site.begin();
  await operator.ready('Realm', 'from');
  await operator.ready('Realm', 'to');
  const id = await withSecret('web');
  await site.folder.write('to.yaml', part('to', 'other', 'web'));
  await operator.says('Realm', 'to', 'Conflict');
  await site.folder.write('from.yaml', part('from', 'base'));
  await eventually(async () => expect(await owner('client web')).toBe('to'));
  await operator.ready('Realm', 'to');
  await operator.ready('Realm', 'from');
  await isThe(id, 'web');
  expect(await owner('client base')).toBe('from');
  const query = { type: 'MANAGERS_MOVED' };
  const { body = [] } = await site.server.admin.call(listEvents, { params: params(), query });
  expect(body.map(({ data }) => data)).toMatchObject([{ objects: ['client web'] }]);
});

test('a client that its old resource lets go first: what the same commit brings a moment later counts', async () => {
  const held = (name: string, clientIds: string[], status: object = { lastAppliedGeneration: 1 }) => {
    const { kind: _, metadata, ...rest } = part(name, ...clientIds);
    return resourceOf('Realm', {
      metadata: { ...metadata, namespace: 'default', uid: name, generation: 2 },
      ...rest,
      status,
    });
  };
  const from = held('from', ['base']);
  const manager = managerOf(CLUSTER, from);
  const declared = { clients: [app('base'), app('web')] };
  await site.server.admin.call(importRealm, { params: params(), query: { manager }, body: declared });
  let others = [held('to', ['other'])];
  const handOver = createHandOver({
    client: site.server.admin,
    clusterName: CLUSTER,
    kinds: new Map([['Realm', realm as AnyKind]]),
    inRealm: () => [from, ...others],
    pause: async () => {
      others = [held('to', ['other', 'web'])];
    },
    log: () => {},
  });
  expect(await handOver(from, site.realm, { going: false })).toBe(true);
  expect([await owner('client web'), await owner('client base')]).toEqual(['to', 'from']);
  // what it has let go is known by now, so that nothing is waited for again
  others = [];
  expect(await handOver(from, site.realm, { going: false })).toBe(false);
});

test('a client whose Realm resource is deleted, or renamed, and which another declares', async () => {
  await site.folder.write('base.yaml', part('base', 'base'));
  await site.folder.write('parts.yaml', part('from', 'web'));
  const operator = await site.begin();
  await operator.ready('Realm', 'from');
  const id = await withSecret('web');
  await site.folder.write('parts.yaml', part('to', 'web'));
  await operator.gone('Realm', 'from');
  await operator.ready('Realm', 'to');
  await isThe(id, 'web');
  expect(await owner('client web')).toBe('to');
});

test('a webhook whose resource is renamed, or whose name is another resource’s', async () => {
  const hook = (resourceName: string, name: string) =>
    resource('Webhook', resourceName, {
      realm: site.realm,
      name,
      url: 'https://receiver.example.com/',
      eventTypes: ['LOGIN_SUCCESS'],
    });
  const idOf = async (name: string) =>
    (await site.server.admin.call(listWebhooks, { params: params() })).body?.find((one) => one.name === name)?.id;
  await site.folder.write('realm.yaml', part('here'));
  await site.folder.write('hooks.yaml', hook('first', 'audit'), hook('second', 'sales'));
  const operator = await site.begin();
  await operator.ready('Webhook', 'first');
  await operator.ready('Webhook', 'second');
  const [audit, sales] = [await idOf('audit'), await idOf('sales')];
  await site.folder.write('hooks.yaml', hook('renamed', 'audit'), hook('second', 'sales'));
  await operator.gone('Webhook', 'first');
  await operator.ready('Webhook', 'renamed');
  expect(await idOf('audit')).toBe(audit);
  await site.folder.write('hooks.yaml', hook('renamed', 'sales'), hook('second', 'audit'));
  await operator.took('Webhook', 'renamed', { name: 'sales' });
  await operator.ready('Webhook', 'renamed');
  await operator.ready('Webhook', 'second');
  expect([await idOf('audit'), await idOf('sales')]).toEqual([audit, sales]);
  expect([await owner('webhook audit'), await owner('webhook sales')]).toEqual(['second', 'renamed']);
});

test('what a resource of another namespace declares is not handed to it', async () => {
  const hook = (name: string, namespace: string) =>
    resource(
      'Webhook',
      name,
      { realm: site.realm, name: 'audit', url: `https://${name}.example.com/`, eventTypes: ['LOGIN_SUCCESS'] },
      { namespace },
    );
  const open = resource('Realm', 'here', { realm: site.realm, allowedNamespaces: { from: 'All' } });
  await site.folder.write('realm.yaml', open);
  await site.folder.write('ours.yaml', hook('ours', 'default'));
  const operator = await site.begin();
  await operator.ready('Webhook', 'ours');
  const { body: before = [] } = await site.server.admin.call(listWebhooks, { params: params() });
  await site.folder.write('theirs.yaml', hook('theirs', 'elsewhere'));
  await operator.says('Webhook', 'theirs', 'Conflict', 'elsewhere');
  await site.folder.remove('ours.yaml');
  await operator.gone('Webhook', 'ours');
  await operator.ready('Webhook', 'theirs', 'elsewhere');
  const { body: after = [] } = await site.server.admin.call(listWebhooks, { params: params() });
  expect(after[0]?.id).not.toBe(before[0]?.id);
});
