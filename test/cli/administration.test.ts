// `realmctl describe`, `rotate-keys`, `managers` and `crds` as people run them: processes against a real server.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { faultOf } from '../../cli/faults.ts';
import { createProgram } from '../../cli/program.ts';
import { sqlOver } from '../../server/db/sql.ts';
import { asOperator, type Ran, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Importer, importer } from '../support/transfer.ts';

const MANAGER = 'k8s:prod/identity/Realm/acme';
let server: TestServer;
let api: Importer;
const run = (...args: string[]): Promise<Ran> => realmctl(asOperator(server), args);

beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  api = await importer(server);
  await api.apply(
    'acme',
    {
      clients: [{ clientId: 'billing', grantTypes: ['client_credentials'], secret: 'a secret of the billing client' }],
      roles: [{ name: 'reader' }],
      webhooks: [{ name: 'audit', url: 'https://audit.example.com', eventTypes: '*', enabled: false }],
    },
    { manager: MANAGER },
  );
  await api.apply('acme', { users: [{ username: 'ana', roles: ['reader'] }] });
});
afterAll(() => server.stop());

/** The program in this process, with somebody in front of it who answers once. */
function atTerminal(env: Record<string, string>, args: readonly string[], answer: string) {
  let said = '';
  const sink = new Writable({
    write(chunk, _, done) {
      said += String(chunk);
      done();
    },
  });
  const stdin = new PassThrough();
  stdin.write(`${answer}\n`);
  const program = createProgram({
    io: { stdin, stdout: sink, stderr: sink, env, terminal: true, watched: false, colour: false },
    signal: new AbortController().signal,
    version: '0',
    fetch,
  });
  const ended = program.parseAsync(['node', 'realmctl', ...args]).then(() => ({ code: 0 }), faultOf);
  return { said: () => said, ended };
}

test('describe shows an object’s fields, who manages it and what happened to it', async () => {
  const { code, stdout } = await run('describe', 'client', 'billing', '-r', 'acme');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^client billing in the realm acme\n\nManaged by\n {2}k8s:prod\/identity\/Realm\/acme\n/);
  expect(stdout).toMatch(/^ {2}grantTypes:\n {4}- client_credentials$/m);
  expect(stdout).toMatch(/^Admin roles\n {2}none$/m);
  expect(stdout).toMatch(/^ {2}\S+Z CLIENT_CREATED success by user admin$/m);
  expect(stdout).toMatch(/^ {2}createdAt: "?\d{4}-\d\d-\d\dT/m);
  expect(stdout).not.toContain('a secret of the billing client');
});

test('a realm is kept piece by piece: who keeps what is told, and not that nobody does', async () => {
  const { stdout } = await run('describe', 'realm', 'acme');
  expect(stdout).toMatch(/^realm acme\n\nFields\n/);
  expect(stdout).toMatch(/^Managers\n {2}\S+ owns \d+/m);
});

test('describe finds the events about an object, however many are newer', async () => {
  await sqlOver(server.pool)`
    insert into event (realm_id, id, type, occurred_at, actor, subject, client_id, outcome)
    select 'acme', (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(i), 15, '0'))::uuid,
      'LOGIN_SUCCESS', now(), null, '{"type": "user", "id": null, "name": "busy"}', 'till', 'success'
    from generate_series(1, 1200) i`;
  const client = await run('describe', 'client', 'billing', '-r', 'acme');
  expect(client.stdout).toMatch(/^ {2}\S+Z CLIENT_CREATED success by user admin$/m);
  expect(client.stdout).not.toContain('LOGIN_SUCCESS');
  const role = await run('describe', 'role', 'reader', '-r', 'acme');
  expect(role.stdout).toMatch(/^ {2}\S+Z ROLE_CREATED success by user admin$/m);
  const realm = await run('describe', 'realm', 'acme');
  expect(realm.stdout.match(/LOGIN_SUCCESS/g)).toHaveLength(10);
});

