// dist/realmctl.js as it is handed out: one program without the repository around it, on the oldest Node that it promises.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOperator, realmctlProcess, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { importer } from '../support/transfer.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** The machine's own node where it has one: the pinned runtime's scripts put theirs in front. */
const node = (process.env.PATH ?? '')
  .split(':')
  .filter((dir) => !dir.includes('node_modules'))
  .map((dir) => path.join(dir, 'node'))
  .find((file) => existsSync(file));
let server: TestServer;
let dir: string;
const built = (args: string[], stdin = '') =>
  realmctlProcess(asOperator(server), args, {
    stdin,
    cwd: dir,
    file: path.join(dir, 'dist/realmctl.js'),
    ...(node !== undefined && { node }),
  });

beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'realmctl-'));
  const build = spawn(process.execPath, ['build.ts', path.join(dir, 'dist'), '--role', 'realmctl'], { cwd: root });
  const [[code]] = await Promise.all([
    once(build, 'close'),
    startTestServer({ env: withOperator }).then((started) => {
      server = started;
    }),
  ]);
  expect(code).toBe(0);
});
afterAll(async () => {
  await server?.stop();
  await rm(dir, { recursive: true });
});

test('it prints CRDs and completion without a server', async () => {
  expect((await built(['crds'])).stdout).toBe((await realmctlProcess({}, ['crds'])).stdout);
  expect((await built(['completion', 'words', '--', 'rot'])).stdout).toMatch(/^rotate-keys\t/);
});

test('it carries a realm from one to another through a pipe, and writes manifests', async () => {
  const api = await importer(server);
  await api.apply('first', { roles: [{ name: 'reader' }], users: [{ username: 'ana', roles: ['reader'] }] });
  const exported = await built(['export', 'first']);
  expect(exported).toMatchObject({ code: 0, stderr: '' });
  expect(await built(['import', 'second', '-f', '-', '--yes'], exported.stdout)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Applied realm second: .*\.\n$/),
  });
  expect(await api.download('second')).toBe(await api.download('first'));
  expect((await built(['export', 'first', '--as', 'manifests'])).stdout).toContain('kind: Realm\n');
  expect((await built(['describe', 'role', 'reader', '-r', 'second'])).stdout).toContain('ROLE_CREATED');
});
