// Owns: that a client which a generator makes of our OpenAPI document compiles and works.
// Does not own: the document's rules (test/guards/openapi.test.ts), our own typed client (contract/client.ts).
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';
import { adminSession } from '../../support/signed-in.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const bin = (name: string) => path.join(root, 'node_modules/.bin', name);

let server: TestServer;
let folder: string;
beforeAll(async () => {
  server = await startTestServer();
  // below the project, where the generated imports are found
  mkdirSync(path.join(root, '.data'), { recursive: true });
  folder = mkdtempSync(path.join(root, '.data', 'client-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.stop();
});

test('a generated client compiles, and releases a manager whose name has slashes', async () => {
  const [document, file] = [path.join(folder, 'openapi.json'), path.join(folder, 'client.ts')];
  writeFileSync(document, await (await fetch(`${server.baseUrl}/v3/api-docs`)).text());
  execFileSync(bin('oazapfts'), [document, file]);
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext', '--skipLibCheck'];
  execFileSync(bin('tsc'), [...options, '--ignoreConfig', file]);

  const client = await import(file);
  const session = await adminSession(server.baseUrl, { username: 'admin', password: ADMIN_PASSWORD });
  Object.assign(client.defaults, { baseUrl: server.baseUrl, headers: session.headers() });
  const manager = 'k8s:prod/identity/Realm/acme';
  const roles = [{ name: 'editor' }];
  expect(await client.importRealm('acme', { roles }, { manager })).toMatchObject({ status: 200 });
  expect(await client.listManagers('acme')).toMatchObject({ status: 200, data: [{ manager }] });
  expect(await client.releaseManager('acme', manager, { objects: 'delete' })).toMatchObject({ status: 204 });
  expect(await client.listManagers('acme')).toMatchObject({ status: 200, data: [] });
  expect(await client.releaseManager('acme', manager)).toMatchObject({
    status: 404,
    data: { type: 'urn:svc:problem:not-found' },
  });
});
