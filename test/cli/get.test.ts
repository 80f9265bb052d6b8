// `realmctl get` as people run it: a process against a real server.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../support/operator.ts';
import { asOperator, type Ran, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Importer, importer } from '../support/transfer.ts';

let server: TestServer;
let api: Importer;
const run = (...args: string[]): Promise<Ran> => realmctl(asOperator(server), args);
const USERS = 1203;

beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  api = await importer(server);
  await api.apply('acme', {
    clients: [{ clientId: 'billing', grantTypes: ['client_credentials'], secret: 'a secret of the billing client' }],
    roles: [{ name: 'reader' }, { name: 'writer', composite: { roles: ['reader'] } }],
    groups: [{ path: '/staff' }, { path: '/staff/on call' }],
    authorizationServices: [{ clientId: 'billing', scopes: [{ name: 'view' }] }],
    messagingProviders: [{ channel: 'EMAIL', driver: 'smtp', config: { host: 'mail' } }],
    webhooks: [{ name: 'audit', url: 'https://audit.example.com', eventTypes: '*' }],
    workloadIdentity: [
      { name: 'deployer', issuer: 'https://ci.example.com', subject: 'main', audience: 'acme', clientId: 'billing' },
    ],
    users: Array.from({ length: USERS }, (_, n) => ({
      username: `user-${String(n).padStart(4, '0')}`,
      email: `user-${n}@example.com`,
      firstName: n === 7 ? '\u001b[31mred\u202e' : 'Ana',
    })),
  });
  await api.apply('empty', {});
});
afterAll(() => server.stop());

const kinds = [
  ['realms', 'acme'],
  ['clients', 'billing'],
  ['users', 'user-0003'],
  ['roles', 'writer'],
  ['groups', '/staff/on call'],
  ['client-scopes', 'profile'],
  ['authorization-services', 'billing'],
  ['flows', 'browser'],
  ['webhooks', 'audit'],
  ['workload-identities', 'deployer'],
  ['managers', 'import'],
  ['admin-roles', 'realm-admin'],
] as const;

test.each(kinds)('%s are listed, and one is found by its name, in every form', async (kind, name) => {
  const realm = kind === 'realms' ? [] : ['-r', 'acme'];
  const table = await run('get', kind, ...realm);
  expect(table.code).toBe(0);
  expect(table.stdout).toMatch(/^[A-Z -]+\n/);
  expect(table.stdout).toContain(name);
  const list = JSON.parse((await run('get', kind, ...realm, '-o', 'json')).stdout);
  expect(list.some((one: object) => Object.values(one).includes(name))).toBe(true);
  const one = parse((await run('get', kind, name, ...realm, '-o', 'yaml')).stdout);
  expect(Object.values(one)).toContain(name);
});

test('--managers shows who manages each, and in json the fields that the manager declares', async () => {
  const table = await run('get', 'clients', '-r', 'acme', '--managers');
  expect(table.stdout).toMatch(/^CLIENT .* MANAGED BY\n/);
  expect(table.stdout).toMatch(/^billing .* import$/m);
  const list = JSON.parse((await run('get', 'clients', '-r', 'acme', '--managers', '-o', 'json')).stdout);
  const owns = [{ manager: 'import', fields: ['grantTypes', 'secret'] }];
  expect(list).toMatchObject([{ clientId: 'billing', managedBy: owns }]);
  const one = parse((await run('get', 'client', 'billing', '-r', 'acme', '--managers', '-o', 'yaml')).stdout);
  expect(one).toMatchObject({ clientId: 'billing', managedBy: owns });
  expect(JSON.parse((await run('get', 'clients', '-r', 'acme', '-o', 'json')).stdout)[0]).not.toHaveProperty(
    'managedBy',
  );
});

test('what has a name of several parts is found by all of them', async () => {
  const provider = await run('get', 'messaging-provider', 'EMAIL/smtp', '-r', 'acme', '-o', 'yaml');
  expect(parse(provider.stdout)).toMatchObject({ channel: 'EMAIL', driver: 'smtp', config: { host: 'mail' } });
  const template = await run('get', 'message-template', 'otp-sms/SMS/en', '-r', 'acme', '-o', 'yaml');
  expect(parse(template.stdout)).toMatchObject({ templateKey: 'otp-sms', subject: null });
});

