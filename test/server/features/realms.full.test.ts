// Deleting a realm that has one of everything: whatever of it names what else, all of it goes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteRealm } from '../../../server/contract/realms.ts';
import { fullRealm } from '../../support/full-realm.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let api: Importer;
beforeAll(async () => {
  server = await startTestServer();
  api = await importer(server);
});
afterAll(() => server?.stop());

test('a realm with one of everything is deleted, and can be made again', async () => {
  await api.apply('full', fullRealm());
  const { status } = await server.admin.call(deleteRealm, { params: { realm: 'full' } });
  expect(status).toBe(204);
  expect((await api.apply('full', fullRealm())).summary.create).toBeGreaterThan(10);
});
