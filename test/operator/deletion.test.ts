// What deleting a resource does, as the server knows it: statuses may be lost, or written by people who may write statuses.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realm as realmKind } from '../../operator/kinds/realm.ts';
import { managerOf, resourceOf } from '../../operator/resource.ts';
import { createDeletion } from '../../operator/runtime/deletion.ts';
import { createRealm, getRealm } from '../../server/contract/realms.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const CLUSTER = 'test';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());

const declaring = (realm: string, status: object = {}) =>
  resourceOf('Realm', {
    metadata: { name: realm, namespace: 'default', uid: realm, deletionTimestamp: '2026-01-01T00:00:00Z' },
    spec: { realm, deletionPolicy: 'Delete' },
    status,
  });
const remove = (resource: ReturnType<typeof declaring>) =>
  createDeletion({ client: server.admin, clusterName: CLUSTER })(resource, realmKind);
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
