// What somebody sees who starts this with a Node that is too old; where the machine has one beside the pinned runtime.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');
const { engines, scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const check = 'node-version.mjs';
const older = (process.env.PATH ?? '')
  .split(':')
  .filter((dir) => !dir.includes('node_modules'))
  .map((dir) => path.join(dir, 'node'))
  .find((file) => existsSync(file) && /^v(1\d|2[0-3])\./.test(spawnSync(file, ['--version']).stdout.toString()));

test('every program of the scripts looks at its Node first, and asks for what package.json promises', () => {
  const programs = Object.entries<string>(scripts).filter(([, line]) => /(?:^| )node /.test(line));
  expect(programs.filter(([, line]) => !line.includes(`--import ./${check} `)).map(([name]) => name)).toEqual([]);
  const [, needs] = /NEEDS = \[([\d, ]+)\]/.exec(readFileSync(path.join(root, check), 'utf8')) ?? [];
  expect(`>=${needs?.replace(', ', '.')}`).toBe(engines.node);
});

test('programs of dist/ look at it before anything that an old one lacks is imported', () => {
  const text = readFileSync(path.join(root, 'build.ts'), 'utf8');
  const [, first = ''] = /`import '\.\/node-version\.mjs';\\n([^`]*)`/.exec(text) ?? [];
  expect(first).toMatch(/^const .* = await import\(/);
});

test.skipIf(older === undefined)('one that is too old is told in one line, with what to do', () => {
  for (const program of ['quickstart/main.ts', 'server/main.ts', 'cli/main.ts']) {
    const { status, stderr, stdout } = spawnSync(older ?? '', ['--import', `./${check}`, program], { cwd: root });
    expect([status, stdout.toString()]).toEqual([1, '']);
    expect(stderr.toString()).toMatch(/^Realmkeeper needs Node 24\.15 or newer; this is \S+\. On Linux[^\n]*\n$/);
  }
});
