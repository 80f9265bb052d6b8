// Completion: what may come next is what the program takes, asked by a real bash.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileCache } from '../support/compile-cache.ts';
import { asOperator, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { importer } from '../support/transfer.ts';

const main = path.resolve(import.meta.dirname, '../../cli/main.ts');
let server: TestServer;
let dir: string;

beforeAll(async () => {
  [server, dir] = await Promise.all([
    startTestServer({ env: withOperator }),
    mkdtemp(path.join(os.tmpdir(), 'realmctl-')),
  ]);
  const api = await importer(server);
  await api.apply('acme', { clients: [{ clientId: 'billing' }, { clientId: 'back office $(touch x)' }] });
  await writeFile(path.join(dir, 'realmctl'), `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`);
  await chmod(path.join(dir, 'realmctl'), 0o755);
  await writeFile(path.join(dir, 'some file.json'), '');
});
afterAll(async () => {
  await server.stop();
  await rm(dir, { recursive: true });
});

/** What bash has in COMPREPLY after a Tab behind `line`, asked through the function that the script declares. */
async function tab(line: string): Promise<string[]> {
  const script = `
source <(realmctl completion bash)
compopt() { echo "compopt $*"; }
read -ra COMP_WORDS <<< "$LINE"
[[ $LINE == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
$(complete -p realmctl | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
(( \${#COMPREPLY[@]} )) && printf '%s\\n' "\${COMPREPLY[@]}"; true`;
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', script], {
    cwd: dir,
    env: { PATH: `${dir}:${process.env.PATH}`, HOME: dir, LINE: line, ...compileCache(), ...asOperator(server) },
  });
  return stdout.trimEnd().split('\n');
}

test('bash completes commands, kinds, options, their values, realms and names', async () => {
  expect(await tab('realmctl ex')).toEqual(['export']);
  expect(await tab('realmctl get client')).toEqual(['client-scopes', 'clients', 'client-roles']);
  expect(await tab('realmctl export acme --as ')).toEqual(['document', 'manifests']);
  expect(await tab('realmctl export acme --output')).toEqual(['--output', '--output-dir']);
  expect(await tab('realmctl get realms --context x -o y')).toEqual(['yaml']);
  expect(await tab('realmctl managers rel')).toEqual(['release']);
  // what the server doesn't answer in time is not told: as a person does, once more
  await expect.poll(() => tab('realmctl export a')).toEqual(['acme']);
  await expect.poll(() => tab('realmctl get clients -r ac')).toEqual(['acme']);
  await expect.poll(() => tab('realmctl describe client -r acme bil')).toEqual(['billing']);
});

test('a name from the server is quoted, so that it never runs', async () => {
  const ask = () => tab('realmctl describe client -r acme back');
  await expect.poll(ask).not.toEqual(['']);
  const [found] = await ask();
  const { stdout } = await promisify(execFile)('bash', ['-c', `printf %s ${found}`], { cwd: dir });
  expect(stdout).toBe('back office $(touch x)');
});

test('where a file is wanted, the shell’s own completion is asked for', async () => {
  expect(await tab('realmctl import acme -f so')).toEqual(['compopt -o default']);
});

test('nobody signed in, or nobody there: no words, no faults', async () => {
  for (const env of [{}, { ...asOperator(server), REALMCTL_SERVER: 'http://127.0.0.1:9' }])
    expect(await realmctl(env, ['completion', 'words', '--', 'export', ''])).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
});

test.each(['zsh', 'fish'])('%s gets a script of its own', async (shell) => {
  const { code, stdout } = await realmctl({}, ['completion', shell]);
  expect(code).toBe(0);
  expect(stdout).toContain('completion words --');
});
