// `realmctl export` and `import` as people run them: a process against a real server.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { freshClientScopes } from '../../server/contract/client-scopes.ts';
import { eventually } from '../support/operator.ts';
import { asOperator, type Ran, realmctl, realmctlProcess, startRealmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Importer, importer } from '../support/transfer.ts';

let server: TestServer;
let api: Importer;
let dir: string;
const run = (args: readonly string[]): Promise<Ran> => realmctl(asOperator(server), args);
/** In a folder of its own. */
const runThere = (args: readonly string[]): Promise<Ran> => realmctlProcess(asOperator(server), args, { cwd: dir });

beforeAll(async () => {
  [server, dir] = await Promise.all([
    startTestServer({ env: withOperator }),
    mkdtemp(path.join(os.tmpdir(), 'realmctl-')),
  ]);
  api = await importer(server);
  await api.apply('acme', {
    realm: { displayName: 'Ácme: on', customCss: 'a {\n  color: red;\n}\n' },
    clients: [{ clientId: 'billing', grantTypes: ['client_credentials'], secret: 'a secret of the billing client' }],
    webhooks: [{ name: 'Audit trail', url: 'https://audit.example.com', eventTypes: '*' }],
    users: [{ username: 'ana' }, { username: 'on', attributes: { 'a: b': ['- x', 'two\nlines'] } }],
  });
});
afterAll(async () => {
  await server.stop();
  await rm(dir, { recursive: true });
});

