// Many roles and groups are read and tied by their keys, just after an import too, when the planner knows nothing of them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importRealm, type RealmDocument } from '../../../server/contract/transfer.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());

const MANY = 10_000;
const numbers = Array.from({ length: MANY }, (_, i) => i);
const roles = numbers.map((i) => ({
  name: `role-${i}`,
  ...(i % 2 === 1 && { composite: { roles: [`role-${i - 1}`] } }),
}));
const ofClient = numbers.map((i) => ({ name: `own-${i}`, composite: { roles: [`role-${i}`] } }));
const groups = numbers.map((i) => ({
  path: i < 100 ? `/top-${i}` : `/top-${i % 100}/sub-${i}`,
  roles: [`role-${i}`, `role-${(i * 3) % MANY}`],
}));
const sections: RealmDocument[] = [
  { roles },
  { clients: [{ clientId: 'a' }, { clientId: 'b' }] },
  { clientRoles: { a: ofClient.slice(0, MANY / 2), b: ofClient.slice(MANY / 2) } },
  { groups },
];

test('ten thousand roles, client roles and groups go in, and are found unchanged, each within a request’s time', async () => {
  const query = { manager: 'm' };
  const apply = (body: RealmDocument) => server.admin.call(importRealm, { params: { realm: 'many' }, query, body });
  for (const body of sections) await apply(body);
  for (const body of sections) expect((await apply(body)).body?.inSync).toBe(true);
});