test('of people only the first hundred come, with a word about the others; --limit 0 brings all pages', async () => {
  const first = await run('get', 'users', '-r', 'acme', '-o', 'name');
  expect(first.stdout.trimEnd().split('\n')).toHaveLength(100);
  expect(first.stderr).toBe('There are more users: --limit 0 shows all.\n');
  const all = await run('get', 'users', '-r', 'acme', '-o', 'name', '--limit', '0');
  expect(all.stdout.trimEnd().split('\n')).toHaveLength(USERS);
  expect(all.stderr).toBe('');
  const exact = await run('get', 'users', '-r', 'acme', '-o', 'json', '--limit', String(USERS));
  expect(JSON.parse(exact.stdout)).toHaveLength(USERS);
  expect(exact.stderr).toBe('');
});

test('a search finds what the server finds, and names where the server has no search', async () => {
  expect((await run('get', 'users', '-r', 'acme', '-q', 'user-12@', '-o', 'name')).stdout).toBe('user-0012\n');
  expect((await run('get', 'client-scopes', '-r', 'acme', '-q', 'PHO', '-o', 'name')).stdout).toBe('phone\n');
});

test('a wide table has more columns, also of a single one', async () => {
  const lines = (await run('get', 'client', 'billing', '-r', 'acme', '-o', 'wide')).stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^CLIENT .* SECRET .* CREATED$/);
  expect(lines[1]).toMatch(/^billing .*Z$/);
});

test('nothing found is said beside the answer, which stays empty or an empty list', async () => {
  expect(await run('get', 'webhooks', '-r', 'empty')).toEqual({
    code: 0,
    stdout: '',
    stderr: 'No webhooks in empty.\n',
  });
  expect((await run('get', 'webhooks', '-r', 'empty', '-o', 'json')).stdout).toBe('[]\n');
  expect((await run('get', 'users', '-r', 'acme', '-q', 'nobody')).stderr).toBe(
    'No users that match nobody in acme.\n',
  );
});

test('a single object that isn’t there is exit code 2 and says where to look', async () => {
  const { code, stdout, stderr } = await run('get', 'client', 'bill', '-r', 'acme');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/there is no client bill in the realm acme\n.*realmctl get clients -r acme\n/);
});

test('events are asked for by type, user and time', async () => {
  await server.signIn({ username: 'admin', password: 'wrong' }).catch(() => {});
  const failures = ['get', 'events', '-r', 'master', '--type', 'ADMIN_LOGIN_FAILURE', '--since', '1h', '-o', 'json'];
  const events = await eventually(async () => {
    const found = JSON.parse((await run(...failures)).stdout);
    expect(found).not.toEqual([]);
    return found;
  });
  expect(new Set(events.map((event: { type: string }) => event.type))).toEqual(new Set(['ADMIN_LOGIN_FAILURE']));
  expect((await run('get', 'events', '-r', 'master', '--since', '2999-01-01')).stderr).toBe('No events in master.\n');
  expect(JSON.parse((await run('get', 'events', '-r', 'master', '--user', 'admin', '-o', 'json')).stdout)).not.toEqual(
    [],
  );
  expect((await run('get', 'events', '-r', 'master', '--since', 'yesterday')).stderr).toMatch(/--since must be a time/);
});

test('deliveries belong to a webhook, which is named', async () => {
  const found = JSON.parse((await run('get', 'webhook', 'audit', '-r', 'acme', '-o', 'json')).stdout);
  await api.fetch(`/admin/realms/acme/webhooks/${found.id}/test`, { method: 'POST' });
  expect((await run('get', 'deliveries', 'audit', '-r', 'acme')).stdout).toContain('WEBHOOK_TEST');
  expect((await run('get', 'deliveries', 'none', '-r', 'acme')).stderr).toContain('there is no webhook none');
});

test('what people put into names can’t steer the terminal', async () => {
  const { stdout } = await run('get', 'users', '-r', 'acme', '-q', 'user-0007');
  expect(stdout).toContain('\\u001b[31mred\\u202e');
});

test.each([
  [['get', 'things'], /unknown command|things/],
  [['get', 'clients'], /--realm/],
  [['get', 'clients', '-r', 'Not A Realm'], /not the name of a realm/],
  [['get', 'clients', '-r', 'acme', '--limit', 'x'], /--limit must be a number/],
  [['get', 'clients', '-r', 'nowhere'], /nowhere/],
])('realmctl %j is refused in words', async (args, words) => {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(words);
});
