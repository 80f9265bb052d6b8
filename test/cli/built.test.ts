// Owns: realmctl as it is handed out: built into a folder of its own, run with nothing beside it.
// Does not own: the commands; other roles of the build.
// Implements: issue "CLI": dist/realmctl.js.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { realmctl } from '../support/realmctl.ts';

const root = path.resolve(import.meta.dirname, '../..');
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'realmctl-dist-'));
  const { status, stderr } = spawnSync(process.execPath, ['build.ts', folder, '--role', 'realmctl'], { cwd: root });
  if (status !== 0) throw new Error(String(stderr));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('it runs by itself, as package.json’s bin says', async () => {
  const file = path.join(folder, path.basename(packageJson.bin.realmctl));
  const version = spawnSync(file, ['--version'], { cwd: folder, encoding: 'utf8' });
  expect(version.stdout.trim()).toBe(packageJson.version);
  const examples = path.join(root, 'crds/examples');
  expect((await realmctl({}, ['validate', '-f', examples], { file, cwd: folder })).code).toBe(0);
});

// what Node 24 has and Node 20 does not, which the compiler of the repository would let pass
test('it uses nothing that Node 20 does not have', () => {
  const files = readdirSync(path.join(root, 'cli'), { recursive: true, encoding: 'utf8' }).filter((f) =>
    f.endsWith('.ts'),
  );
  const newer =
    /\b(?:Promise\.(?:withResolvers|try)|Array\.fromAsync|(?:Map|Object)\.groupBy|styleText|RegExp\.escape|import\.meta\.(?:dirname|filename)|findPackageJSON)\b|\.(?:isSubsetOf|symmetricDifference)\(/;
  const found = files.filter((file) => newer.test(readFileSync(path.join(root, 'cli', file), 'utf8')));
  expect(found).toEqual([]);
});
