// A realm full of things, exported as manifests, applied with kubectl to a real API server and kept by the operator at an
// empty server: the same realm; and Kubernetes finds no difference afterwards.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fillSecrets } from '../support/fill-secrets.ts';
import { fullRealm } from '../support/full-realm.ts';
import { type Landscape, type Program, startLandscape } from '../support/landscape.ts';
import { eventually } from '../support/operator.ts';
import { asOperator, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { importer } from '../support/transfer.ts';

let first: TestServer;
let land: Landscape;
let operator: Program;
let dir: string;
const at = (file: string) => path.join(dir, file);
const exported = async (server: { baseUrl: string }) =>
  (await realmctl(asOperator(server), ['export', 'acme', '--no-users'])).stdout;

beforeAll(async () => {
  [first, land, dir] = await Promise.all([
    startTestServer({ env: withOperator }),
    startLandscape(),
    mkdtemp(path.join(os.tmpdir(), 'realmctl-')),
  ]);
  await (await importer(first)).apply('acme', fullRealm());
  await land.server.start();
  // only in its own namespace may a Realm give admin roles
  operator = land.operatorLike('operator-identity', { args: ['--no-leader-elect', '--namespace', 'identity'] });
  await operator.start();
  await land.kubectl('create', 'namespace', 'identity');
});
afterAll(async () => {
  await operator?.kill();
  await Promise.all([land?.stop(), first?.stop()]);
  await rm(dir, { recursive: true, force: true });
});

test('kubectl takes the manifests, the operator makes them Ready, and the export is the same byte for byte', async () => {
  const args = ['export', 'acme', '--as', 'manifests', '-n', 'identity', '--secret-templates', at('empty.tmpl')];
  const { code, stdout, stderr } = await realmctl(asOperator(first), args);
  expect(code, stderr).toBe(0);
  await writeFile(at('manifests.yaml'), stdout);
  await writeFile(at('secrets.yaml'), fillSecrets(await readFile(at('empty.tmpl'), 'utf8'), stdout));
  await land.kubectl('apply', '--server-side', '-f', at('manifests.yaml'), '-f', at('secrets.yaml'));
  const wait = ['wait', '--for=condition=Ready', '--timeout=120s', '-n', 'identity', 'realmkeeper', '--all'];
  await land.kubectl(...wait).catch(async (error: Error) => {
    throw new Error(`${error.message}\n${await operator.said()}`);
  });
  const second = { baseUrl: land.serverUrl };
  await eventually(async () => expect(await exported(second)).toBe(await exported(first)));
  const diff = await land.cluster.kubectl(['diff', '--server-side', '-f', at('manifests.yaml')]);
  expect(diff).toMatchObject({ code: 0, stdout: '' });
});
