// Deleting a resource takes away its own objects and no others, and nothing stays stuck.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { getFlow, listFlows } from '../../server/contract/flows.ts';
import { createRealm, deleteRealm, getRealm } from '../../server/contract/realms.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { listManagers } from '../../server/contract/transfer.ts';
import { createWebhook, listWebhooks } from '../../server/contract/webhooks.ts';
import {
  createFolder,
  eventually,
  type Folder,
  OPERATOR_SECRET,
  resource,
  startTestOperator,
  type TestOperator,
} from '../support/operator.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let folder: Folder;
let operators: TestOperator[] = [];
let tests = 0;
let realm = '';

async function begin(): Promise<TestOperator> {
  const operator = await startTestOperator({ serverUrl: server.baseUrl, dir: folder.dir });
  operators.push(operator);
  return operator;
}
const theRealm = (more: object = {}, metadata = {}) =>
  resource('Realm', 'here', { realm, settings: { accessTokenTtlSeconds: 600 }, ...more }, metadata);
const hook = (name: string, more: object = {}, metadata = {}) =>
  resource(
    'Webhook',
    name,
    { realm, url: 'https://receiver.example.com/hook', eventTypes: ['*'], enabled: true, ...more },
    metadata,
  );
const webhooks = async () =>
  ((await server.admin.call(listWebhooks, { params: { realm } })).body ?? []).map(({ name }) => name).sort();
const managers = async () =>
  ((await server.admin.call(listManagers, { params: { realm } })).body ?? []).map(({ manager }) => manager).sort();

beforeAll(async () => {
  server = await startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET } });
});
afterAll(async () => {
  await server?.stop();
});
beforeEach(async () => {
  tests += 1;
  realm = `goes-${tests}`;
  folder = await createFolder();
  await folder.write('realm.yaml', theRealm());
});
afterEach(async () => {
  for (const operator of operators) await operator.stop();
  operators = [];
  await folder.drop();
});

test('a deleted Webhook takes its own subscription along and no other', async () => {
  await folder.write('a.yaml', hook('mine'));
  await folder.write('b.yaml', hook('other'));
  const operator = await begin();
  await Promise.all([operator.ready('Webhook', 'mine'), operator.ready('Webhook', 'other')]);
  const body = { name: 'by-hand', url: 'https://receiver.example.com/', eventTypes: '*', enabled: true };
  await server.admin.call(createWebhook, { params: { realm }, body });
  await folder.remove('a.yaml');
  await operator.gone('Webhook', 'mine');
  expect(await webhooks()).toEqual(['by-hand', 'other']);
  expect(await managers()).toEqual(['k8s:test/default/Realm/here', 'k8s:test/default/Webhook/other']);
});

test('deletionPolicy Retain leaves the object, which nobody owns any more', async () => {
  await folder.write('a.yaml', hook('mine', { deletionPolicy: 'Retain' }));
  const operator = await begin();
  await operator.ready('Webhook', 'mine');
  await folder.remove('a.yaml');
  await operator.gone('Webhook', 'mine');
  expect(await webhooks()).toEqual(['mine']);
  expect(await managers()).toEqual(['k8s:test/default/Realm/here']);
});

test('a deleted Flow that signs the realm’s people in leaves the realm with a flow that does', async () => {
  const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
  await folder.write('flow.yaml', resource('Flow', 'own', { realm, executions, bind: true }));
  const operator = await begin();
  await operator.ready('Flow', 'own');
  await folder.remove('flow.yaml');
  await operator.gone('Flow', 'own');
  const { body: settings } = await server.admin.call(getSettings, { params: { realm } });
  const alias = settings?.browserFlow ?? '';
  expect(alias).not.toBe('own');
  expect((await server.admin.call(getFlow, { params: { realm, alias } })).body?.executions).not.toEqual([]);
  const { body: flows } = await server.admin.call(listFlows, { params: { realm } });
  expect(flows?.map((flow) => flow.alias)).not.toContain('own');
});

