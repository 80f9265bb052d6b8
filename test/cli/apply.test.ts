// Owns: diff and apply of files as people and pipelines run them, against a real server.
// Does not own: what the plan engine decides (server/features/operations/transfer*), reading files (declared.unit.test.ts).
// Implements: docs/cli.md: exit codes 0 in sync, 1 differences, 2 refused or usage, 3 unreachable.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deleteClient, listClients } from '../../server/contract/clients.ts';
import { deleteRealm } from '../../server/contract/realms.ts';
import { getSettings, putSettings } from '../../server/contract/settings.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { asOperator, realmctl, startRealmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let folder: string;
const examples = path.resolve(import.meta.dirname, '../../crds/examples');
beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  folder = await mkdtemp(path.join(os.tmpdir(), 'realmctl-'));
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const run = (args: readonly string[], stdin = '') => realmctl(asOperator(server), args, { stdin });
const settingsOf = async (realm: string) => (await server.admin.call(getSettings, { params: { realm } })).body;
let files = 0;
async function file(text: string): Promise<string> {
  const name = path.join(folder, `${++files}.yaml`);
  await writeFile(name, text);
  return name;
}
const realmManifest = (realm: string, settings: object, more: object = {}) =>
  JSON.stringify({
    apiVersion: 'realmkeeper.dev/v1alpha1',
    kind: 'Realm',
    metadata: { name: realm, namespace: 'identity' },
    spec: { realm, settings, ...more },
  });
const take = (realm: string, manager: string, body: object) =>
  server.admin.call(importRealm, { params: { realm }, query: { manager }, body });

test('placeholders of a document are filled in from a file, or from the environment; what has no value is told', async () => {
  const name = 'SVC_VAR_WEB_SECRET';
  const web = { clientId: 'web', grantTypes: ['client_credentials'], secret: `\${${name}}` };
  const document = await file(JSON.stringify({ clients: [web] }));
  const args = ['-r', 'filled', '-f', document];
  const without = await run(['apply', '--yes', ...args]);
  expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining(name) });
  expect(without.stderr).toContain('--env-file');
  const secrets = await file(`${name}=a-secret-of-the-file-0123456789\n`);
  const applied = await run(['apply', '--yes', ...args, '--env-file', secrets]);
  expect(applied).toMatchObject({ code: 0, stderr: expect.stringContaining(`Filled in: ${name}.`) });
  expect((await run(['diff', ...args, '--env-file', secrets])).code).toBe(0);
  const other = { ...asOperator(server), [name]: 'another-secret-0123456789abc' };
  expect((await realmctl(other, ['diff', ...args])).code).toBe(1);
});

describe('a folder with the four kinds and their Secrets', () => {
  test('differs, is applied, is in sync, differs again when somebody changes it', async () => {
    const before = await run(['diff', '-f', examples]);
    expect(before.code).toBe(1);
    expect(before.stdout).toContain('+ create realm demo');
    expect(before.stdout).toContain('secret: ***');
    expect(before.stdout).toMatch(/8 to create, 1 to update, 0 to delete in realm demo\./);
    const applied = await run(['apply', '-f', examples, '--yes']);
    expect(applied).toMatchObject({ code: 0 });
    expect(applied.stderr).toContain('Applied realm demo');
    expect(await run(['diff', '-f', examples])).toMatchObject({ code: 0, stdout: expect.stringContaining('in sync') });
    await server.admin.call(putSettings, { params: { realm: 'demo' }, body: { accessTokenTtlSeconds: 77 } });
    const drifted = await run(['diff', '-f', examples]);
    expect([drifted.code, drifted.stdout.includes('accessTokenTtlSeconds: 77 → 600')]).toEqual([1, true]);
    expect((await run(['apply', '-f', examples, '--yes'])).code).toBe(0);
    expect((await settingsOf('demo'))?.accessTokenTtlSeconds).toBe(600);
  });

  test('through stdin as kustomize prints it, with other kinds passed over', async () => {
    const text = `${realmManifest('piped', { requireMfa: true })}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: identity}\n`;
    const { code, stderr } = await run(['apply', '-f', '-', '--yes'], text);
    expect(code).toBe(0);
    expect(stderr).toContain('Passed over, being no kinds of Realmkeeper’s: Namespace.');
    expect((await settingsOf('piped'))?.requireMfa).toBe(true);
  });

  test('without its Secret is compared but for that, and not applied', async () => {
    const one = await file(
      realmManifest(
        'demo',
        {},
        { clients: [{ clientId: 'demo-service', secretKeyRef: { name: 'gone', key: 'secret' } }] },
      ),
    );
    const { code, stdout } = await run(['diff', '-f', one]);
    expect(stdout).toContain('not compared: the key secret of the Secret identity/gone');
    expect(code).toBe(0);
    const applied = await run(['apply', '-f', one, '--yes']);
    expect([applied.code, applied.stderr.includes('the Secret identity/gone with the key secret')]).toEqual([2, true]);
  });
});