test('describe gives the same to programs', async () => {
  const { stdout } = await run('describe', 'user', 'ana', '-r', 'acme', '-o', 'json');
  expect(JSON.parse(stdout)).toMatchObject({
    managedBy: ['import'],
    user: { username: 'ana', roles: ['reader'] },
    credentials: [],
    adminRoles: [],
    sessions: [],
  });
});

test('what somebody wrote into an object can’t steer the terminal of who describes it', async () => {
  await api.apply('acme', { roles: [{ name: 'odd', attributes: { note: ['a\u202eb\u001b[31m'] } }] });
  const { stdout } = await run('describe', 'role', 'odd', '-r', 'acme');
  expect(stdout).toMatch(/a\\u202eb/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  expect(stdout).not.toMatch(/[\u001b\u202e]/);
});

describe('a name that steers terminals', () => {
  const HOSTILE = 'odd \u009b2J \u202etxt';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  const STEERS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
  const shown = (...args: string[]) => realmctl(asOperator(server), args, { shown: true });
  const piped = (...args: string[]) => realmctl(asOperator(server), args);

  test('is shown by number where an answer goes to a terminal as it came, and whole to a program', async () => {
    await api.apply('acme', { roles: [{ name: 'steers', attributes: { note: [HOSTILE] } }] });
    for (const args of [
      ['api', '-i', 'GET', 'realms/acme/roles'],
      ['export', 'acme', '--no-users'],
      ['export', 'acme', '--no-users', '--format', 'yaml'],
      ['get', 'roles', '-r', 'acme', '-o', 'yaml'],
      ['events', '-r', 'acme', '-o', 'json'],
    ])
      expect([args, (await shown(...args)).stdout]).toEqual([args, expect.not.stringMatching(STEERS)]);
    const { stdout } = await piped('api', 'GET', 'realms/acme/roles');
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ attributes: { note: [HOSTILE] } }));
    expect(JSON.parse((await shown('export', 'acme', '--no-users')).stdout).roles).toContainEqual(
      expect.objectContaining({ name: 'steers', attributes: { note: [HOSTILE] } }),
    );
  });

  test('does not come to be by a file in another encoding: it is refused before anything is sent', async () => {
    const role = Buffer.from('{"name": "K\u00fcche"}', 'latin1');
    for (const args of [
      ['create', 'role', '-r', 'acme', '-f', '-'],
      ['api', 'POST', 'realms/acme/roles', '-f', '-'],
      ['import', 'acme', '-f', '-'],
    ]) {
      const { code, stderr } = await realmctl(asOperator(server), args, { stdin: role });
      expect([args, code, stderr]).toEqual([args, 2, expect.stringMatching(/UTF-8/)]);
    }
    const body = (await piped('get', 'roles', '-r', 'acme', '-o', 'name')).stdout;
    expect(body).not.toMatch(/K.*che/);
    const { url, headers } = api.raw('/admin/realms/acme/roles');
    const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(role) });
    expect([answer.status, await answer.json()]).toMatchObject([400, { detail: 'The body is not UTF-8' }]);
  });
});

test('a flow is described as the tree that it is', async () => {
  const { stdout } = await run('describe', 'flow', 'browser', '-r', 'acme');
  expect(stdout).toMatch(
    /executions:\n {4}REQUIRED username-password\n {4}CONDITIONAL \[Second factor\]\n {6}REQUIRED mfa-enabled\n/,
  );
});

test.each([
  ['realm', 'acme', /activeKeyId|Keys\n {2}\S+ ACTIVE since/],
  ['webhook', 'audit', /Deliveries\n/],
  ['role', 'reader', /ROLE_CREATED/],
  ['group', '/none', /there is no group/],
])('describe %s %s', async (kind, name, words) => {
  const { stdout, stderr } = await run('describe', kind, name, ...(kind === 'realm' ? [] : ['-r', 'acme']));
  expect(stdout + stderr).toMatch(words);
});

