// A realm full of things, exported as manifests and applied to an empty server, by realmctl and by the operator from a
// folder: the same realm.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { fillSecrets } from '../support/fill-secrets.ts';
import { fullRealm } from '../support/full-realm.ts';
import { createFolder, eventually, type Folder, startTestOperator, type TestOperator } from '../support/operator.ts';
import { asOperator, realmctl, realmctlProcess, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Importer, importer } from '../support/transfer.ts';

let first: TestServer;
let second: TestServer;
let third: TestServer;
let api: Importer;
let folder: Folder;
let operator: TestOperator;
let dir: string;

beforeAll(async () => {
  [first, second, third, folder, dir] = await Promise.all([
    startTestServer({ env: withOperator }),
    startTestServer({ env: withOperator }),
    startTestServer({ env: withOperator }),
    createFolder(),
    mkdtemp(path.join(os.tmpdir(), 'realmctl-')),
  ]);
  api = await importer(first);
  await api.apply('acme', fullRealm());
  operator = await startTestOperator({ serverUrl: third.baseUrl, dir: folder.dir, operatorNamespace: 'identity' });
});
afterAll(async () => {
  await operator.stop();
  await Promise.all([first.stop(), second.stop(), third.stop(), folder.drop(), rm(dir, { recursive: true })]);
});

/** `manifests.yaml` and `secrets.yaml`, the values filled in. */
async function exported(): Promise<{ manifests: string; secrets: string }> {
  const args = [
    'export',
    'acme',
    '--as',
    'manifests',
    '-n',
    'identity',
    '--secret-templates',
    path.join(dir, 'empty.tmpl'),
  ];
  const { code, stdout, stderr } = await realmctl(asOperator(first), args);
  expect(code, stderr).toBe(0);
  return { manifests: stdout, secrets: fillSecrets(await readFile(path.join(dir, 'empty.tmpl'), 'utf8'), stdout) };
}
const configurationAt = async (server: TestServer) =>
  JSON.parse(await (await importer(server)).download('acme', '?users=false'));

test('applied by realmctl with the Secrets filled in, the second server exports what the first one did', async () => {
  const { manifests, secrets } = await exported();
  await writeFile(path.join(dir, 'manifests.yaml'), manifests);
  await writeFile(path.join(dir, 'secrets.yaml'), secrets);
  const files = ['-f', 'manifests.yaml', '-f', 'secrets.yaml'];
  const applied = await realmctlProcess(asOperator(second), ['apply', '--yes', ...files], { cwd: dir });
  expect(applied.code, applied.stderr).toBe(0);
  expect(await configurationAt(second)).toEqual(await configurationAt(first));
  expect(await realmctlProcess(asOperator(second), ['diff', ...files], { cwd: dir })).toMatchObject({ code: 0 });
});

test('applied where it came from, nothing changes but who manages it', async () => {
  const { manifests, secrets } = await exported();
  await realmctl(asOperator(first), ['managers', 'release', 'acme', 'import']);
  const plan = ['apply', '--dry-run', '-o', 'json', '-f', '-'];
  const { code, stdout } = await realmctl(asOperator(first), plan, { stdin: `${manifests}---\n${secrets}` });
  expect(code).toBe(0);
  const [{ changes, conflicts, ownership }] = JSON.parse(stdout).realms;
  expect({ changes, conflicts }).toEqual({ changes: [], conflicts: [] });
  expect(ownership.length).toBeGreaterThan(20);
});

test('without the Secrets nothing is applied, and each that is missing is named', async () => {
  const { manifests } = await exported();
  const { code, stderr } = await realmctl(asOperator(third), ['apply', '--yes', '-f', '-'], {
    stdin: manifests,
  });
  expect(code).toBe(2);
  for (const name of ['acme.client.billing', 'acme.webhook.audit']) expect(stderr).toContain(name);
  expect((await (await importer(third)).fetch('/admin/realms/acme')).status).toBe(404);
});

test('kept by the operator, every object becomes Ready, and the third server exports what the first one did', async () => {
  const { manifests, secrets } = await exported();
  await folder.writeText('secrets.yaml', secrets);
  await folder.writeText('realm.yaml', manifests);
  const objects = parseAllDocuments(manifests).map((d) => d.toJS());
  await eventually(() => {
    const unready = objects.flatMap(({ kind, metadata }) => {
      const ready = operator.condition(kind, metadata.name, 'Ready', 'identity');
      return ready?.status === 'True' ? [] : [`${kind} ${metadata.name}: ${ready?.message}`];
    });
    expect(unready).toEqual([]);
  });
  expect(await configurationAt(third)).toEqual(await configurationAt(first));
});
