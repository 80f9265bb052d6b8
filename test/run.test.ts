import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

let root: string;

beforeAll(async () => {
  root = await fs.mkdtemp(path.join(os.tmpdir(), 'run-'));
  await fs.symlink(path.resolve('node_modules'), path.join(root, 'node_modules'));
});

afterAll(() => fs.rm(root, { recursive: true }));

/** Runs `npm test` over files of its own. */
async function run(files: Record<string, string>, env: NodeJS.ProcessEnv = {}, args: string[] = []) {
  const folder = await fs.mkdtemp(path.join(root, 'case-'));
  for (const [name, text] of Object.entries(files)) {
    await fs.writeFile(path.join(folder, name), `import { expect, test } from 'vitest';\n${text}`);
  }
  return npmTest(['--root', folder, ...args], env);
}

function npmTest(args: string[], env: NodeJS.ProcessEnv) {
  const clean = { ...process.env, CI: '', NODE_OPTIONS: '', VITEST: undefined, ...env };
  return new Promise<{ code: unknown; last: string | undefined; output: string }>((resolve) => {
    execFile(process.execPath, [path.resolve('test/run.ts'), ...args], { env: clean }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, last: stdout.trimEnd().split('\n').at(-1), output: stdout + stderr });
    });
  });
}

const passes = "test('passes', () => {});\n";
const fails = "test('fails', () => expect(1).toBe(2));\n";
const skipped = "test.skip('skipped', () => {});\n";

test('the last line counts the tests, and success is 0', async () => {
  const { code, last } = await run({ 'a.test.ts': passes, 'b.test.ts': `${passes}test('again', () => {});` });
  expect([code, last]).toEqual([0, '3 passed, 0 failed']);
});

test('a failed test fails the run, which names it at its end', async () => {
  const { code, last, output } = await run({ 'a.test.ts': passes + fails });
  expect([code, last]).toEqual([1, '1 passed, 1 failed']);
  expect(output.slice(output.indexOf('skipped '))).toMatch(/^FAILED .*a\.test\.ts > fails: expected 1 to be 2/m);
});

test('a test that passes at its second try is named, where it has one', async () => {
  const twice = "let tries = 0;\ntest('wavers', () => { tries += 1; expect(tries).toBe(2); });\n";
  const { code, last, output } = await run({ 'a.test.ts': twice }, {}, ['--retry', '1']);
  expect([code, last]).toEqual([0, '1 passed, 0 failed']);
  expect(output).toMatch(/^UNSTEADY .*a\.test\.ts > wavers$/m);
  expect((await run({ 'a.test.ts': twice })).last).toBe('0 passed, 1 failed');
});

test('a file that cannot be loaded counts as a failure, and is named', async () => {
  const { code, last, output } = await run({ 'a.test.ts': passes, 'b.test.ts': "import './absent.ts';" });
  expect([code, last]).toEqual([1, '1 passed, 1 failed']);
  expect(output).toMatch(/^FAILED .*b\.test\.ts: .*absent/m);
});

test('an error outside of the tests counts as a failure', async () => {
  const { code, last } = await run({ 'a.test.ts': `${passes}void Promise.reject(new Error('nobody waits'));` });
  expect([code, last]).toEqual([1, '1 passed, 1 failed']);
});

test('a skipped test is counted, and with CI=true it fails the run', async () => {
  const files = { 'a.test.ts': passes + skipped };
  const [local, ci] = await Promise.all([run(files), run(files, { CI: 'true' })]);
  expect([local.code, local.last]).toEqual([0, '1 passed, 0 failed, 1 skipped']);
  expect([ci.code, ci.last]).toEqual([1, '1 passed, 0 failed, 1 skipped']);
});

test('a run without a test is no success', async () => {
  const [none, onlySkipped, noSuchFile] = await Promise.all([
    run({}),
    run({ 'a.test.ts': skipped }),
    run({ 'a.test.ts': passes }, {}, ['absent.test.ts']),
  ]);
  expect([none.code, none.last]).toEqual([1, '0 passed, 0 failed']);
  expect([onlySkipped.code, onlySkipped.last]).toEqual([1, '0 passed, 0 failed, 1 skipped']);
  expect([noSuchFile.code, noSuchFile.last]).toEqual([1, '0 passed, 0 failed']);
});

test('arguments choose the file and the test', async () => {
  const files = { 'a.test.ts': `${passes}${fails}`, 'b.test.ts': fails };
  const { code, last } = await run(files, { CI: 'true' }, ['a.test.ts', '-t', 'passes']);
  expect([code, last]).toEqual([0, '1 passed, 0 failed']);
});

test('what needs a part that cannot be had is skipped with the reason', async () => {
  const env = { KUBEBUILDER_ASSETS: root };
  const args = ['test/kubernetes/cluster.test.ts', 'test/support/needs.unit.test.ts'];
  const [local, ci] = await Promise.all([npmTest(args, env), npmTest(args, { ...env, CI: 'true' })]);
  expect(local.output).toMatch(/^SKIPPED \d+ of cluster: KUBEBUILDER_ASSETS is /m);
  expect([local.code, local.last]).toEqual([0, expect.stringMatching(/^[1-9]\d* passed, 0 failed, [1-9]\d* skipped$/)]);
  expect(ci).toMatchObject({ code: 1, last: local.last });
});
