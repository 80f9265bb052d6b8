// `npm run operator` as a user meets it: its help, its faults all at once, a folder, a graceful end.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { managersOf } from '../../operator/managers.ts';
import type { Client } from '../../server/contract/client.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { VERSION } from '../../server/contract/version.ts';
import { compileCache } from '../support/compile-cache.ts';
import { createFolder, eventually, type Folder, OPERATOR_SECRET, resource } from '../support/operator.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const main = path.resolve(import.meta.dirname, '../../operator/main.ts');
let server: TestServer;
let folder: Folder;
let children: ChildProcess[] = [];

function run(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH ?? '', ...compileCache(), ...env },
  });
  children.push(child);
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    said.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said.err += chunk;
  });
  const ended = once(child, 'close').then(([code]) => code);
  return { child, said, ended };
}

beforeAll(async () => {
  server = await startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET } });
  folder = await createFolder();
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
});
afterAll(async () => {
  await server?.stop();
  await folder?.drop();
});

test('--help says everything and ends well', async () => {
  const { said, ended } = run(['--help']);
  expect(await ended).toBe(0);
  for (const word of ['--manifests', '--cluster-name', '--realm-namespaces', 'SVC_SERVER_URL', 'KUBECONFIG'])
    expect(said.out).toContain(word);
});

test('every fault of environment and arguments is told at once, and no secret', async () => {
  const { said, ended } = run(['--concurrency', '0', '--realm-namespaces', 'a in (b)'], {
    SVC_SERVER_URL: 'ftp://x',
    SVC_OPERATOR_CLIENT_SECRET: 'very secret',
    SVC_OPERATOR_TOKEN_FILE: '/token',
  });
  expect(await ended).toBe(1);
  for (const word of ['SVC_SERVER_URL', 'only one of', '--concurrency']) expect(said.err).toContain(word);
  expect(said.err).not.toContain('very secret');
});

test('an unknown option is refused by name', async () => {
  const { said, ended } = run(['--colour', 'red']);
  expect(await ended).toBe(1);
  expect(said.err).toContain('--colour');
});

test('a folder that isn’t there is named', async () => {
  const env = { SVC_SERVER_URL: server.baseUrl, SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET };
  const { said, ended } = run(['--manifests', path.join(folder.dir, 'missing')], env);
  expect(await ended).toBe(1);
  expect(said.err).toContain('missing');
});

test('a folder is applied, and SIGTERM ends the operator gracefully', async () => {
  const params = { realm: 'acme' };
  await folder.write('realm.yaml', resource('Realm', 'acme', { realm: 'acme', settings: { displayName: 'Acme' } }));
  const env = { SVC_SERVER_URL: `${server.baseUrl}/`, SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET };
  const { child, said, ended } = run(['--manifests', folder.dir, '--cluster-name', 'laptop'], env);
  await eventually(async () => {
    const { body } = await server.admin.call(getSettings, { params });
    expect(body?.displayName).toBe('Acme');
  });
  await eventually(() => expect(said.err).toContain('as laptop'));
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(said.err).not.toContain(OPERATOR_SECRET);
  const lines = said.err
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const line of lines) expect(line).toMatchObject({ level: 'info', time: expect.any(String) });
  expect(lines[0]).toMatchObject({ msg: 'Realmkeeper operator starts', version: VERSION });
  expect(lines.at(-1)).toMatchObject({ msg: 'Realmkeeper operator has stopped' });
});

test('what vanished from a folder is let go on each server that answers, under one name on two of them', async () => {
  const euSecret = 'svc_cs_operator-of-the-server-eu-0123456789';
  const eu = await startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: euSecret } });
  const documents = await createFolder();
  try {
    const secretFile = path.join(documents.dir, 'secret');
    await writeFile(secretFile, euSecret);
    const env = { SVC_SERVER_URL: server.baseUrl, SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET };
    const operatorOf = (servers: Record<string, string>) => {
      const named = Object.entries(servers).map(([name, url]) => `${name}=${url},client-secret-file=${secretFile}`);
      const more = named.flatMap((one) => ['--server', one]);
      return run(['--manifests', documents.dir, '--cluster-name', 'laptop', ...more], env);
    };
    const manager = 'k8s:laptop/default/Realm/twin';
    const of = (client: Client) => managersOf(client, 'twin');
    for (const [client, more] of [[server.admin, {}] as const, [eu.admin, { serverRef: 'eu' }] as const]) {
      await documents.write(
        'realm.yaml',
        resource('Realm', 'twin', { realm: 'twin', roles: [{ name: 'a' }], ...more }),
      );
      const { child, ended } = operatorOf({ eu: eu.baseUrl });
      await eventually(async () => expect(await of(client)).toContain(manager));
      child.kill('SIGTERM');
      await ended;
    }
    await documents.remove('realm.yaml');
    // nobody answers at the last
    operatorOf({ eu: eu.baseUrl, away: 'http://127.0.0.1:9' });
    for (const client of [server.admin, eu.admin])
      await eventually(async () => expect(await of(client)).not.toContain(manager));
  } finally {
    await eu.stop();
    await documents.drop();
  }
});

test('an operator that the server doesn’t know says so and goes on trying', async () => {
  const env = {
    SVC_SERVER_URL: server.baseUrl,
    SVC_OPERATOR_CLIENT_SECRET: 'svc_cs_not-the-one-0123456789abcdefghijk',
  };
  const { child, said, ended } = run(['--manifests', folder.dir], env);
  await eventually(() => expect(said.err).toContain("refused the operator's sign-in (401)"));
  expect(child.exitCode).toBeNull();
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});

test('a cluster that is away is waited for, and SIGTERM ends the waiting', async () => {
  const kubeconfig = path.join(folder.dir, 'kubeconfig.json');
  const cluster = { server: 'https://127.0.0.1:1' };
  const config = {
    clusters: [{ name: 'away', cluster }],
    users: [{ name: 'me', user: { token: 'none' } }],
    contexts: [{ name: 'away', context: { cluster: 'away', user: 'me' } }],
    'current-context': 'away',
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const env = { SVC_SERVER_URL: server.baseUrl, SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET, KUBECONFIG: kubeconfig };
  const { child, said, ended } = run([], env);
  await eventually(() => expect(said.err).toContain('cannot reach the Kubernetes API: connect ECONNREFUSED'));
  expect(child.exitCode).toBeNull();
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});
