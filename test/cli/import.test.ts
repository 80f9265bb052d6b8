// `realmctl import` against a real server.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { asOperator, type Ran, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Importer, importer } from '../support/transfer.ts';

let server: TestServer;
let api: Importer;
let dir: string;
const run = (args: readonly string[], stdin = ''): Promise<Ran> => realmctl(asOperator(server), args, { stdin });
const exported = async (realm: string) => JSON.parse(await api.download(realm));

beforeAll(async () => {
  [server, dir] = await Promise.all([
    startTestServer({ env: withOperator }),
    mkdtemp(path.join(os.tmpdir(), 'realmctl-')),
  ]);
  api = await importer(server);
});
afterAll(async () => {
  await server.stop();
  await rm(dir, { recursive: true });
});

test('what one realm exports the next one imports, users included, through a pipe', async () => {
  await api.apply('first', {
    realm: { displayName: 'The first' },
    roles: [{ name: 'reader' }],
    users: Array.from({ length: 300 }, (_, n) => ({ username: `user-${n}`, roles: ['reader'] })),
  });
  const { stdout } = await run(['export', 'first']);
  expect(await run(['import', 'second', '-f', '-', '--dry-run'], stdout)).toEqual({
    code: 0,
    stdout: '302 to create, 0 to update, 0 to delete in realm second.\n',
    stderr: '',
  });
  const unasked = await run(['import', 'second', '-f', '-'], stdout);
  expect(unasked).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/no realm second[\s\S]*--yes/) });
  expect(await run(['import', 'second', '-f', '-', '--yes'], stdout)).toMatchObject({
    code: 0,
    stderr: 'Applied realm second: 302 created.\n',
  });
  expect(await exported('second')).toEqual(await exported('first'));
  const again = await run(['import', 'second', '-f', '-'], stdout);
  expect(again).toMatchObject({ code: 0, stdout: 'Realm second  in sync\n', stderr: '' });
});

test('YAML is a document too; a dry run changes nothing and says what it would', async () => {
  await writeFile(
    path.join(dir, 'acme.yaml'),
    `# a comment\n${stringify({ realm: { displayName: 'Acme' }, roles: [{ name: 'a' }, { name: 'b' }] })}`,
  );
  const dry = await run(['import', 'acme', '-f', path.join(dir, 'acme.yaml'), '--dry-run', '-o', 'json']);
  expect(dry.code).toBe(0);
  expect(JSON.parse(dry.stdout)).toMatchObject({ manager: 'realmctl', summary: { create: 3, update: 0 } });
  expect((await api.fetch('/admin/realms/acme')).status).toBe(404);
  expect(await run(['import', 'acme', '-f', path.join(dir, 'acme.yaml'), '--yes'])).toMatchObject({ code: 0 });
  expect((await exported('acme')).roles.map((role: { name: string }) => role.name)).toEqual(['a', 'b']);
});

test('with --prune goes what this manager applied before, and nobody else’s', async () => {
  await api.apply('pruned', { roles: [{ name: 'theirs' }] }, { manager: 'other' });
  await run(
    ['import', 'pruned', '-f', '-', '--manager', 'mine'],
    JSON.stringify({ roles: [{ name: 'a' }, { name: 'b' }] }),
  );
  await run(
    ['import', 'pruned', '-f', '-', '--manager', 'mine', '--prune', '--yes'],
    JSON.stringify({ roles: [{ name: 'b' }] }),
  );
  expect((await exported('pruned')).roles.map((role: { name: string }) => role.name)).toEqual(['b', 'theirs']);
});

test('what another manages is refused by name, and taken with --force', async () => {
  await api.apply(
    'owned',
    { roles: [{ name: 'reader', description: 'theirs' }] },
    { manager: 'k8s:prod/identity/Realm/owned' },
  );
  const document = JSON.stringify({ roles: [{ name: 'reader', description: 'mine' }] });
  const refused = await run(['import', 'owned', '-f', '-'], document);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('k8s:prod/identity/Realm/owned');
  expect(refused.stderr).toMatch(/--dry-run.*--force/);
  const dry = await run(['import', 'owned', '-f', '-', '--dry-run'], document);
  expect(dry).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') });
  expect((await run(['import', 'owned', '-f', '-', '--force'], document)).code).toBe(0);
  expect((await exported('owned')).roles[0].description).toBe('mine');
});

test.each([
  ['a missing file', ['-f', 'nowhere.json'], '', /cannot read nowhere\.json/],
  ['a manifest', ['-f', '-'], 'apiVersion: realmkeeper.dev/v1alpha1\nkind: Realm\n', /realmctl apply -f/],
  ['several documents', ['-f', '-'], 'roles: []\n---\nroles: []\n', /realmctl apply -f/],
  ['nothing', ['-f', '-'], '', /one realm document|must be an object/],
  ['broken YAML', ['-f', '-'], 'roles: [\n', /-: /],
  ['broken JSON', ['-f', '-'], '{"roles": [', /JSON|ends|malformed/i],
  ['an unknown section', ['-f', '-'], '{"rules": []}', /rules: is not a known field/],
  ['a name that no manager has', ['-f', '-', '--manager', 'a b'], '{}', /is not the name of a manager/],
  ['what Keycloak didn’t export', ['-f', '-', '--keycloak'], '"realm"', /must be an object/],
  ['two documents', ['-f', 'a.json', '-f', 'b.json'], '', /one file/],
  ['a realm of another export', ['-f', '-', '--from', 'acme'], '{}', /goes with --keycloak/],
])('%s is refused in words, with exit code 2', async (_, args, stdin, words) => {
  const { code, stdout, stderr } = await run(['import', 'refused', '--yes', ...args], stdin);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(words);
});
