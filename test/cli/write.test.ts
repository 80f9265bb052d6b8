// Owns: create, edit, delete, api, token, users, sessions, events: what administrators do from a terminal while a realm runs.
// Does not own: get and describe (get.test.ts), files (apply.test.ts), what the server allows.
// Implements: docs/cli.md; specification 4.10.
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { switchOf } from '../../cli/commands/switch.ts';
import { jsonPath } from '../../cli/json-path.ts';
import { kinds } from '../../cli/kind-table.ts';
import { fieldsOf } from '../../cli/writes.ts';
import { createClient } from '../../server/contract/clients.ts';
import { getLockout } from '../../server/contract/user-access.ts';
import { listUsers } from '../../server/contract/users.ts';
import { makeRealm } from '../support/clients.ts';
import { createPerson } from '../support/person.ts';
import { asOperator, realmctl, startRealmctl, withOperator } from '../support/realmctl.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let dir: string;
const params = { realm: 'acme' };
const run = (
  args: readonly string[],
  { stdin = '', env = {} }: { stdin?: string; env?: Record<string, string> } = {},
) => realmctl({ ...asOperator(server), ...env }, args, { stdin });
const done = async (args: readonly string[], more = {}) => {
  const ran = await run(args, more);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  return ran.stdout;
};
const json = async (...args: string[]) => JSON.parse(await done([...args, '-o', 'json']));
/** An editor that does this to the file. */
async function editor(script: string): Promise<Record<string, string>> {
  const file = path.join(dir, 'editor.sh');
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return { EDITOR: file };
}
beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  dir = await mkdtemp(path.join(os.tmpdir(), 'realmctl-'));
  await makeRealm(server, 'acme');
});
afterAll(async () => {
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

describe('an object', () => {
  test('is made from options, changed in an editor and deleted, each time said', async () => {
    const made = [
      '--client-id',
      'web',
      '--token-endpoint-auth-method',
      'none',
      '--redirect-uris',
      'https://a.example/cb,https://b.example/cb',
    ];
    expect(await done(['create', 'client', '-r', 'acme', ...made, '-o', 'name'])).toBe('web\n');
    expect(await json('get', 'client', 'web', '-r', 'acme')).toMatchObject({
      tokenEndpointAuthMethod: 'none',
      redirectUris: ['https://a.example/cb', 'https://b.example/cb'],
    });
    const env = await editor('sed -i "s/^name: null/name: The web/" "$1"');
    const edited = await run(['edit', 'client', 'web', '-r', 'acme'], { env });
    expect(edited).toMatchObject({ code: 0, stderr: 'Changed name.\n' });
    expect(await json('get', 'client', 'web', '-r', 'acme')).toMatchObject({ name: 'The web' });
    expect((await run(['delete', 'client', 'web', '-r', 'acme'])).stderr).toContain('Say so with --yes');
    expect((await run(['delete', 'client', 'web', 'nobody', '-r', 'acme', '--yes'])).code).toBe(2);
    expect(await done(['get', 'clients', '-r', 'acme', '-o', 'name'])).toContain('web');
    expect((await run(['delete', 'client', 'web', '-r', 'acme', '--yes'])).stderr).toBe('Deleted client web.\n');
    expect(await done(['get', 'clients', '-r', 'acme', '-o', 'name'])).not.toContain('web');
  });

  test('that the server goes on to remove says so: a realm of which something is held', async () => {
    await makeRealm(server, 'held');
    expect(await done(['get', 'realms', '-o', 'name'])).toContain('held');
    const holder = await server.pool.connect();
    try {
      await holder.query("begin; select from realm_key where realm_id = 'held' for update");
      const { code, stderr } = await run(['delete', 'realm', 'held', '--yes']);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: 'Deleted realm held. The server goes on to remove what it held; until then its name is taken.\n',
      });
      expect(await done(['get', 'realms', '-o', 'name'])).not.toContain('held');
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });

  test('comes from a file too, which alone may hold a secret', async () => {
    const hook = {
      name: 'audit',
      url: 'https://hooks.example.com/',
      eventTypes: '*',
      enabled: true,
      secret: 'a secret of some length',
    };
    await done(['create', 'webhook', '-r', 'acme', '-f', '-'], { stdin: JSON.stringify(hook) });
    expect(await json('get', 'webhook', 'audit', '-r', 'acme')).toMatchObject({ secretSet: true });
    expect((await run(['create', 'webhook', '-r', 'acme', '--secret', 'x'])).code).toBe(2);
    expect((await run(['create', 'role', '-r', 'acme'])).stderr).toContain('no field of the role is set');
    expect((await run(['create', 'initial-access-token', '-r', 'acme'])).code).toBe(0);
  });

  test('is left alone by an editor that changes nothing, and what is refused is kept', async () => {
    await done(['create', 'role', '-r', 'acme', '--name', 'reader', '--set', 'attributes={"floor":["3"]}']);
    const idle = await run(['edit', 'role', 'reader', '-r', 'acme'], { env: await editor('true') });
    expect(idle).toMatchObject({ code: 0, stderr: 'Nothing was changed.\n' });
    const env = await editor('echo "default: perhaps" > "$1"');
    const refused = await run(['edit', 'role', 'reader', '-r', 'acme'], { env });
    expect(refused.code).toBe(2);
    const [, kept = ''] = /What you wrote is kept in (\S+)\./.exec(refused.stderr) ?? [];
    expect(await readFile(kept, 'utf8')).toBe('default: perhaps\n');
    await rm(path.dirname(kept), { recursive: true });
    const failing = await run(['edit', 'role', 'reader', '-r', 'acme'], { env: await editor('exit 3') });
    expect([failing.code, failing.stderr.includes('ended with 3')]).toEqual([2, true]);
  });

  test('that somebody else changed meanwhile is not written over', async () => {
    const env = await editor(
      'echo "description: mine" >> "$1"; touch "$1.open"; while [ -e "$1.open" ]; do sleep 0.1; done',
    );
    const editing = run(['edit', 'role', 'reader', '-r', 'acme'], { env });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await done([
      'api',
      'PUT',
      `realms/acme/roles/${(await json('get', 'role', 'reader', '-r', 'acme')).id}`,
      '-d',
      '{"description":"theirs"}',
    ]);
    for (const name of await readdir(os.tmpdir()))
      if (name.startsWith('realmctl-edit-')) await rm(path.join(os.tmpdir(), name, 'role.yaml.open'), { force: true });
    const refused = await editing;
    expect(refused.code).toBe(2);
    expect(await json('get', 'role', 'reader', '-r', 'acme')).toMatchObject({ description: 'theirs' });
  });

  test('is named in its place, as by the option', async () => {
    expect(await done(['create', 'realm', 'placed', '-o', 'name'])).toBe('placed\n');
    expect(await done(['create', 'realm', '-r', 'placed-too', '-o', 'name'])).toBe('placed-too\n');
    expect(await done(['create', 'role', 'placed', '-r', 'placed', '-o', 'name'])).toBe('placed\n');
    await done(['create', 'client', 'web', '-r', 'placed', '--token-endpoint-auth-method', 'none']);
    expect(await done(['create', 'mapper', 'web', 'team', '-r', 'placed', '--attribute', 'team', '-o', 'name'])).toBe(
      'team\n',
    );
    const both = await run(['create', 'role', 'one', '--name', 'other', '-r', 'placed']);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('two names') });
    const more = await run(['create', 'role', 'one', 'two', '-r', 'placed']);
    expect(more).toMatchObject({ code: 2, stderr: expect.stringContaining('too many arguments') });
  });

  test('is edited where its route takes it only as a whole, and keeps its secret', async () => {
    const hook = {
      name: 'moved',
      url: 'https://old.example.com/',
      eventTypes: '*',
      enabled: false,
      secret: 'x'.repeat(16),
    };
    await done(['create', 'webhook', '-r', 'acme', '-f', '-'], { stdin: JSON.stringify(hook) });
    const env = await editor('sed -i "s/old.example/new.example/" "$1"');
    expect(await run(['edit', 'webhook', 'moved', '-r', 'acme'], { env })).toMatchObject({ stderr: 'Changed url.\n' });
    const { url, secretSet } = await json('get', 'webhook', 'moved', '-r', 'acme');
    expect([url, secretSet]).toEqual(['https://new.example.com/', true]);
  });

  test('that belongs to a client is written by the client’s name', async () => {
    await done(['create', 'client', '-r', 'acme', '--client-id', 'mapped', '--token-endpoint-auth-method', 'none']);
    const mapper = ['--name', 'department', '--source', 'attribute', '--attribute', 'team', '--in', 'accessToken'];
    const made = await done(['create', 'mapper', 'mapped', '-r', 'acme', ...mapper, '-o', 'name']);
    expect(made).toBe('department\n');
    const env = await editor('sed -i "s/^attribute: team/attribute: office/" "$1"');
    const edited = await run(['edit', 'mapper', 'mapped', 'department', '-r', 'acme'], { env });
    expect(edited).toMatchObject({ code: 0, stderr: 'Changed attribute.\n' });
    expect(await json('get', 'mappers', 'mapped', '-r', 'acme')).toMatchObject([{ attribute: 'office' }]);
    const nobody = await run(['create', 'mapper', 'nobody', '-r', 'acme', ...mapper]);
    expect(nobody).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no client nobody') });
    const gone = await run(['delete', 'mapper', 'mapped', 'department', '-r', 'acme', '--yes']);
    expect(gone.stderr).toBe('Deleted mapper department.\n');
    expect(await json('get', 'mappers', 'mapped', '-r', 'acme')).toEqual([]);
  });

  test('of every kind that the API lets be written can be written here, from the same declarations', () => {
    const readOnly = kinds.filter(({ routes: { create, put, remove } }) => !create && !put && !remove);
    const found = ['deliveries', 'events', 'expiring', 'managers', 'messages', 'signal-streams', 'unused-clients'];
    expect(readOnly.map(({ plural }) => plural).sort()).toEqual(found);
    for (const { create, put } of kinds.map(({ routes }) => routes))
      for (const route of [create, put]) if (route) expect(fieldsOf(route)?.size ?? 1).toBeGreaterThan(0);
  });
});