test('a deleted Realm keeps the realm and its values, and releases them', async () => {
  const operator = await begin();
  await operator.ready('Realm', 'here');
  await folder.remove('realm.yaml');
  await operator.gone('Realm', 'here');
  const { body: settings } = await server.admin.call(getSettings, { params: { realm } });
  expect(settings?.accessTokenTtlSeconds).toBe(600);
  expect(await managers()).toEqual([]);
});

test('a deleted Realm with deletionPolicy Delete takes the realm along', async () => {
  await folder.write('realm.yaml', theRealm({ deletionPolicy: 'Delete' }));
  const operator = await begin();
  await operator.ready('Realm', 'here');
  await folder.remove('realm.yaml');
  await operator.gone('Realm', 'here');
  await expect(server.admin.call(getRealm, { params: { realm } })).rejects.toMatchObject({ status: 404 });
});

test('a Realm that never came to apply deletes nobody else’s realm', async () => {
  await server.admin.call(createRealm, { body: { realm } });
  await folder.write('realm.yaml', theRealm({ deletionPolicy: 'Delete' }));
  const operator = await begin();
  await operator.says('Realm', 'here', 'RealmExists');
  await folder.remove('realm.yaml');
  await operator.gone('Realm', 'here');
  expect((await server.admin.call(getRealm, { params: { realm } })).body?.realm).toBe(realm);
});

test('nothing stays stuck where the realm is gone already', async () => {
  await folder.write('a.yaml', hook('mine'));
  await folder.write('realm.yaml', theRealm({ suspend: false }));
  const operator = await begin();
  await operator.ready('Webhook', 'mine');
  await folder.write('realm.yaml', theRealm({ suspend: true }));
  await operator.says('Realm', 'here', 'Suspended');
  await server.admin.call(deleteRealm, { params: { realm } });
  await operator.says('Webhook', 'mine', 'RealmMissing');
  await folder.remove('a.yaml');
  await folder.remove('realm.yaml');
  await operator.gone('Webhook', 'mine');
  await operator.gone('Realm', 'here');
});

test('a realm that somebody deletes is made again, with all that attaches', async () => {
  await folder.write('a.yaml', hook('mine'));
  const operator = await begin();
  await operator.ready('Webhook', 'mine');
  await server.admin.call(deleteRealm, { params: { realm } });
  await eventually(async () => expect(await webhooks()).toEqual(['mine']));
  await operator.ready('Webhook', 'mine');
});

test('the annotation abandon lets a resource go and leaves the server as it is', async () => {
  await folder.write('a.yaml', hook('mine', {}, { annotations: { 'realmkeeper.dev/abandon': 'true' } }));
  const operator = await begin();
  await operator.ready('Webhook', 'mine');
  await folder.remove('a.yaml');
  await operator.gone('Webhook', 'mine');
  expect(await webhooks()).toEqual(['mine']);
  expect(await managers()).toContain('k8s:test/default/Webhook/mine');
});

test('a document that vanished while the operator was down is deleted at its next start', async () => {
  await folder.write('a.yaml', hook('mine'));
  const before = await begin();
  await before.ready('Webhook', 'mine');
  await before.stop();
  await folder.remove('a.yaml');
  const after = await begin();
  await eventually(async () => expect(await webhooks()).toEqual([]));
  await after.gone('Webhook', 'mine');
  await after.ready('Realm', 'here');
});

test('what another cluster declared is not this one’s to delete', async () => {
  await folder.write('a.yaml', hook('mine'));
  const theirs = await startTestOperator({ serverUrl: server.baseUrl, dir: folder.dir, clusterName: 'elsewhere' });
  operators.push(theirs);
  await theirs.ready('Webhook', 'mine');
  await theirs.stop();
  await folder.remove('a.yaml');
  await folder.remove('realm.yaml');
  const operator = await begin();
  await operator.idle();
  expect(await webhooks()).toEqual(['mine']);
});

test('a document that is put back is applied again', async () => {
  await folder.write('a.yaml', hook('mine'));
  const operator = await begin();
  await operator.ready('Webhook', 'mine');
  await folder.remove('a.yaml');
  await operator.gone('Webhook', 'mine');
  await folder.write('a.yaml', hook('mine'));
  await operator.ready('Webhook', 'mine');
  expect(await webhooks()).toEqual(['mine']);
});
