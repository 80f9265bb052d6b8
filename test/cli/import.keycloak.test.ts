// `realmctl import --keycloak` against a real server: files and folders as `kc.sh export` writes them.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOperator, type Ran, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Importer, importer } from '../support/transfer.ts';

const fixtures = path.resolve(import.meta.dirname, '../server/features/keycloak');
let server: TestServer;
let api: Importer;
let dir: string;
const run = (args: readonly string[], stdin = ''): Promise<Ran> => realmctl(asOperator(server), args, { stdin });
beforeAll(async () => {
  [server, dir] = await Promise.all([
    startTestServer({ env: withOperator }),
    mkdtemp(path.join(os.tmpdir(), 'realmctl-')),
  ]);
  api = await importer(server);
});
afterAll(async () => {
  await server.stop();
  await rm(dir, { recursive: true });
});

test('a folder is its realm and then its users; a dry run tells what stays behind, and again nothing is to do', async () => {
  const dry = await run(['import', 'acme', '--keycloak', '-f', fixtures, '--dry-run']);
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('+ create user ada') });
  expect(dry.stderr).toMatch(/^Not carried over, \d+:$/m);
  expect(dry.stderr).toContain('client shop redirectUris: https://shop.acme.example/*: addresses are exact here');
  expect((await api.fetch('/admin/realms/acme')).status).toBe(404);
  const done = await run(['import', 'acme', '--keycloak', '-f', fixtures, '--yes', '-o', 'json']);
  expect(done.code).toBe(0);
  expect(JSON.parse(done.stdout)).toMatchObject({ manager: 'realmctl', notCarriedCount: expect.any(Number) });
  const files = ['acme-realm.json', 'acme-users-0.json', 'acme-users-1.json'];
  const one = files.flatMap((name) => ['-f', path.join(fixtures, name)]);
  const again = await run(['import', 'acme', '--keycloak', ...one, '-o', 'json']);
  expect(JSON.parse(again.stdout)).toMatchObject({ inSync: true, changes: [] });
});

test('a folder as Keycloak 26.7.1 exported it moves, and again there is nothing to do', async () => {
  const command = ['import', 'meridian', '--keycloak', '-f', path.join(fixtures, '26')];
  const dry = await run([...command, '--dry-run']);
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('+ create user anna') });
  expect(dry.stderr).toContain('directory directory config.changedSyncPeriod: has no counterpart here');
  expect(await run([...command, '--yes'])).toMatchObject({ code: 0 });
  expect(JSON.parse((await run([...command, '-o', 'json'])).stdout)).toMatchObject({ inSync: true, changes: [] });
});

test('one of several realms in a folder goes by another name; what isn’t in it is refused with what is', async () => {
  const { code } = await run(['import', 'shop', '--keycloak', '-f', fixtures, '--from', 'shop-eu', '--yes']);
  expect(code).toBe(0);
  const users = JSON.parse(await api.download('shop')).users;
  expect(users.map(({ username }: { username: string }) => username)).toEqual(['gil']);
  const refused = await run(['import', 'other', '--keycloak', '-f', fixtures, '--yes']);
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no other-realm\.json[\s\S]*--from acme \| shop-eu/),
  });
});

test('what it would prune is looked at first, from standard input too', async () => {
  const whole = ['import', 'pruned', '--keycloak', '--from', 'acme', '--yes'];
  expect((await run([...whole, '-f', path.join(fixtures, 'acme-realm.json')])).code).toBe(0);
  const little = JSON.stringify({ realm: 'acme', clients: [] });
  const refused = await run(['import', 'pruned', '--keycloak', '--from', 'acme', '--prune', '-f', '-'], little);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/would delete much of the realm pruned/) });
});
