// The Dockerfile's steps by hand: what it copies, built, put together as it does, and run as a user without rights on
// a folder that nobody may write. It stands for the image where no engine is; npm ci is taken as done.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/operator.ts';
import { MASTER_KEY } from '../support/server.ts';
import { copied, root } from './dockerfile.ts';

// nobody, where this is root
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
let folder: string;
let app: string;
let database: TestDatabase;
let before: string[];
const children: ChildProcess[] = [];

function run(
  command: string,
  args: string[],
  options: { cwd: string; env?: Record<string, string>; uid?: number; gid?: number },
) {
  const { env, ...rest } = options;
  const child = spawn(command, args, {
    ...rest,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const said = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said.text += chunk;
    });
  }
  return { child, said, ended: once(child, 'close').then(([code]) => code) };
}
/** `docker run image FILE …` */
const inImage = (args: string[], env: Record<string, string> = {}) =>
  run(process.execPath, args, { cwd: app, env: { NODE_ENV: 'production', ...env }, ...user });
const filesOf = async () => (await readdir(app, { recursive: true })).sort();

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-image-'));
  await chmod(folder, 0o755);
  const source = path.join(folder, 'src');
  app = path.join(folder, 'app');
  await mkdir(source);
  for (const file of copied()) await cp(path.join(root, file), path.join(source, file), { recursive: true });
  await symlink(path.join(root, 'node_modules'), path.join(source, 'node_modules'));
  const { said, ended } = run(process.execPath, ['build.ts'], { cwd: source });
  expect([await ended, said.text]).toEqual([0, expect.not.stringContaining('No compile cache')]);
  await cp(path.join(source, 'dist'), app, { recursive: true });
  await cp(path.join(root, 'node_modules/@node-rs'), path.join(app, 'node_modules/@node-rs'), {
    recursive: true,
    dereference: true,
  });
  for (const entry of await readdir(app, { recursive: true, withFileTypes: true }))
    await chmod(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o555 : 0o444);
  await chmod(app, 0o555);
  before = await filesOf();
  database = await createEmptyDatabase();
}, 300_000);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await database?.drop();
  for (const entry of await readdir(app, { recursive: true, withFileTypes: true }).catch(() => []))
    if (entry.isDirectory()) await chmod(path.join(entry.parentPath, entry.name), 0o755);
  await chmod(app, 0o755).catch(() => {});
  await rm(folder, { recursive: true, force: true });
});

test('there is nothing in it but built files and native code', () => {
  const top = new Set(before.map((file) => file.split('/')[0]));
  // what realmctl loads late, if anything
  top.delete('realmctl');
  expect([...top].sort()).toEqual([
    '.cache',
    'backup.js',
    'bundles',
    'migrate.js',
    'node-version.mjs',
    'node_modules',
    'operator.js',
    'package.json',
    'realmctl.js',
    'recover-admin.js',
    'reseal.js',
    'server.js',
  ]);
  expect(before.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([]);
});

test('migrate.js, then server.js: ready, hashing passwords with native code, and gone by SIGTERM', async () => {
  const DATABASE_URL = database.url;
  const migrations = inImage(['migrate.js'], { DATABASE_URL });
  expect([await migrations.ended, migrations.said.text]).toEqual([0, expect.stringContaining('migrations applied')]);
  const { child, said, ended } = inImage(['server.js'], {
    DATABASE_URL,
    SVC_MASTER_KEY: MASTER_KEY.toString('base64'),
    SVC_PORT: '0',
    SVC_LOG_LEVEL: 'warn',
    SVC_BOOTSTRAP_ADMIN_PASSWORD: 'correct-horse-battery-staple',
  });
  const where = await eventually(() => {
    const [, found] = /listens on (\S+);/.exec(said.text) ?? [];
    if (!found) throw new Error(said.text);
    return found;
  });
  expect((await fetch(`${where}/actuator/health/readiness`)).status).toBe(200);
  const body = JSON.stringify({ username: 'admin', password: 'correct-horse-battery-staple' });
  const login = await fetch(`${where}/admin/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(login.status).toBe(204);
  // something that goes out: nobody is there, and that is all that is wrong
  const cookies = login.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '');
  const csrf = cookies.find((cookie) => cookie.startsWith('XSRF-TOKEN='))?.split('=')[1] ?? '';
  const headers = { cookie: cookies.join('; '), 'x-xsrf-token': csrf, 'content-type': 'application/json' };
  const hook = { name: 'out', url: 'https://receiver.invalid/', eventTypes: 'USER_LOCKED', enabled: true };
  const admin = (at: string, of: object = {}) =>
    fetch(`${where}/admin/realms/master/${at}`, { method: 'POST', headers, body: JSON.stringify(of) });
  const created = Object(await (await admin('webhooks', hook)).json());
  const { id } = created;
  expect(id, JSON.stringify(created)).toBeDefined();
  expect((await admin(`webhooks/${id}/test`)).ok).toBe(true);
  await eventually(async () => {
    const answer = await fetch(`${where}/admin/realms/master/webhooks/${id}/deliveries`, { headers });
    expect(JSON.stringify(await answer.json())).toContain('is at no public address');
  });
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(said.text).not.toMatch(/EACCES|EROFS|warn/);
});

test.each(['operator.js', 'realmctl.js'])('%s runs', async (file) => {
  const { said, ended } = inImage([file, '--help']);
  expect([await ended, said.text]).toEqual([0, expect.stringContaining('Usage')]);
});

test('nothing was written beside the programs', async () => {
  expect(await filesOf()).toEqual(before);
});