describe('disable and enable', () => {
  const off = (...args: string[]) => run(['disable', ...args, '-r', 'acme']);
  const on = (...args: string[]) => run(['enable', ...args, '-r', 'acme']);

  test('switch a user off and on, and say what changed and what was so already', async () => {
    await done(['create', 'user', '-r', 'acme', '--username', 'ina']);
    const enabled = async () => (await json('get', 'user', 'ina', '-r', 'acme')).enabled;
    expect(await off('user', 'INA', 'ina')).toMatchObject({ code: 0, stdout: '', stderr: 'Disabled user ina.\n' });
    expect(await enabled()).toBe(false);
    expect(await off('users', 'ina')).toMatchObject({ code: 0, stderr: 'The user ina is disabled already.\n' });
    expect(await on('user', 'ina')).toMatchObject({ code: 0, stderr: 'Enabled user ina.\n' });
    expect(await on('user', 'ina')).toMatchObject({ code: 0, stderr: 'The user ina is enabled already.\n' });
    expect(await enabled()).toBe(true);
    const types = (await json('get', 'events', '-r', 'acme', '--type', 'USER_UPDATED')).length;
    expect(types).toBe(2);
  });

  test('change nothing where one of the names is unknown, or the server refuses', async () => {
    const nobody = await off('user', 'ina', 'nobody-at-all');
    expect(nobody).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no user nobody-at-all') });
    expect(await json('get', 'user', 'ina', '-r', 'acme')).toMatchObject({ enabled: true });
    const last = await run(['disable', 'user', 'admin', '-r', 'master']);
    expect(last.code).toBe(2);
    expect(await json('get', 'user', 'admin', '-r', 'master')).toMatchObject({ enabled: true });
    expect((await off('user')).code).toBe(2);
    const role = await off('role', 'reader');
    expect(role).toMatchObject({ code: 2, stderr: expect.stringContaining('roles can’t be enabled or disabled') });
    expect((await off('agents', 'a')).stderr).toContain('suspended instead');
    expect((await off('usr', 'ina')).stderr).toContain('Did you mean user?');
  });

  test('leave all other fields and secrets alone, also of what is written as a whole', async () => {
    const client = ['--client-id', 'billing', '--grant-types', 'client_credentials', '--name', 'Billing'];
    await done(['create', 'client', '-r', 'acme', ...client]);
    const mail = { channel: 'EMAIL', driver: 'smtp', fromName: 'Acme', enabled: true, secret: 'open sesame' };
    const config = { host: 'mail.example.com', port: 587, username: 'acme' };
    await done(['create', 'messaging-provider', '-r', 'acme', '-f', '-'], {
      stdin: JSON.stringify({ ...mail, config }),
    });
    const hook = {
      name: 'signed',
      url: 'https://hooks.example.com/',
      eventTypes: '*',
      enabled: true,
      secret: 'x'.repeat(16),
    };
    await done(['create', 'webhook', '-r', 'acme', '-f', '-'], { stdin: JSON.stringify(hook) });
    for (const [kind, name] of [
      ['client', 'billing'],
      ['webhook', 'signed'],
      ['messaging-provider', 'EMAIL/smtp'],
    ] as const) {
      const before = await json('get', kind, name, '-r', 'acme');
      expect(await off(kind, name)).toMatchObject({ code: 0, stderr: `Disabled ${kind} ${name}.\n` });
      expect(await json('get', kind, name, '-r', 'acme')).toEqual({ ...before, enabled: false });
      expect(await on(kind, name)).toMatchObject({ code: 0, stderr: `Enabled ${kind} ${name}.\n` });
      expect(await json('get', kind, name, '-r', 'acme')).toEqual(before);
    }
  });

  test('name the manager that owns the field, and no other', async () => {
    const document = JSON.stringify({
      clients: [
        { clientId: 'declared', enabled: true, grantTypes: ['client_credentials'] },
        { clientId: 'partly', grantTypes: ['client_credentials'] },
      ],
    });
    await done(['import', 'acme', '-f', '-', '--manager', 'git', '--yes'], { stdin: document });
    const switched = await off('client', 'declared', 'partly');
    expect(switched).toMatchObject({
      code: 0,
      stderr:
        'Disabled client declared.\nIt is managed by git: change enabled in its file, too, or place a hold (realmctl hold).\nDisabled client partly.\n',
    });
  });

  test('are there for each kind that the API lets be switched, and no other', () => {
    const switched = kinds.filter((kind) => switchOf(kind)).map(({ plural }) => plural);
    expect(switched.sort()).toEqual([
      'applications',
      'authorization-detail-types',
      'clients',
      'cross-domain-policies',
      'cross-domain-trusts',
      'identity-providers',
      'message-templates',
      'messaging-providers',
      'organizations',
      'saml-clients',
      'scim-targets',
      'signal-receivers',
      'signal-transmitters',
      'transaction-token-policies',
      'user-federation',
      'users',
      'webhooks',
      'workload-identities',
    ]);
  });
});

