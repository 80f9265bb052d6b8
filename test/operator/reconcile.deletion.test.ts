// Deleting a resource takes away its own objects and no others, and nothing stays stuck.
import { beforeEach, expect, test } from 'vitest';
import { getFlow, listFlows } from '../../server/contract/flows.ts';
import { createRealm, deleteRealm, getRealm } from '../../server/contract/realms.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { listManagers } from '../../server/contract/transfer.ts';
import { createWebhook, listWebhooks } from '../../server/contract/webhooks.ts';
import { atRest, eventually, operatorSite, resource } from '../support/operator.ts';

const site = operatorSite({ name: 'goes' });
const theRealm = (more: object = {}, metadata = {}) =>
  resource('Realm', 'here', { realm: site.realm, settings: { accessTokenTtlSeconds: 600 }, ...more }, metadata);
const hook = (name: string, more: object = {}, metadata = {}) =>
  resource(
    'Webhook',
    name,
    { realm: site.realm, url: 'https://receiver.example.com/hook', eventTypes: ['*'], enabled: true, ...more },
    metadata,
  );
const webhooks = async () =>
  ((await site.server.admin.call(listWebhooks, { params: { realm: site.realm } })).body ?? [])
    .map(({ name }) => name)
    .sort();
const managers = async () =>
  ((await site.server.admin.call(listManagers, { params: { realm: site.realm } })).body ?? [])
    .map(({ manager }) => manager)
    .sort();

beforeEach(() => site.folder.write('realm.yaml', theRealm()));

test('a deleted Webhook takes its own subscription along and no other', async () => {
  await site.folder.write('a.yaml', hook('mine'));
  await site.folder.write('b.yaml', hook('other'));
  const operator = await site.begin();
  await Promise.all([operator.ready('Webhook', 'mine'), operator.ready('Webhook', 'other')]);
  const body = { name: 'by-hand', url: 'https://receiver.example.com/', eventTypes: '*', enabled: true };
  await site.server.admin.call(createWebhook, { params: { realm: site.realm }, body });
  await site.folder.remove('a.yaml');
  await operator.gone('Webhook', 'mine');
  expect(await webhooks()).toEqual(['by-hand', 'other']);
  expect(await managers()).toEqual(['k8s:test/default/Realm/here', 'k8s:test/default/Webhook/other']);
});

test('deletionPolicy Retain leaves the object, which nobody owns any more', async () => {
  await site.folder.write('a.yaml', hook('mine', { deletionPolicy: 'Retain' }));
  const operator = await site.begin();
  await operator.ready('Webhook', 'mine');
  await site.folder.remove('a.yaml');
  await operator.gone('Webhook', 'mine');
  expect(await webhooks()).toEqual(['mine']);
  expect(await managers()).toEqual(['k8s:test/default/Realm/here']);
});

test('a deleted Flow that signs the realm’s people in leaves the realm with a flow that does', async () => {
  const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
  await site.folder.write('flow.yaml', resource('Flow', 'own', { realm: site.realm, executions, bind: true }));
  const operator = await site.begin();
  await operator.ready('Flow', 'own');
  await site.folder.remove('flow.yaml');
  await operator.gone('Flow', 'own');
  const { body: settings } = await site.server.admin.call(getSettings, { params: { realm: site.realm } });
  const alias = settings?.browserFlow ?? '';
  expect(alias).not.toBe('own');
  expect(
    (await site.server.admin.call(getFlow, { params: { realm: site.realm, alias } })).body?.executions,
  ).not.toEqual([]);
  const { body: flows } = await site.server.admin.call(listFlows, { params: { realm: site.realm } });
  expect(flows?.map((flow) => flow.alias)).not.toContain('own');
});

test('a deleted Flow that a client names is InUse, and goes within seconds when the client names it no more', async () => {
  const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
  const client = { clientId: 'app', grantTypes: ['client_credentials'] };
  const flows = async () =>
    ((await site.server.admin.call(listFlows, { params: { realm: site.realm } })).body ?? []).map(({ alias }) => alias);
  await site.folder.write('flow.yaml', resource('Flow', 'own', { realm: site.realm, executions }));
  await site.folder.write('realm.yaml', theRealm({ clients: [{ ...client, flowOverride: 'own' }] }));
  const operator = await site.begin();
  await Promise.all([operator.ready('Flow', 'own'), operator.ready('Realm', 'here')]);
  await site.folder.remove('flow.yaml');
  await operator.says('Flow', 'own', 'InUse');
  expect(await flows()).toContain('own');
  await site.folder.write('realm.yaml', theRealm({ clients: [client] }));
  await operator.gone('Flow', 'own');
  expect(await flows()).not.toContain('own');
});

