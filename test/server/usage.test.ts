// What the programs say to arguments: they are processes of their own here, as a person starts them.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const run = (program: string, ...args: string[]) =>
  new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [program, ...args], { cwd: root }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });

test.each([
  ['server/main.ts', 'npm run server'],
  ['quickstart/main.ts', 'npm start'],
])(
  '%s explains itself with examples, and starts nothing by an argument that it does not know',
  async (program, usage) => {
    const helped = await run(program, '--help');
    expect(helped).toMatchObject({ code: 0, stderr: '' });
    expect(helped.stdout).toContain(`Usage: ${usage}\n`);
    expect(helped.stdout).toMatch(/DATABASE_URL .*\nExamples\n/s);
    expect(helped.stdout.split('\n').filter((line) => line.length > 120)).toEqual([]);
    const refused = await run(program, 'DATABASE_URL=postgres://user:hidden@host/database');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('takes no arguments: everything comes from the environment. See --help.');
    expect(refused.stderr).not.toContain('hidden');
  },
);

test.each([
  ['server/db/main.ts', 'npm run migrate'],
  ['server/recover/main.ts', 'npm run recover-admin'],
  ['server/generate.ts', 'npm run generate'],
  ['test/kubernetes/prepare.ts', 'npm run kubernetes'],
  ['build.ts', 'npm run build'],
])('%s explains itself with examples, and does nothing by an option that it does not know', async (program, usage) => {
  const helped = await run(program, '--help');
  expect(helped).toMatchObject({ code: 0, stderr: '' });
  expect(helped.stdout).toContain(`Usage: ${usage}`);
  expect(helped.stdout).toMatch(/\nExamples?\n/);
  const refused = await run(program, '--nonsense');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain(`Usage: ${usage}`);
});

test.each([
  ['test/bench/main.ts', 'npm run bench'],
  ['test/bench/operator/main.ts', 'npm run bench:operator'],
])('%s explains itself, and measures nothing by an option that it does not know', async (program, usage) => {
  const helped = await run(program, '--help');
  expect(helped).toMatchObject({ code: 0, stderr: '' });
  expect(helped.stdout.split(' -- ')[0]).toBe(usage);
  const refused = await run(program, '--nonsense');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain(`${usage} -- `);
  expect(refused.stderr).not.toMatch(/^ {4}at /m);
});
