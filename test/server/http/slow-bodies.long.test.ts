// A body that takes five minutes to arrive, with the timers that a server has.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { sendSlowly } from '../../support/slow-body.ts';
import { type Importer, importer } from '../../support/transfer.ts';

const MINUTES = 5.2;
let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

test('imports whose bodies take five minutes are whole', { timeout: 600_000 }, async () => {
  const users = Array.from({ length: 5000 }, (_, i) => ({ username: `user-${i}`, email: `user-${i}@people.example` }));
  const bodies: Record<string, object> = {
    import: { users },
    'import/keycloak': { realm: 'any', users: users.map((user) => ({ ...user, enabled: true })) },
    'users/import': users,
  };
  const pieces = Math.round(MINUTES * 60);
  await Promise.all(
    Object.entries(bodies).map(async ([path, body]) => {
      const realm = path.replace('/', '-');
      await admin.apply(realm, {});
      const request = admin.raw(`/admin/realms/${realm}/${path}`);
      const { status, text } = await sendSlowly({ ...request, body: JSON.stringify(body), pieces, everyMs: 1000 });
      expect(status, text.slice(0, 500)).toBe(200);
      const { rows } = await server.pool.query('select count(*)::int as n from realm_user where realm_id = $1', [
        realm,
      ]);
      expect(rows).toEqual([{ n: users.length }]);
    }),
  );
});
