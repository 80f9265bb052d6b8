// What deleting a resource does, as the server knows it: statuses may be lost, or written by people who may write statuses.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { flow as flowKind } from '../../operator/kinds/flow.ts';
import { realm as realmKind } from '../../operator/kinds/realm.ts';
import { keyOfResource, managerOf, type Resource, resourceOf } from '../../operator/resource.ts';
import { createDeletion } from '../../operator/runtime/deletion.ts';
import { mayDeclareRealm } from '../../operator/runtime/realms.ts';
import { startOperator } from '../../operator/start.ts';
import type { Client } from '../../server/contract/client.ts';
import { createClient, deleteClient } from '../../server/contract/clients.ts';
import { listFlows } from '../../server/contract/flows.ts';
import { createRealm, getRealm, putAdoption } from '../../server/contract/realms.ts';
import { listRoles } from '../../server/contract/roles.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { importRealm, listManagers, type RealmDocument } from '../../server/contract/transfer.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const CLUSTER = 'test';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());

const deletionTimestamp = '2026-01-01T00:00:00Z';
const declaring = (realm: string, status: object = {}, namespace = 'default') =>
  resourceOf('Realm', {
    metadata: { name: realm, namespace, uid: realm, deletionTimestamp },
    spec: { realm, deletionPolicy: 'Delete' },
    status,
  });
const remove = (resource: Resource, { secondsLater = 3600, client = server.admin, guest = false } = {}) =>
  createDeletion({
    client,
    clusterName: CLUSTER,
    realms: {
      mayDeclare: (...asked) => mayDeclareRealm({ clusterName: CLUSTER, operatorNamespace: undefined }, ...asked),
      isDeclaredBeside: () => false,
      isOfOthers: () => guest,
    },
    warn: async () => {},
    now: () => new Date(Date.parse(deletionTimestamp) + secondsLater * 1000),
  })(resource, resource.kind === 'Realm' ? realmKind : flowKind);
const applied = (resource: Resource, realm: string, body: RealmDocument) =>
  server.admin.call(importRealm, { params: { realm }, query: { manager: managerOf(CLUSTER, resource) }, body });
const exists = async (realm: string) =>
  (await server.admin.call(getRealm, { params: { realm } }).catch(() => undefined)) !== undefined;

test('a realm that was applied goes with its resource, also where no status came to be written', async () => {
  const resource = declaring('applied');
  await server.admin.call(importRealm, {
    params: { realm: 'applied' },
    query: { manager: managerOf(CLUSTER, resource) },
    body: { roles: [{ name: 'reader' }] },
  });
  expect(await remove(resource)).toBe('deleted the realm applied');
  expect(await exists('applied')).toBe(false);
  expect(await remove(resource)).toBe('nothing is left on the server');
});

test('somebody else’s realm stays, whatever the status of the resource says', async () => {
  await server.admin.call(createRealm, { body: { realm: 'theirs' } });
  expect(await remove(declaring('theirs', { lastAppliedRevision: 7 }))).toBe('nothing is left on the server');
  expect(await exists('theirs')).toBe(true);
});

test('a realm that another Realm resource manages, too, stays: only what this one declared goes', async () => {
  const realm = 'shared';
  const [mine, theirs] = [declaring(realm), declaring(realm, {}, 'theirs')];
  await applied(mine, realm, { roles: [{ name: 'mine' }] });
  await applied(theirs, realm, { roles: [{ name: 'theirs' }] });
  await server.admin.call(putAdoption, { params: { realm }, body: { managers: ['k8s:*/theirs/*'] } });
  expect(await remove(mine)).toBe('removed from the realm shared');
  const { body: roles } = await server.admin.call(listRoles, { params: { realm } });
  expect(roles?.map(({ name }) => name)).toContain('theirs');
  expect(roles?.map(({ name }) => name)).not.toContain('mine');
  expect(await remove(theirs)).toBe('deleted the realm shared');
});

