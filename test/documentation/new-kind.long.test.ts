// A kind of resource is the three files that docs/development.md has: put into a copy of the repository as they stand there, they pass
// types, lint and the tests of all kinds, and all that is written beside them is written by commands.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const MOST_FILES = 3;
const MOST_LINES = 120;

const documentation = readFileSync(path.join(root, 'docs/development.md'), 'utf8');
const files = [...documentation.matchAll(/^`(server\/[^`\n]+)`[^\n]*:\n\n```(?:ts|sql)\n([\s\S]*?)^```$/gm)].map(
  ([, file = '', text = '']) => ({ file: file.replace('NNNN', '9999'), text }),
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-new-kind-'));
  const outside = ['.git', '.data', 'node_modules', 'dist'].map((name) => path.join(root, name));
  await cp(root, folder, { recursive: true, filter: (source) => !outside.includes(source) });
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  for (const { file, text } of files) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** @returns what was written last; of a failure, all of it is in the error */
async function run(...args: string[]): Promise<string> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env, maxBuffer: 1e8 }).catch(
    (error) => Promise.reject(new Error(`${args.join(' ')}\n${error.stdout}\n${error.stderr}`)),
  );
  return stdout;
}
/** With one worker: the worker that runs this file waits meanwhile. */
const tests = (...args: string[]) => run('test/run.ts', '--maxWorkers', '1', ...args);

test('a kind is three files and few lines', () => {
  expect(files.map(({ file }) => file.split('/')[1])).toEqual(['contract', 'db', 'features']);
  expect(files.length).toBeLessThanOrEqual(MOST_FILES);
  expect(files.map(({ text }) => text.trimEnd().split('\n').length).reduce((sum, n) => sum + n)).toBeLessThanOrEqual(
    MOST_LINES,
  );
});

test('with them and what commands write, types, lint and the tests of all kinds pass', async () => {
  await run('server/generate.ts');
  await tests('test/guards/migrations.test.ts', '-u');
  await run('node_modules/typescript/bin/tsc', '--noEmit');
  await run(
    'node_modules/@biomejs/biome/bin/biome',
    'ci',
    '--error-on-warnings',
    ...files.map(({ file }) => file).filter((file) => file.endsWith('.ts')),
  );
  const all = /\n\d+ passed, 0 failed\n$/;
  // without guards/growth.long.test.ts, which names no kind and runs over the repository itself
  const short = ['--project', 'unit', '--project', 'server'];
  expect(await tests(...short, 'test/guards', 'test/cli/manifests.test.ts')).toMatch(all);
  const fields = ['test/server/resource/same-by-both-ways.test.ts', 'test/server/features/transfer.fields.test.ts'];
  // one for each field by both ways, one for all of them, and one for each by a document alone
  expect(await tests('--testNamePattern', 'notices', ...fields)).toMatch(/\n9 passed, 0 failed\n$/);
  expect(await readFile(path.join(folder, 'docs/cli.md'), 'utf8')).toContain('`notices`');
}, 1_800_000);
