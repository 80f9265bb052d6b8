// Tokens for a realm's SCIM server, from a terminal.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeRealm } from '../support/clients.ts';
import { asOperator, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  await makeRealm(server, 'acme');
});
afterAll(() => server?.stop());

const run = (...args: string[]) => realmctl(asOperator(server), [...args, '-r', 'acme']);

test('a token is made and shown once, listed without its value, and taken back', async () => {
  const made = await run('create', 'scim-token', '--name', 'entra', '--permissions', 'read', '-o', 'json');
  expect(made, made.stderr).toMatchObject({ code: 0 });
  const { token } = JSON.parse(made.stdout);
  expect(token).toMatch(/^svc_scim_/);
  const scim = () =>
    fetch(`${server.baseUrl}/realms/acme/scim/v2/Users`, { headers: { authorization: `Bearer ${token}` } });
  expect((await scim()).status).toBe(200);
  const listed = await run('get', 'scim-tokens');
  expect(listed.stdout).toMatch(/entra +read/);
  expect(listed.stdout).not.toContain(token);
  const removed = await run('delete', 'scim-token', 'entra', '--yes');
  expect(removed, removed.stderr).toMatchObject({ code: 0 });
  expect((await scim()).status).toBe(401);
  expect((await run('get', 'scim-tokens', '-o', 'name')).stdout).toBe('');
});
