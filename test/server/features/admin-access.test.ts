import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as api from '../../../server/contract/admin-access.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());

test('the bootstrap administrator signs in and holds everything over every realm', async () => {
  const { body } = await server.admin.call(api.getAdminSession);
  expect(body).toMatchObject({ type: 'user', name: 'admin', realm: 'master' });
  expect(body?.permissions['*']).toContain('realm:delete');
});