describe('api', () => {
  test('sends what it is told with the session, and prints the answer', async () => {
    expect(JSON.parse(await done(['api', 'get', 'realms/acme/settings']))).toMatchObject({ realmId: 'acme' });
    await done(['api', 'PUT', '/admin/realms/acme/settings', '-f', '-'], { stdin: '{"displayName": "By api"}' });
    expect(await done(['api', 'GET', 'realms/acme/settings', '-i'])).toMatch(/^HTTP 200\n[\s\S]*"By api"/);
    const refused = await run(['api', 'GET', 'realms/nowhere']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
  });

  test.each(['https://evil.example/admin/x', '//evil.example/admin/x', '/realms/master/account', '../realms/x'])(
    'sends the session nowhere but to this server’s admin API: %s',
    async (where) => {
      const { code, stderr } = await run(['api', 'GET', where]);
      expect([code, stderr.includes('is no path of the admin API')]).toEqual([2, true]);
    },
  );

  test('token is one that the admin API takes', async () => {
    const token = (await done(['token'])).trim();
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${server.baseUrl}/admin/session`, { headers })).status).toBe(200);
  });
});

describe('people', () => {
  const idOf = async (username: string) =>
    (await server.admin.call(listUsers, { params, query: { q: username } })).body?.find((u) => u.username === username)
      ?.id ?? '';

  test('are brought in by lines, a bad one told; found; given a password; unlocked', async () => {
    const lines = '\n{"username":"ana","email":"ana@example.com"}\n{"username":""}\n{"username":"ben"}\n';
    const imported = await run(['users', 'import', '-r', 'acme', '-f', '-', '-o', 'json'], { stdin: lines });
    expect(imported).toMatchObject({ code: 2, stderr: expect.stringContaining('line 3: ') });
    expect(JSON.parse(imported.stdout)).toMatchObject({ created: 2, failed: 1 });
    expect(await done(['users', 'search', 'ana@', '-r', 'acme', '-o', 'name'])).toBe('ana\n');
    const generated = (await done(['users', 'reset-password', 'ana', '-r', 'acme', '--generate'])).trim();
    expect(generated.length).toBeGreaterThan(20);
    expect((await run(['users', 'reset-password', 'ana', '-r', 'acme'])).stderr).toContain('--generate');
    expect((await run(['users', 'unlock', 'ana', '-r', 'acme'])).stderr).toContain('ana: was not locked');
    const { body } = await server.admin.call(getLockout, { params: { ...params, userId: await idOf('ana') } });
    expect(body?.failures).toBe(0);
  });

  test('have their sessions ended, by id or all at once', async () => {
    expect((await run(['sessions', 'list', '-r', 'acme'])).stderr).toContain('No sessions');
    expect((await run(['sessions', 'end', '-r', 'acme', '--yes'])).stderr).toContain('--user NAME');
    expect((await run(['sessions', 'end', '--user', 'ana', '-r', 'acme', '--yes'])).stderr).toBe(
      'Ended all sessions of ana.\n',
    );
    const client = ['--client', 'svc', '-r', 'acme'];
    const { body } = await server.admin.call(createClient, { params, body: { clientId: 'svc' } });
    expect(body?.clientId).toBe('svc');
    expect((await run(['sessions', 'list', ...client])).stderr).toContain('No sessions');
    expect((await run(['sessions', 'end', ...client, '--user', 'ana', '--yes'])).stderr).toContain('--client CLIENT');
    expect((await run(['sessions', 'end', ...client, '--yes'])).stderr).toBe(
      'Ended 0 sessions and 0 offline grants of svc.\n',
    );
    const id = '00000000-0000-7000-8000-000000000000';
    expect((await run(['sessions', 'end', id, '-r', 'acme', '--yes'])).code).toBe(2);
  });

  test('are acted for by an administrator who is a person: an address for the browser, and words until when', async () => {
    const env = {
      REALMCTL_SERVER: '',
      REALMCTL_CLIENT_ID: '',
      REALMCTL_CLIENT_SECRET: '',
      REALMCTL_CONFIG: path.join(dir, 'person.json'),
    };
    const login = ['login', server.baseUrl, '--username', 'admin', '--password-stdin'];
    expect(await realmctl(env, login, { stdin: `${ADMIN_PASSWORD}\n` })).toMatchObject({ code: 0 });
    const begun = await realmctl(env, ['users', 'impersonate', 'ana', '-r', 'acme']);
    expect(begun).toMatchObject({ code: 0, stderr: expect.stringMatching(/within a minute.*you are ana there until/) });
    const person = createPerson(server.baseUrl);
    const page = await person.open(begun.stdout.trim().slice(server.baseUrl.length));
    expect((await person.fill(page, {})).url).toContain('/realms/acme/account');
    expect(await done(['sessions', 'list', '-r', 'acme', '--user', 'ana'])).toMatch(/IMPERSONATED BY\n.* admin$/m);
    expect(await done(['describe', 'user', 'ana', '-r', 'acme'])).toContain(', impersonated by admin');
    const program = await run(['users', 'impersonate', 'ana', '-r', 'acme']);
    expect(program).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('what goes on', () => {
  test('events --follow tells of each as it comes, once', async () => {
    const following = startRealmctl(asOperator(server), [
      'events',
      '-r',
      'acme',
      '--follow',
      '--type',
      'ROLE_CREATED',
      '-o',
      'json',
    ]);
    await following.printed(/"ROLE_CREATED"/);
    await done(['create', 'role', '-r', 'acme', '--name', 'followed']);
    await following.printed(/followed/);
    // another look, which must not tell it again
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    following.interrupt();
    const { code, stdout } = await following.ended;
    const told = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).subject.name);
    expect(code).toBe(130);
    expect(told.filter((name) => name === 'followed')).toHaveLength(1);
  });

  test('get --watch shows what comes', async () => {
    const watching = startRealmctl(asOperator(server), ['get', 'roles', '-r', 'acme', '--watch']);
    await watching.printed(/^reader/m);
    await done(['create', 'role', '-r', 'acme', '--name', 'watched']);
    await watching.printed(/^watched/m);
    // another look, which must not show it again
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    watching.interrupt();
    const { stdout } = await watching.ended;
    expect(stdout.match(/^watched/gm)).toHaveLength(1);
  });
});

describe('-o jsonpath', () => {
  const value = [
    { clientId: 'a', uris: ['x', 'y'], 'odd.name': 1 },
    { clientId: 'b', uris: [] },
  ];
  test.each([
    ['{[*].clientId}', 'a b'],
    ['{.items[*].clientId}', 'a b'],
    ['{[0].uris[1]}', 'y'],
    ['{[-1].clientId}', 'b'],
    ["{[0]['odd.name']}", '1'],
    ['{range [*]}{.clientId}={.uris}{"\\n"}{end}', 'a=["x","y"]\nb=[]\n'],
    ['{$[5].clientId}', ''],
  ])('%s', (template, text) => expect(jsonPath(template, value)).toBe(text));
  test.each(['{.a', '{range [*]}{.a}', '{.a[?(@.b)]}', '{end}'])('%s is refused', (template) => {
    expect(() => jsonPath(template, value)).toThrow();
  });
  test('of what is listed', async () => {
    expect(await done(['get', 'roles', '-r', 'acme', '-q', 'followed', '-o', 'jsonpath={[*].name}'])).toBe(
      'followed\n',
    );
    expect((await run(['get', 'roles', '-r', 'acme', '-o', 'jsonpath={['])).code).toBe(2);
  });
});