describe('realm documents', () => {
  test('go together with manifests into one document of one manager', async () => {
    const document = await file('realm:\n  displayName: Mixed\nclients:\n  - clientId: web\n');
    const manifest = await file(realmManifest('mixed', { requireMfa: true }));
    const args = ['-f', document, '-f', manifest, '--realm', 'mixed', '--manager', 'ci:mixed'];
    expect((await run(['apply', ...args, '--yes'])).code).toBe(0);
    expect(await settingsOf('mixed')).toMatchObject({ displayName: 'Mixed', requireMfa: true });
    const pruned = await run(['diff', '-f', manifest, '--prune', '--manager', 'ci:mixed']);
    expect([pruned.code, pruned.stdout.includes('- delete client web')]).toEqual([1, true]);
    expect((await run(['apply', '-f', manifest, '--prune', '--manager', 'ci:mixed', '--yes'])).code).toBe(0);
    const { body } = await server.admin.call(listClients, { params: { realm: 'mixed' } });
    expect(body?.map(({ clientId }) => clientId)).not.toContain('web');
  });

  test('that do not say their realm need --realm', async () => {
    const { code, stderr } = await run(['diff', '-f', await file('realm: {requireMfa: true}')]);
    expect([code, stderr.includes('give --realm')]).toEqual([2, true]);
  });
});