test('keys are rotated only where that is said: the answer names the old and the new one', async () => {
  const refused = await run('rotate-keys', 'acme');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('--yes');
  const keys = async () => JSON.parse((await run('get', 'keys', '-r', 'acme', '-o', 'json')).stdout);
  const [before] = await keys();
  const { code, stdout } = await run('rotate-keys', 'acme', '--yes', '-o', 'json');
  expect(code).toBe(0);
  const [now, then] = await keys();
  expect(JSON.parse(stdout)).toMatchObject({ realm: 'acme', before: before.keyId, key: { keyId: now.keyId } });
  expect([now.status, then.status, then.keyId]).toEqual(['ACTIVE', 'RETAINED', before.keyId]);
});

test.each([
  ['n', 2],
  ['', 2],
  ['yes', 0],
])('somebody at a terminal is asked first; %j ends with %i', async (answer, code) => {
  const keys = async () => JSON.parse((await run('get', 'keys', '-r', 'acme', '-o', 'json')).stdout).length;
  const before = await keys();
  const { said, ended } = atTerminal(asOperator(server), ['rotate-keys', 'acme'], answer);
  expect((await ended).code).toBe(code);
  expect(said()).toMatch(/Make a new signing key for acme\? \S+ signs now\. \[y\/N\]/);
  expect((await keys()) - before).toBe(code === 0 ? 1 : 0);
});

test('managers are listed, and released with their objects or without', async () => {
  const listed = await run('managers', 'acme');
  expect(listed.stdout).toContain(MANAGER);
  expect(listed.stdout).toContain('client billing');
  expect(listed.stdout).toMatch(/import .* \+ users/);
  expect(await run('managers', 'acme', '-o', 'name')).toMatchObject({ stdout: `import\n${MANAGER}\n` });
  const refused = await run('managers', 'release', 'acme', MANAGER, '--delete-objects');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  expect((await run('managers', 'release', 'acme', 'import')).code).toBe(0);
  expect((await run('get', 'user', 'ana', '-r', 'acme')).code).toBe(0);
  expect((await run('managers', 'release', 'acme', MANAGER, '--delete-objects', '--yes')).code).toBe(0);
  expect((await run('get', 'webhooks', '-r', 'acme')).stderr).toBe('No webhooks in acme.\n');
  expect((await run('managers', 'acme')).stderr).toBe('No manager owns anything in acme.\n');
  expect((await run('managers', 'release', 'acme', 'nobody')).code).toBe(2);
});

test('an applied plan of settings names each of them', async () => {
  await api.apply('named', { realm: { requireMfa: false } }, { manager: 'cli:ana' });
  const realm = { requireMfa: true, displayName: 'Named anew' };
  const { revision } = await api.apply('named', { realm }, { manager: 'cli:ana' });
  const shown = (await run('history', 'named', String(revision))).stdout;
  expect(shown.match(/~ update settings/g)).toHaveLength(1);
  expect(shown).toContain('requireMfa: false → true');
  expect(shown).toMatch(/displayName: "named" → "Named anew"/);
  expect(shown).not.toContain('value:');
});