test('a document on standard output is the server’s, byte for byte', async () => {
  const { code, stdout, stderr } = await run(['export', 'acme']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(await api.download('acme'));
});

test('a document in YAML holds what the one in JSON holds', async () => {
  const { code, stdout } = await run(['export', 'acme', '--format', 'yaml']);
  expect(code).toBe(0);
  expect(parse(stdout)).toEqual(JSON.parse(await api.download('acme')));
});

test('the file’s name says the format, users are left out when asked, and a file with users is its owner’s alone', async () => {
  expect(await runThere(['export', 'acme', '--no-users', '-o', 'plain.yaml'])).toMatchObject({ code: 0, stdout: '' });
  const plain = parse(await readFile(path.join(dir, 'plain.yaml'), 'utf8'));
  expect(plain).toEqual(JSON.parse(await api.download('acme', '?users=false')));
  await runThere(['export', 'acme', '--output-dir', 'new/folder']);
  const file = path.join(dir, 'new/folder/acme.json');
  expect(await readFile(file, 'utf8')).toBe(await api.download('acme'));
  expect((await stat(file)).mode & 0o077).toBe(0);
});

test('a file that was there stays whole where the export fails, and nothing else is left behind', async () => {
  await writeFile(path.join(dir, 'kept.json'), 'kept');
  const before = await readdir(dir);
  const { code, stderr } = await runThere(['export', 'nowhere', '-o', 'kept.json']);
  expect(code).toBe(2);
  expect(stderr).toContain('nowhere');
  expect(await readFile(path.join(dir, 'kept.json'), 'utf8')).toBe('kept');
  expect(await readdir(dir)).toEqual(before);
});

test.each([
  [['export'], /realm/],
  [['export', 'ACME'], /not the name of a realm/],
  [['export', 'acme', '-o', 'yaml'], /--format yaml/],
  [['export', 'acme', '-o', 'a', '--output-dir', 'b'], /not both/],
  [['export', 'acme', '-n', 'identity'], /--as manifests/],
  [['export', 'acme', '-o', 'no/such/folder/x.json'], /cannot write/],
])('realmctl %j is refused in words', async (args, words) => {
  const { code, stdout, stderr } = await run(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(words);
});

test('a server that nobody answers at is exit code 3', async () => {
  const { code, stderr } = await realmctl({ ...asOperator(server), REALMCTL_SERVER: 'http://127.0.0.1:9' }, [
    'export',
    'acme',
  ]);
  expect(code).toBe(3);
  expect(stderr).toContain('cannot be reached');
});

test('manifests come as one stream, with the Secrets to create in front and on standard error', async () => {
  const first = await run(['export', 'acme', '--as', 'manifests', '-n', 'identity']);
  expect(first.code).toBe(0);
  const objects = parseAllDocuments(first.stdout).map((d) => d.toJS());
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`)).toEqual([
    'Realm identity/acme',
    'Flow identity/acme.browser',
    expect.stringMatching(/^Webhook identity\/acme\.audit-trail--[0-9a-f]{10}$/),
  ]);
  for (const text of [first.stdout, first.stderr])
    expect(text).toContain(
      'kubectl create secret generic acme.client.billing --namespace identity --from-file=secret=FILE',
    );
  const second = await run(['export', 'acme', '--as', 'manifests', '-n', 'identity']);
  expect(second.stdout).toBe(first.stdout);
});

test('manifests come as a folder of one file for each object, and what is no longer in the realm is named', async () => {
  const folder = path.join(dir, 'git');
  const args = ['export', 'acme', '--as', 'manifests', '--output-dir', 'git', '--secret-templates', 'secrets.tmpl'];
  await runThere(args);
  await writeFile(path.join(folder, 'flow-acme.gone.yaml'), '');
  await writeFile(path.join(folder, 'flow-other.kept.yaml'), '');
  const { stderr } = await runThere(args);
  expect(stderr).toMatch(/remove them yourself: flow-acme\.gone\.yaml\n/);
  const names = await readdir(folder);
  expect(names.filter((name) => name.endsWith('.yaml'))).toEqual(
    expect.arrayContaining(['flow-acme.browser.yaml', 'realm-acme.yaml']),
  );
  expect(names).toContain('secrets-acme.txt');
  expect(parse(await readFile(path.join(dir, 'secrets.tmpl'), 'utf8'))).toMatchObject({
    kind: 'Secret',
    metadata: { name: 'acme.client.billing' },
    stringData: { secret: '' },
  });
});

test('of what every new realm has, a new realm’s manifests miss nothing', async () => {
  await api.apply('fresh', {});
  const scopes = JSON.parse(await api.download('fresh')).clientScopes;
  expect(scopes.map(({ name }: { name: string }) => name)).toEqual([...freshClientScopes].sort());
  expect((await run(['export', 'fresh', '--as', 'manifests'])).stderr).not.toMatch(/lacks/);
});

test('an export that is stopped leaves no half file behind', async () => {
  const users = Array.from({ length: 20_000 }, (_, n) => ({ username: `user-${n}` }));
  await api.apply('large', { users });
  const folder = await mkdtemp(path.join(dir, 'stopped-'));
  const file = path.join(folder, 'large.yaml');
  const running = startRealmctl(asOperator(server), ['export', 'large', '-o', file]);
  await eventually(async () => expect(await readdir(folder)).not.toEqual([]));
  running.interrupt();
  const { code } = await running.ended;
  if (code === 0) expect(parse(await readFile(file, 'utf8')).users).toHaveLength(users.length);
  else {
    expect(code).toBe(130);
    expect(await readdir(folder)).toEqual([]);
  }
});

test('also the realm of the administrators fits into manifests, with a word about where it may be declared', async () => {
  const { code, stdout, stderr } = await run(['export', 'master', '--as', 'manifests']);
  expect(code).toBe(0);
  expect(parseAllDocuments(stdout)[0]?.toJS()).toMatchObject({ kind: 'Realm', spec: { realm: 'master' } });
  expect(stderr).toContain("only in the operator's own namespace");
});

test('manifests without defaults hold what makes it this realm', async () => {
  const { code, stdout, stderr } = await run(['export', 'acme', '--as', 'manifests', '--without-defaults']);
  expect({ code, stderr: stderr.includes('goes with') }).toEqual({ code: 0, stderr: false });
  const [realm] = parseAllDocuments(stdout)
    .map((one) => one.toJSON())
    .filter(({ kind }) => kind === 'Realm');
  expect(realm.spec).toMatchObject({ realm: 'acme', clients: [{ clientId: 'billing' }] });
  expect(Object.keys(realm.spec.settings).toSorted()).toEqual(['customCss', 'displayName']);
});
