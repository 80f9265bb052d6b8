// A realm full of things, exported as manifests, kept by the operator from a folder at an empty server: the same realm.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { fullRealm, fullRealmSecrets } from '../support/full-realm.ts';
import { createFolder, eventually, type Folder, startTestOperator, type TestOperator } from '../support/operator.ts';
import { asOperator, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Importer, importer } from '../support/transfer.ts';

let first: TestServer;
let second: TestServer;
let api: Importer;
let folder: Folder;
let operator: TestOperator;
let dir: string;

beforeAll(async () => {
  [first, second, folder, dir] = await Promise.all([
    startTestServer({ env: withOperator }),
    startTestServer({ env: withOperator }),
    createFolder(),
    mkdtemp(path.join(os.tmpdir(), 'realmctl-')),
  ]);
  api = await importer(first);
  await api.apply('acme', fullRealm());
  operator = await startTestOperator({ serverUrl: second.baseUrl, dir: folder.dir, operatorNamespace: 'identity' });
});
afterAll(async () => {
  await operator.stop();
  await Promise.all([first.stop(), second.stop(), folder.drop(), rm(dir, { recursive: true })]);
});

test('every object of the manifests becomes Ready, and the second server exports what the first one did', async () => {
  const args = ['export', 'acme', '--as', 'manifests', '-n', 'identity', '--secret-templates', 'secrets.yaml'];
  const { code, stdout, stderr } = await realmctl(asOperator(first), args, { cwd: dir });
  expect(code, stderr).toBe(0);
  const templates = await readFile(path.join(dir, 'secrets.yaml'), 'utf8');
  await folder.writeText('secrets.yaml', filled(templates, stdout));
  await folder.writeText('realm.yaml', stdout);
  const names = parseAllDocuments(stdout).map((d) => d.toJS());
  await eventually(() => {
    const unready = names.flatMap(({ kind, metadata }) => {
      const ready = operator.condition(kind, metadata.name, 'Ready', 'identity');
      return ready?.status === 'True' ? [] : [`${kind} ${metadata.name}: ${ready?.message}`];
    });
    expect(unready).toEqual([]);
  }, 60_000);
  await eventually(async () => {
    const there = await importer(second);
    expect(JSON.parse(await there.download('acme', '?users=false'))).toEqual(
      JSON.parse(await api.download('acme', '?users=false')),
    );
  });
}, 120_000);

/** The empty values replaced by the secrets of the objects that refer to them. */
function filled(templates: string, manifests: string): string {
  const named = new Map<string, string>();
  for (const { kind, spec } of parseAllDocuments(manifests).map((d) => d.toJS())) {
    if (kind === 'Webhook' && spec.secretKeyRef)
      named.set(spec.secretKeyRef.name, fullRealmSecrets[`webhook ${spec.name}`] ?? '');
    for (const client of spec.clients ?? [])
      if (client.secretKeyRef) named.set(client.secretKeyRef.name, fullRealmSecrets[`client ${client.clientId}`] ?? '');
  }
  return parseAllDocuments(templates)
    .map((d) => d.toJS())
    .map((secret) => stringify({ ...secret, stringData: { secret: named.get(secret.metadata.name) } }))
    .join('---\n');
}
