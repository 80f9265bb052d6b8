// Administrators look at users who can't sign in; and realmctl says in a sentence why it can't go on.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putSettings } from '../../server/contract/settings.ts';
import { createUser, listUsers } from '../../server/contract/users.ts';
import { PASSWORD } from '../support/applications.ts';
import { makeRealm } from '../support/clients.ts';
import { createPerson } from '../support/person.ts';
import { asOperator, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let dir: string;
let now = new Date();
const params = { realm: 'acme' };
const run = (
  args: readonly string[],
  { stdin = '', env = {} }: { stdin?: string; env?: Record<string, string> } = {},
) => realmctl({ ...asOperator(server), ...env }, args, { stdin });
const done = async (...args: string[]) => {
  const ran = await run(args);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  return ran.stdout;
};
async function failAs(username: string, times: number) {
  for (let i = 0; i < times; i += 1) {
    const person = createPerson(server.baseUrl);
    await person.fill(await person.open('/realms/acme/login?for=account'), { username, password: 'not the password' });
  }
}
beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'realmctl-looking-'));
  server = await startTestServer({ env: withOperator, now: () => now });
  await makeRealm(server, 'acme');
  const body = { lockoutEnabled: true, maxLoginFailures: 3, lockoutDurationSeconds: 600 };
  await server.admin.call(putSettings, { params, body });
  for (const username of ['ana', 'ben', 'cleo'])
    await server.admin.call(createUser, { params, body: { username, password: PASSWORD } });
  await failAs('ana', 3);
  await failAs('ben', 1);
});
afterAll(async () => {
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

describe('users who can’t sign in', () => {
  test('are listed, as long as their lock lasts', async () => {
    expect(await done('get', 'users', '-r', 'acme', '--locked', '-o', 'name')).toBe('ana\n');
    const free = await server.admin.call(listUsers, { params, query: { locked: 'false' } });
    expect(free.body?.map(({ username }) => username)).toEqual(['ben', 'cleo']);
    await expect(server.admin.call(listUsers, { params, query: { locked: 'perhaps' } })).rejects.toMatchObject({
      status: 400,
    });
    const before = now;
    now = new Date(now.getTime() + 601_000);
    expect((await run(['get', 'users', '-r', 'acme', '--locked'])).stderr).toContain('No users');
    now = before;
  });

  test('are described with their lock and the reasons', async () => {
    const locked = await done('describe', 'user', 'ana', '-r', 'acme');
    expect(locked).toMatch(/^Lock\n {2}locked until \S+Z: 3 failed sign-ins, the last at \S+Z$/m);
    expect(locked).toMatch(/LOGIN_FAILURE failure by \S+.*: \S+/);
    expect(await done('describe', 'user', 'ben', '-r', 'acme')).toContain('not locked: 1 failed sign-in, the last at');
    expect(await done('describe', 'user', 'cleo', '-r', 'acme')).toContain('not locked, no failed sign-ins');
  });

  test('have the reason in a column of the events', async () => {
    const table = await done('get', 'events', '-r', 'acme', '--type', 'LOGIN_FAILURE', '--user', 'ben');
    const [head = '', row = ''] = table.split('\n');
    expect(head).toMatch(/ WHY$/);
    expect(row.slice(head.indexOf('WHY'))).toMatch(/^\S+/);
  });
});

test('moments are ISO 8601 in every form, and an object that was printed can be made again', async () => {
  const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
  const [event] = JSON.parse(await done('get', 'events', '-r', 'acme', '--limit', '1', '-o', 'json'));
  expect(event.occurredAt).toMatch(instant);
  expect(JSON.parse((await done('events', '-r', 'acme', '--limit', '1', '-o', 'json')).trim()).occurredAt).toMatch(
    instant,
  );
  expect(await done('get', 'user', 'ana', '-r', 'acme', '-o', 'jsonpath={.createdAt}')).toMatch(/^\d{4}-/);
  const soon = new Date(now.getTime() + 3_600_000).toISOString();
  const stdin = JSON.stringify({ uses: 1, expiresAt: soon });
  const made = await run(['create', 'initial-access-token', '-r', 'acme', '-f', '-', '-o', 'json'], { stdin });
  expect(JSON.parse(made.stdout).expiresAt).toBe(soon);
});

describe('secrets', () => {
  const secret = 'a secret of some length';
  test.each<[string, string[]]>([
    ['--set', ['create', 'webhook', '-r', 'acme', '--name', 'audit', '--set', `secret=${secret}`]],
    [
      '--set, within a value',
      ['create', 'role', '-r', 'acme', '--name', 'r', '--set', `attributes={"x":{"password":"${secret}"}}`],
    ],
    ['--data', ['api', 'PUT', 'realms/acme/clients/x', '-d', JSON.stringify({ secret })]],
    ['a malformed --set', ['create', 'role', '-r', 'acme', '--set', secret]],
    ['a malformed --header', ['api', 'GET', 'realms', '-H', secret]],
  ])('are refused in %s, and not repeated', async (_, args) => {
    const ran = await run(args);
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringMatching(/is a secret, and|takes /) });
    expect(ran.stdout + ran.stderr).not.toContain(secret);
  });
});