test('applied plans are listed and shown, and one is undone after it was shown and agreed to', async () => {
  const role = (description: string) => ({ roles: [{ name: 'teller', description }] });
  await api.apply('history', role('one'), { manager: 'cli:ana' });
  const { revision } = await api.apply('history', role('two'), { manager: 'cli:ana' });
  const at = String(revision);
  const listed = await run('history', 'history');
  expect(listed.stdout).toMatch(new RegExp(`^REVISION .*\n${at} .* cli:ana .* 1 updated`));
  expect((await run('history', 'history', at)).stdout).toMatch(/~ update role teller\n.*one.*two/s);
  expect((await run('undo', 'history', at, '--dry-run')).stdout).toMatch(/~ update role teller\n.*two.*one/s);
  expect(await run('undo', 'history', at)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  expect(await run('undo', 'history')).toMatchObject({ code: 2, stderr: expect.stringContaining('realmctl history') });

  const no = atTerminal(asOperator(server), ['undo', '-r', 'history', at], 'n');
  expect((await no.ended).code).toBe(2);
  expect(no.said()).toMatch(/update role teller[\s\S]*Undo revision \d+ of history\?/);
  expect(await run('undo', 'history', at, '--yes')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Undid'),
  });
  expect(JSON.parse((await run('get', 'role', 'teller', '-r', 'history', '-o', 'json')).stdout).description).toBe(
    'one',
  );
  expect((await run('history', 'history')).stdout).toContain(`(undoes ${at})`);

  await api.apply('history', role('three'), { manager: 'cli:ana' });
  const late = await run('undo', 'history', at, '--yes');
  expect(late).toMatchObject({ code: 2, stderr: expect.stringMatching(/role teller\.description: was changed since/) });
  expect((await run('undo', 'history', '999', '--yes')).code).toBe(2);
  expect((await run('history', 'acme', '--manager', 'nobody')).stderr).toBe('No applied plan is kept of acme.\n');
});

test('managers move under another name: planned, asked, done; and nothing is done without a yes', async () => {
  const manager = 'k8s:east/identity/Realm/moved';
  await api.apply('moved', { roles: [{ name: 'reader' }] }, { manager });
  const planned = await run('managers', 'move', 'k8s:east', 'k8s:west', '--dry-run');
  expect(planned.code).toBe(0);
  expect(planned.stdout).toMatch(/^moved +k8s:east\/identity\/Realm\/moved +k8s:west\/identity\/Realm\/moved +1$/m);
  expect(planned.stderr).toContain('Made by k8s:east, or its to adopt: moved');
  expect((await run('managers', 'move', 'k8s:east', 'k8s:west')).code).toBe(2);
  expect((await run('managers', 'moved')).stdout).toContain(manager);
  expect((await run('managers', 'move', 'k8s:east', 'k8s:west', '--yes')).stderr).toContain('k8s:west owns what');
  expect((await run('managers', 'moved')).stdout).toContain('k8s:west/identity/Realm/moved');
  expect((await run('managers', 'move', 'k8s:east', 'k8s:west', '--yes')).stderr).toContain('k8s:east owns nothing.');
});

test('a manager of much is listed by kinds', async () => {
  await api.apply('much', { roles: 'abcdef'.split('').map((name) => ({ name })), groups: [{ path: '/staff' }] });
  expect((await run('managers', 'much')).stdout).toMatch(/7 +1 × group, 6 × role$/m);
});

test('who may adopt a realm is allowed, shown and taken back', async () => {
  const pattern = 'k8s:*/identity/*';
  expect((await run('managers', 'allow', 'acme')).stderr).toBe('No manager may adopt acme.\n');
  expect((await run('managers', 'allow', 'acme', pattern)).stdout).toContain(pattern);
  await run('managers', 'allow', 'acme', 'cli:*');
  expect(JSON.parse((await run('managers', 'allow', 'acme', pattern, '-o', 'json')).stdout)).toEqual([
    pattern,
    'cli:*',
  ]);
  expect((await run('managers', 'disallow', 'acme', pattern, '-o', 'name')).stdout).toBe('cli:*\n');
});

test('the CRDs are those of the repository, and need no server', async () => {
  const { code, stdout } = await realmctl({}, ['crds']);
  expect(code).toBe(0);
  const folder = path.resolve(import.meta.dirname, '../../crds');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).sort();
  const texts = await Promise.all(files.map((name) => readFile(path.join(folder, name), 'utf8')));
  const byName = (all: string) =>
    new Map(parseAllDocuments(all).map((d): [unknown, unknown] => [d.getIn(['metadata', 'name']), d.toJS()]));
  expect(byName(stdout)).toEqual(byName(texts.join('---\n')));
});