describe('before anything is written', () => {
  test('without a terminal --yes is needed', async () => {
    const one = await file(realmManifest('asked', {}));
    const { code, stdout, stderr } = await run(['apply', '-f', one]);
    expect([code, stdout.includes('+ create realm asked'), stderr.includes('Add --yes')]).toEqual([2, true, true]);
    await expect(settingsOf('asked')).rejects.toMatchObject({ status: 404 });
  });

  test('--dry-run shows and writes nothing; -o json gives the plans', async () => {
    const one = await file(realmManifest('dry', { requireMfa: true }));
    const { code, stdout } = await run(['apply', '-f', one, '--dry-run', '-o', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ inSync: false, realms: [{ realm: 'dry', manager: 'realmctl' }] });
    await expect(settingsOf('dry')).rejects.toMatchObject({ status: 404 });
  });

  test('what another manages is a conflict that names them; --force takes it over', async () => {
    await take('owned', 'ana', { realm: { requireMfa: false }, clients: [{ clientId: 'web', name: 'Ana’s' }] });
    const one = await file(
      realmManifest('owned', { requireMfa: true }, { clients: [{ clientId: 'web', name: 'Ours' }] }),
    );
    for (const command of ['diff', 'apply']) {
      const { code, stdout, stderr } = await run([command, '-f', one, ...(command === 'apply' ? ['--yes'] : [])]);
      expect(code).toBe(2);
      expect(stdout).toContain('in conflict, managed by ana: settings requireMfa, client web');
      expect(stderr).toContain('--force');
    }
    expect((await settingsOf('owned'))?.requireMfa).toBe(false);
    const forced = await run(['apply', '-f', one, '--force', '--yes']);
    expect([forced.code, forced.stdout.includes('take over from ana')]).toEqual([0, true]);
    expect((await settingsOf('owned'))?.requireMfa).toBe(true);
  });

  test('a document that the server refuses is told with file and line', async () => {
    const one = await file(
      [
        'apiVersion: realmkeeper.dev/v1alpha1',
        'kind: Flow',
        'metadata: {name: broken}',
        'spec:',
        '  realm: demo',
        '  executions:',
        '    - authenticatorId: no-such-thing',
        '      requirement: REQUIRED',
      ].join('\n'),
    );
    const { code, stderr } = await run(['diff', '-f', one]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${one}:7: Flow default/broken: spec.executions[0]`);
  });

  test('files that contradict each other are told with both places, and nothing is sent', async () => {
    const one = await file('realm: {realmId: twice, requireMfa: true}');
    const other = await file('\n\nrealm:\n  realmId: twice\n  requireMfa: false\n');
    const { code, stderr } = await run(['apply', '-f', one, '-f', other, '--yes']);
    expect(code).toBe(2);
    expect(stderr).toContain(
      `${other}:5: realm document: realm.requireMfa: the setting requireMfa is declared otherwise`,
    );
    expect(stderr).toContain(`${one}:1`);
    await expect(settingsOf('twice')).rejects.toMatchObject({ status: 404 });
  });

  test('no file, an empty folder, nothing of ours', async () => {
    expect((await run(['diff', '-f', path.join(folder, 'none')])).stderr).toContain('there is no file or folder');
    const empty = path.join(folder, 'empty');
    await mkdir(empty);
    expect((await run(['diff', '-f', empty])).code).toBe(2);
    expect((await run(['apply'])).code).toBe(2);
  });
});

describe('several realms', () => {
  test('are all looked at, also where one is refused; then none is applied', async () => {
    const good = await file(realmManifest('good', { requireMfa: true }));
    const bad = await file('realm: {realmId: bad, browserFlow: no-such-flow}');
    const shown = await run(['diff', '-f', bad, '-f', good, '-o', 'json']);
    expect([shown.code, shown.stderr.includes(`${bad}:1: realm document: realm.browserFlow`)]).toEqual([2, true]);
    expect(JSON.parse(shown.stdout).realms).toMatchObject([{ realm: 'good', applied: false }]);
    const { code, stderr } = await run(['apply', '-f', bad, '-f', good, '--yes']);
    expect([code, stderr.includes('Nothing was applied.')]).toEqual([2, true]);
    await expect(settingsOf('good')).rejects.toMatchObject({ status: 404 });
    const applied = await run(['apply', '-f', good, '--yes', '-o', 'json']);
    expect(JSON.parse(applied.stdout).realms).toMatchObject([{ realm: 'good', applied: true, manager: 'realmctl' }]);
  });

  test('are applied in turn; where one fails the others are accounted for', async () => {
    const names = ['turn-a', 'turn-b', 'turn-c'];
    const all = await file(names.map((name) => realmManifest(name, { requireMfa: true })).join('\n---\n'));
    // a server in front of the server, which refuses the second realm when it is applied
    const proxy = createServer(async (request, response) => {
      const url = request.url ?? '';
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      if (url.includes('turn-b') && url.includes('dryRun=false')) {
        response.writeHead(412, { 'content-type': 'application/problem+json' });
        response.end('{"type":"urn:svc:problem:precondition-failed","title":"changed","status":412}');
        return;
      }
      const { method = 'GET', headers } = request;
      const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...kept } = headers;
      const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
      const answer = await fetch(server.baseUrl + url, {
        method,
        headers: Object.entries(kept).map(([name, value]): [string, string] => [name, String(value)]),
        ...body,
      });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(await answer.text());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const address = proxy.address();
    const port = address !== null && typeof address !== 'string' ? address.port : 0;
    const env = { ...asOperator(server), REALMCTL_SERVER: `http://127.0.0.1:${port}` };
    const { code, stderr } = await realmctl(env, ['apply', '-f', all, '--yes']);
    proxy.close();
    expect(code).toBe(2);
    expect(stderr).toContain('Applied: turn-a. Failed: turn-b. Not tried: turn-c.');
    expect(stderr).toContain('realm turn-b has changed since it was planned');
    expect((await settingsOf('turn-a'))?.requireMfa).toBe(true);
    await expect(settingsOf('turn-c')).rejects.toMatchObject({ status: 404 });
    // run again, the rest follows
    expect((await run(['apply', '-f', all, '--yes'])).code).toBe(0);
    expect((await run(['diff', '-f', all])).code).toBe(0);
    for (const realm of names) await server.admin.call(deleteRealm, { params: { realm } });
  });
});

test('Ctrl-C ends a plan that takes long', async () => {
  const asked = Promise.withResolvers<void>();
  const slow = createServer(() => asked.resolve());
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  const address = slow.address();
  const port = address !== null && typeof address !== 'string' ? address.port : 0;
  const env = { REALMCTL_SERVER: `http://127.0.0.1:${port}`, REALMCTL_CLIENT_ID: 'x', REALMCTL_CLIENT_SECRET: 'x' };
  const cli = startRealmctl(env, ['diff', '-f', await file(realmManifest('slow', {}))]);
  await asked.promise;
  cli.interrupt();
  expect(await cli.ended).toMatchObject({ code: 130 });
  slow.closeAllConnections();
  slow.close();
});

test('a server that cannot be reached is exit code 3', async () => {
  const env = { ...asOperator(server), REALMCTL_SERVER: 'http://127.0.0.1:9' };
  expect((await realmctl(env, ['diff', '-f', examples])).code).toBe(3);
});

test('an object that somebody deleted comes back', async () => {
  const one = await file(realmManifest('back', {}, { clients: [{ clientId: 'web' }] }));
  await run(['apply', '-f', one, '--yes']);
  const { body } = await server.admin.call(listClients, { params: { realm: 'back' } });
  const id = body?.find(({ clientId }) => clientId === 'web')?.id ?? '';
  await server.admin.call(deleteClient, { params: { realm: 'back', id } });
  expect((await run(['diff', '-f', one])).stdout).toContain('+ create client web');
});

describe('a rename over several files', () => {
  const client = (clientId: string) => ({ clientId, grantTypes: ['client_credentials'] });
  const realmFile = (realm: string, clientId: string) =>
    file(realmManifest(realm, {}, { clients: [client(clientId)] }));
  const workload = (realm: string, clientId: string) =>
    file(
      JSON.stringify({
        apiVersion: 'realmkeeper.dev/v1alpha1',
        kind: 'WorkloadIdentity',
        metadata: { name: 'ci', namespace: 'identity' },
        spec: { realm, issuer: 'https://i.example', subject: 's', audience: 'x', clientId },
      }),
    );
  const clients = async (realm: string) =>
    (await server.admin.call(listClients, { params: { realm } })).body?.map(({ clientId }) => clientId).sort();
  const apply = (...args: string[]) => run(['apply', '--prune', '--yes', ...args]);

  test('is done at once where they are applied together', async () => {
    const both = async (clientId: string) =>
      apply('-f', await workload('together', clientId), '-f', await realmFile('together', clientId));
    expect((await both('old')).code).toBe(0);
    expect(await both('new')).toMatchObject({ code: 0, stdout: expect.stringContaining('- delete client old') });
    expect(await clients('together')).toEqual(['new']);
  });

  test('keeps what is in use where each is applied by its own pipeline, says so, and comes to its end', async () => {
    const [one, two] = [
      ['--manager', 'ci:one'],
      ['--manager', 'ci:two'],
    ] as const;
    expect((await apply('-f', await realmFile('apart', 'old'), ...one)).code).toBe(0);
    expect((await apply('-f', await workload('apart', 'old'), ...two)).code).toBe(0);
    expect((await apply('-f', await workload('apart', 'new'), ...two)).code).toBe(2);
    const renamed = await realmFile('apart', 'new');
    const kept = await apply('-f', renamed, ...one);
    expect(kept).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('= keep client old: still used by workloadIdentity ci'),
      stderr: expect.stringContaining('Kept client old: still used by workloadIdentity ci; apply again'),
    });
    const diff = await run(['diff', '-f', renamed, '--prune', ...one]);
    expect([diff.code, diff.stdout]).toEqual([0, expect.stringContaining('= keep client old')]);
    expect(await clients('apart')).toEqual(['new', 'old']);
    expect((await apply('-f', await workload('apart', 'new'), ...two)).code).toBe(0);
    expect(await apply('-f', renamed, ...one)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('- delete client old'),
    });
    expect(await clients('apart')).toEqual(['new']);
  });
});
