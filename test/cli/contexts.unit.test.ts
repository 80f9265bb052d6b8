// Owns: the file of contexts under many hands: nothing lost, nobody else reads it, a lock that a dead process left.
// Does not own: what is in it (login.test.ts).
// Implements: docs/cli.md: sessions kept with mode 0600.
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultRealm } from '../../cli/connect.ts';
import { contextFile } from '../../cli/contexts.ts';

let folder: string;
const file = () => path.join(folder, 'realmctl', 'config.json');
const contexts = () => contextFile({ REALMCTL_CONFIG: file() }, () => {});
const add = (name: string) =>
  contexts().update(async (all) => ({
    ...all,
    contexts: { ...all.contexts, [name]: { server: `https://${name}`, realm: 'master' } },
  }));
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'realmctl-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('twenty that write at once lose nothing and leave nothing behind', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `c${i}`);
  await Promise.all(names.map(add));
  expect(Object.keys((await contexts().read()).contexts).sort()).toEqual(names.sort());
  expect(await readdir(path.dirname(file()))).toEqual(['config.json']);
  expect((await stat(file())).mode & 0o777).toBe(0o600);
});

test('a change that fails changes nothing and gives the lock back', async () => {
  await add('one');
  const before = await readFile(file(), 'utf8');
  await expect(contexts().update(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await readFile(file(), 'utf8')).toBe(before);
  await add('two');
  expect(Object.keys((await contexts().read()).contexts)).toEqual(['one', 'two']);
});

/** As a process leaves it that dies while it holds it. */
async function leaveLock(): Promise<void> {
  await mkdir(path.dirname(file()), { recursive: true });
  await writeFile(`${file()}.lock`, 'nobody');
  const longAgo = new Date(Date.now() - 120_000);
  await utimes(`${file()}.lock`, longAgo, longAgo);
}

test('a lock that a process left behind when it died is taken away', async () => {
  await leaveLock();
  await add('one');
  expect(Object.keys((await contexts().read()).contexts)).toEqual(['one']);
});

test('twenty that find such a lock take it away once: none takes another’s for it', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `c${i}`);
  await leaveLock();
  await Promise.all(names.map(add));
  expect(Object.keys((await contexts().read()).contexts).sort()).toEqual(names.sort());
  expect(await readdir(path.dirname(file()))).toEqual(['config.json']);
});

test('a file that is a link stays one, and what it leads to is written', async () => {
  const real = path.join(folder, 'dotfiles.json');
  await writeFile(real, '{"contexts":{}}', { mode: 0o600 });
  await mkdir(path.dirname(file()), { recursive: true });
  await symlink(real, file());
  await add('one');
  expect((await lstat(file())).isSymbolicLink()).toBe(true);
  expect(await readFile(real, 'utf8')).toContain('https://one');
});

test('it is where XDG_CONFIG_HOME and HOME say, unless REALMCTL_CONFIG says otherwise', () => {
  const at = (env: Record<string, string>) => contextFile(env, () => {}).path;
  expect(at({ HOME: '/home/ana' })).toBe('/home/ana/.config/realmctl/config.json');
  expect(at({ HOME: '/home/ana', XDG_CONFIG_HOME: '/xdg' })).toBe('/xdg/realmctl/config.json');
  expect(at({ HOME: '/home/ana', XDG_CONFIG_HOME: '/xdg', REALMCTL_CONFIG: '/my/file' })).toBe('/my/file');
});

test('REALMCTL_REALM names the realm of commands before the context’s own does', async () => {
  await contexts().update(async (all) => ({
    ...all,
    current: 'one',
    contexts: { one: { server: 'https://one', realm: 'master', defaultRealm: 'kept' } },
  }));
  const realm = (env: Record<string, string>) => defaultRealm({ env, file: contexts() }, () => undefined)();
  expect(await realm({})).toBe('kept');
  expect(await realm({ REALMCTL_REALM: 'named' })).toBe('named');
  const client = { REALMCTL_SERVER: 'https://one', REALMCTL_CLIENT_ID: 'ci', REALMCTL_CLIENT_SECRET: 'x' };
  expect(await realm({ ...client, REALMCTL_REALM: 'named' })).toBe('named');
  expect(await realm({ ...client, REALMCTL_REALM: 'master' })).toBe(undefined);
});