test('a realm that becomes somebody’s, too, between the look and the deletion stays', async () => {
  const realm = 'raced';
  const [mine, theirs] = [declaring(realm), declaring(realm, {}, 'theirs')];
  await applied(mine, realm, { roles: [{ name: 'mine' }] });
  let meanwhile = async () => {
    meanwhile = async () => undefined;
    await applied(theirs, realm, { roles: [{ name: 'theirs' }] });
  };
  const call: Client['call'] = async (route, input) => {
    if (route.method === 'DELETE') await meanwhile();
    return server.admin.call(route, input);
  };
  expect(await remove(mine, { client: { call } })).toBe('removed from the realm raced');
  expect(await exists(realm)).toBe(true);
});

test('master can’t be deleted, and what its resource declared goes back', async () => {
  const realm = 'master';
  await applied(declaring(realm), realm, { realm: { displayName: 'Declared' } });
  expect(await remove(declaring(realm))).toBe('removed from the realm master');
  const { body } = await server.admin.call(getSettings, { params: { realm } });
  expect(body?.displayName).not.toBe('Declared');
});

test('a spec whose realm is no realm’s name leads nowhere', async () => {
  const strange = { ...declaring('any'), spec: { realm: '../master', deletionPolicy: 'Delete' } };
  expect(await remove(strange)).toBe('deleted; its spec named no realm');
});

test('a Flow that a client needs is waited for a while, then the realm keeps it; the client’s going is enough', async () => {
  const realm = 'needing';
  await server.admin.call(createRealm, { body: { realm } });
  const flow = (name: string) =>
    resourceOf('Flow', { metadata: { name, namespace: 'default', uid: name, deletionTimestamp }, spec: { realm } });
  const needed = async (name: string) => {
    const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' as const }];
    await applied(flow(name), realm, { flows: [{ alias: name, executions }] });
    const body = { clientId: `of-${name}`, flowOverride: name };
    return (await server.admin.call(createClient, { params: { realm }, body })).body?.id ?? '';
  };
  const flows = async () =>
    (await server.admin.call(listFlows, { params: { realm } })).body?.map(({ alias }) => alias) ?? [];
  const id = await needed('brief');
  await needed('lasting');
  await needed('of-a-guest');
  for (const name of ['brief', 'lasting'])
    await expect(remove(flow(name), { secondsLater: 10 })).rejects.toMatchObject({ reason: 'InUse' });
  await server.admin.call(deleteClient, { params: { realm, id } });
  expect(await remove(flow('brief'), { secondsLater: 10 })).toBe('removed from the realm needing');
  expect(await remove(flow('lasting'), { secondsLater: 60 })).toContain('the realm needing keeps it');
  // what a guest made doesn't become nobody's, as if it were the realm's own
  expect(await remove(flow('of-a-guest'), { secondsLater: 60, guest: true })).toContain('as managed by k8s:');
  expect(await flows()).toEqual(expect.arrayContaining(['lasting', 'of-a-guest']));
  expect(await flows()).not.toContain('brief');
  const { body: managers = [] } = await server.admin.call(listManagers, { params: { realm } });
  expect(managers.map(({ manager }) => manager)).toEqual([managerOf(CLUSTER, flow('of-a-guest'))]);
});

test('a resource that goes before the finalizer is on it leaves nothing on the server', async () => {
  const resource = resourceOf('Realm', {
    metadata: { name: 'brief', namespace: 'default', uid: 'u' },
    spec: { realm: 'brief' },
  });
  const nothing = async () => {};
  const operator = await startOperator({
    source: {
      start: async (listener) => listener.changed(keyOfResource(resource)),
      stop: nothing,
      refresh: nothing,
      get: () => resource,
      list: () => [resource],
      secret: async () => undefined,
      configMap: async () => undefined,
      namespaceLabels: async () => ({}),
      addFinalizer: async () => false,
      removeFinalizer: nothing,
      writeStatus: nothing,
      say: nothing,
      clusterIssuer: undefined,
    },
    client: server.admin,
    clusterName: CLUSTER,
    log: () => {},
  });
  await operator.idle();
  expect(await exists('brief')).toBe(false);
  await operator.stop();
});