test('a deleted Realm keeps the realm and its values, and releases them', async () => {
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  await site.folder.remove('realm.yaml');
  await operator.gone('Realm', 'here');
  const { body: settings } = await site.server.admin.call(getSettings, { params: { realm: site.realm } });
  expect(settings?.accessTokenTtlSeconds).toBe(600);
  expect(await managers()).toEqual([]);
});

test('a deleted Realm with deletionPolicy Delete takes the realm along', async () => {
  await site.folder.write('realm.yaml', theRealm({ deletionPolicy: 'Delete' }));
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  await site.folder.remove('realm.yaml');
  await operator.gone('Realm', 'here');
  await expect(site.server.admin.call(getRealm, { params: { realm: site.realm } })).rejects.toMatchObject({
    status: 404,
  });
});

test('a Realm that never came to apply deletes nobody else’s realm', async () => {
  await site.server.admin.call(createRealm, { body: { realm: site.realm } });
  await site.folder.write('realm.yaml', theRealm({ deletionPolicy: 'Delete' }));
  const operator = await site.begin();
  await operator.says('Realm', 'here', 'RealmExists');
  await site.folder.remove('realm.yaml');
  await operator.gone('Realm', 'here');
  expect((await site.server.admin.call(getRealm, { params: { realm: site.realm } })).body?.realm).toBe(site.realm);
});

test('nothing stays stuck where the realm is gone already', async () => {
  await site.folder.write('a.yaml', hook('mine'));
  await site.folder.write('realm.yaml', theRealm({ suspend: false }));
  const operator = await site.begin();
  await operator.ready('Webhook', 'mine');
  await site.folder.write('realm.yaml', theRealm({ suspend: true }));
  await operator.says('Realm', 'here', 'Suspended');
  await site.server.admin.call(deleteRealm, { params: { realm: site.realm } });
  await operator.says('Webhook', 'mine', 'RealmMissing');
  await site.folder.remove('a.yaml');
  await site.folder.remove('realm.yaml');
  await operator.gone('Webhook', 'mine');
  await operator.gone('Realm', 'here');
});

test('a realm that somebody deletes is made again, with all that attaches', async () => {
  await site.folder.write('a.yaml', hook('mine'));
  const operator = await site.begin();
  await operator.ready('Webhook', 'mine');
  await site.server.admin.call(deleteRealm, { params: { realm: site.realm } });
  await eventually(async () => expect(await webhooks()).toEqual(['mine']));
  await operator.ready('Webhook', 'mine');
});

test('the annotation abandon lets a resource go and leaves the server as it is', async () => {
  await site.folder.write('a.yaml', hook('mine', {}, { annotations: { 'realmkeeper.dev/abandon': 'true' } }));
  const operator = await site.begin();
  await operator.ready('Webhook', 'mine');
  await site.folder.remove('a.yaml');
  await operator.gone('Webhook', 'mine');
  expect(await webhooks()).toEqual(['mine']);
  expect(await managers()).toContain('k8s:test/default/Webhook/mine');
});

test('a document that vanished while the operator was down is deleted at its next start', async () => {
  await site.folder.write('a.yaml', hook('mine'));
  const before = await site.begin();
  await before.ready('Webhook', 'mine');
  await before.stop();
  await site.folder.remove('a.yaml');
  const after = await site.begin();
  await eventually(async () => expect(await webhooks()).toEqual([]));
  await after.gone('Webhook', 'mine');
  await after.ready('Realm', 'here');
});

test('what another cluster declared is not this one’s to delete', async () => {
  await site.folder.write('a.yaml', hook('mine'));
  const theirs = await site.begin({ clusterName: 'elsewhere' });
  await theirs.ready('Webhook', 'mine');
  await theirs.stop();
  await site.folder.remove('a.yaml');
  await site.folder.remove('realm.yaml');
  await site.begin();
  expect(await atRest(webhooks)).toEqual(['mine']);
});

test('a document that is put back is applied again', async () => {
  await site.folder.write('a.yaml', hook('mine'));
  const operator = await site.begin();
  await operator.ready('Webhook', 'mine');
  await site.folder.remove('a.yaml');
  await operator.gone('Webhook', 'mine');
  await site.folder.write('a.yaml', hook('mine'));
  await operator.ready('Webhook', 'mine');
  expect(await webhooks()).toEqual(['mine']);
});
