// Owns: manifests of earlier builds: realmctl and the operator apply them, and they say the same as that build's export.
// Does not own: documents of earlier builds (server/features/transfer.earlier.test.ts), manifests of today (manifests.test.ts).
// Implements: contract/earlier-documents.ts; docs/import-export.md "Documents of earlier versions".
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { createFolder, eventually, type Folder, startTestOperator, type TestOperator } from '../support/operator.ts';
import { asOperator, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { importer } from '../support/transfer.ts';

const fixtures = path.join(import.meta.dirname, '../server/fixtures/exports');
const document = JSON.parse(readFileSync(path.join(fixtures, '2026-11-22.json'), 'utf8'));
const manifests = readFileSync(path.join(fixtures, '2026-11-22.yaml'), 'utf8');
const objects = parseAllDocuments(manifests).map((one) => one.toJS());
const SECRET = 'Kq3vT9xZ0bRw7LmY2sHdF5jN8pGcAe4U';

const names = [...manifests.matchAll(/secretKeyRef:\s+name: (\S+)/g)].flatMap(([, name]) => name ?? []);
const secretsIn = (namespace?: string) =>
  names
    .map((name) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace },
      stringData: { secret: SECRET },
    }))
    .map((secret) => stringify(secret))
    .join('---\n');

let imported: TestServer;
let applied: TestServer;
let operated: TestServer;
let folder: Folder;
let operator: TestOperator;
beforeAll(async () => {
  const variables = Object.fromEntries(document.requiredEnv.map((name: string) => [name, SECRET]));
  [imported, applied, operated, folder] = await Promise.all([
    startTestServer({ env: variables }),
    startTestServer({ env: withOperator }),
    startTestServer({ env: withOperator }),
    createFolder(),
  ]);
  operator = await startTestOperator({ serverUrl: operated.baseUrl, dir: folder.dir, operatorNamespace: 'identity' });
  const { users: _, ...configuration } = document;
  const organizations = configuration.organizations.map(({ members: __, ...rest }: Record<string, unknown>) => rest);
  await (await importer(imported)).apply('acme', { ...configuration, organizations });
});
afterAll(async () => {
  await operator?.stop();
  await Promise.all([imported?.stop(), applied?.stop(), operated?.stop(), folder?.drop()]);
});

const configurationAt = async (server: TestServer) =>
  JSON.parse(await (await importer(server)).download('acme', '?users=false'));

test('applied by realmctl, they give the realm that the export gives, and again nothing changes', async () => {
  const files = { stdin: `${manifests}---\n${secretsIn()}` };
  const { code, stderr } = await realmctl(asOperator(applied), ['apply', '--yes', '-f', '-'], files);
  expect(code, stderr).toBe(0);
  expect(await configurationAt(applied)).toEqual(await configurationAt(imported));
  expect(await realmctl(asOperator(applied), ['diff', '-f', '-'], files)).toMatchObject({ code: 0 });
});

test('kept by the operator, each becomes Ready, and they give the same realm', async () => {
  const placed = objects.map((one) => ({ ...one, metadata: { ...one.metadata, namespace: 'identity' } }));
  await folder.writeText('secrets.yaml', secretsIn('identity'));
  await folder.writeText('realm.yaml', placed.map((one) => stringify(one)).join('---\n'));
  await eventually(() => {
    const unready = placed.flatMap(({ kind, metadata }) => {
      const ready = operator.condition(kind, metadata.name, 'Ready', 'identity');
      return ready?.status === 'True' ? [] : [`${kind} ${metadata.name}: ${ready?.message}`];
    });
    expect(unready).toEqual([]);
  });
  expect(await configurationAt(operated)).toEqual(await configurationAt(imported));
});