describe('the body of a request', () => {
  test('is XML where the file is XML, and YAML is sent as JSON', async () => {
    const file = path.join(dir, 'role.yaml');
    await writeFile(file, 'name: from-yaml\ndescription: A role\n');
    expect(JSON.parse(await done('api', 'POST', 'realms/acme/roles', '-f', file)).name).toBe('from-yaml');
    const piped = { stdin: '# as a pipe gives it\nname: from-a-pipe\n' };
    expect((await run(['api', 'POST', 'realms/acme/roles', '-f', '-'], piped)).code).toBe(0);
    const xml = await run(['api', 'POST', 'realms/acme/roles', '-f', '-'], { stdin: '<?xml version="1.0"?><role/>' });
    expect(xml).toMatchObject({ code: 2, stderr: expect.stringMatching(/media type|application\/xml/i) });
    const neither = await run(['api', 'POST', 'realms/acme/roles', '-f', '-'], { stdin: 'name,description\n' });
    expect(neither).toMatchObject({ code: 2, stderr: expect.stringContaining('neither JSON, YAML nor XML') });
  });
});

describe('what is unknown is named with what was probably meant', () => {
  test('a field', async () => {
    const stdin = JSON.stringify({ name: 'teller', descripton: 'x', zzzzzzzz: 1 });
    const { code, stderr } = await run(['create', 'role', '-r', 'acme', '-f', '-'], { stdin });
    expect(code).toBe(2);
    expect(stderr).toContain('descripton: is not a known field; did you mean description?');
    expect(stderr).toMatch(/zzzzzzzz: is not a known field$/m);
  });

  test('a section of a document, and a field in it', async () => {
    const stdin = JSON.stringify({ clints: [], clients: [{ clientId: 'web', redirectUri: [] }] });
    const { stderr } = await run(['import', '-r', 'acme', '-f', '-', '--dry-run'], { stdin });
    expect(stderr).toContain('clints: is not a known field; did you mean clients?');
  });

  test('a command', async () => {
    expect((await run(['exprot', 'acme'])).stderr).toContain('Did you mean export?');
    expect((await run(['get', 'cleints', '-r', 'acme'])).stderr).toContain('Did you mean clients?');
  });

  test('thousands of unknown fields take no longer than a few', async () => {
    const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`description${i}`, 1]));
    const from = performance.now();
    const { stderr } = await run(['create', 'role', '-r', 'acme', '-f', '-'], { stdin: JSON.stringify(body) });
    expect(stderr).toContain('is not a known field');
    expect(performance.now() - from).toBeLessThan(5_000);
  });
});

test('a user is found by a name whose letters are composed otherwise', async () => {
  await run(['create', 'user', '-r', 'acme', '--username', 'rene\u0301']);
  for (const word of ['ren\u00e9', 'REN\u00c9', 'rene\u0301'])
    expect(await run(['get', 'user', word, '-r', 'acme', '-o', 'name'])).toMatchObject({ stdout: 'rene\u0301\n' });
});

test.each([
  ['/realms/acme', '; a realm by --realm acme.'],
  ['/realms/acme/.well-known/openid-configuration', '; a realm by --realm acme.'],
  ['/admin', '.'],
])('an address within the server is refused with the server’s own: %s', async (below, rest) => {
  const { code, stderr } = await run(['login', `${server.baseUrl}${below}`, '--no-browser']);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`Give the server’s own: ${server.baseUrl}${rest}`)]);
});

describe('the realm of a command', () => {
  test('of a client that signs in at master isn’t master by mistake, and the message says why', async () => {
    const { code, stderr } = await run(['get', 'clients'], { env: { REALMCTL_REALM: 'master' } });
    expect([code, stderr.includes('REALMCTL_REALM is master, where the client signs in')]).toEqual([2, true]);
  });
});

describe('without', () => {
  async function kubectl(script: string): Promise<Record<string, string>> {
    const file = path.join(dir, 'kubectl');
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
    return { PATH: `${dir}:${process.env.PATH}` };
  }
  const logged = `E1126 10:02:11.004123    4242 memcache.go:265] "Unhandled Error" err="couldn't get current server API group list"`;

  test('a cluster, status says so in a sentence', async () => {
    const said = 'The connection to the server localhost:8080 was refused - did you specify the right host or port?';
    const script = [...Array.from({ length: 5 }, () => logged), said].map(
      (line) => `echo '${line.replaceAll("'", '')}' >&2`,
    );
    const ran = await run(['status'], { env: await kubectl([...script, 'exit 1'].join('\n')) });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toBe(
      `realmctl: kubectl: ${said}\nChoose a cluster with --kube-context, --kubeconfig or KUBECONFIG.\n`,
    );
  });

  test.each([
    [
      'another server',
      'Error from server (NotFound): the server could not find the requested resource',
      /no Kubernetes/,
    ],
    ['the four kinds', `error: the server doesn't have a resource type "realms"`, /realmctl crds \| kubectl apply/],
  ])('a cluster, where kubectl asks %s, status names the next step', async (_, said, step) => {
    const ran = await run(['status'], { env: await kubectl(`cat >&2 <<'END'\n${said}\nEND\nexit 1`) });
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringMatching(step) });
  });

  test.each([{}, { EDITOR: 'vim' }, { VISUAL: '/usr/bin/nvim -R' }])(
    'a terminal, edit opens no editor: %j',
    async (env) => {
      const ran = await run(['edit', 'user', 'ana', '-r', 'acme'], { env: { PATH: '/nonexistent', ...env } });
      expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('this is not a terminal') });
    },
  );
});
