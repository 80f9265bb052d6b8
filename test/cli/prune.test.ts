// Owns: what files have lost: told by diff, deleted with --prune, and asked about by import where it is much or people.
// Does not own: what pruning means (server/features/operations/transfer*).
// Implements: docs/cli.md: nothing much is deleted by surprise.
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withProgress } from '../../cli/progress.ts';
import type { Permission } from '../../server/contract/permissions.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { administrator } from '../support/administrators.ts';
import { asOperator, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Importer, importer } from '../support/transfer.ts';

let server: TestServer;
let api: Importer;
const run = (args: readonly string[], document: object) =>
  realmctl(asOperator(server), args, { stdin: JSON.stringify(document) });
const roles = (...names: string[]) => ({ roles: names.map((name) => ({ name })) });
const rolesOf = async (realm: string) =>
  JSON.parse(await api.download(realm)).roles.map(({ name }: { name: string }) => name);
beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  api = await importer(server);
});
afterAll(() => server?.stop());

describe('diff', () => {
  test('says what the manager still has and the files have lost; with --prune it is a difference', async () => {
    await run(['apply', '-f', '-', '--realm', 'lost', '--yes'], { ...roles('a', 'b'), realm: { rememberMe: true } });
    const args = ['diff', '--realm', 'lost', '-f', '-'];
    const left = await run(args, roles('a'));
    expect(left.code).toBe(0);
    expect(left.stdout).toContain(
      'realmctl still manages what the files no longer hold (--prune deletes it): role b, settings rememberMe',
    );
    expect(left.stdout).toContain('In sync but for 2 that the files no longer hold');
    const pruned = await run([...args, '--prune'], roles('a'));
    expect([pruned.code, pruned.stdout.includes('- delete role b')]).toEqual([1, true]);
    expect((await run([...args, '--manager', 'another'], roles('a'))).stdout).not.toContain('no longer hold');
  });

  test('names people whom the files have lost where they are few, and counts them where they are many', async () => {
    const users = (from: number, to: number) => ({
      users: Array.from({ length: to - from }, (_, n) => ({ username: `person-${String(from + n).padStart(2, '0')}` })),
    });
    await run(['apply', '-f', '-', '--realm', 'staff', '--yes'], { ...roles('a'), ...users(0, 30) });
    await api.apply('staff', { users: [{ username: 'by-hand' }] }, { manager: 'another' });
    const args = ['diff', '--realm', 'staff', '-f', '-'];
    const few = await run(args, { ...roles('a'), ...users(2, 30) });
    expect(few.code).toBe(0);
    expect(few.stdout).toContain(
      'no longer hold (--prune deletes people where the files hold users, be it an empty list)',
    );
    expect(few.stdout).toContain(': user person-00, user person-01\n');
    expect(few.stdout).toContain('In sync but for 2 that the files no longer hold');
    const many = await run(args, { ...roles('a'), ...users(0, 1) });
    expect([many.stdout.includes(': 29 users\n'), many.stdout.includes('person-')]).toEqual([true, false]);
    expect((await run(args, { ...roles('a'), users: [] })).stdout).toContain(': 30 users\n');
    expect((await run(args, roles('a'))).stdout).toContain(': 30 users\n');
    const pruned = await run([...args, '--prune'], { ...roles('a'), ...users(2, 30) });
    expect([pruned.code, pruned.stdout.includes('- delete user person-00')]).toEqual([1, true]);
    expect((await run(args, { ...roles('a'), ...users(0, 30) })).stdout).toContain('In sync: realm staff.');
  });

  test('tells nobody of what they may not read', async () => {
    await api.apply('told', { ...roles('a'), clients: [{ clientId: 'hidden' }] }, { manager: 'mine' });
    await api.apply('told', { users: [{ username: 'somebody' }] }, { manager: 'mine' });
    const plan = async (...permissions: Permission[]) => {
      const reader = await administrator(server, { target: 'told', permissions });
      const query = { manager: 'mine', dryRun: 'true' } as const;
      return (await reader.call(importRealm, { params: { realm: 'told' }, query, body: { roles: [] } })).body;
    };
    const nobody = { count: 0, usernames: [] };
    expect(await plan('roles:read')).toMatchObject({
      undeclared: [{ kind: 'role', key: 'a' }],
      undeclaredUsers: nobody,
    });
    expect(await plan('roles:read', 'realm:plan')).toMatchObject({ undeclaredUsers: nobody });
    expect(await plan('roles:read', 'users:read')).toMatchObject({
      undeclaredUsers: { count: 1, usernames: ['somebody'] },
    });
  });
});

describe('import --prune', () => {
  const many = Array.from({ length: 20 }, (_, n) => `role-${n}`);

  test('goes on where it deletes little', async () => {
    await run(['import', 'little', '-f', '-', '--yes'], roles(...many));
    expect(await run(['import', 'little', '-f', '-', '--prune'], roles(...many.slice(2)))).toMatchObject({ code: 0 });
    expect(await rolesOf('little')).toHaveLength(18);
  });

  test('asks where it deletes more than a tenth of a kind, and without a terminal wants --yes', async () => {
    await run(['import', 'much', '-f', '-', '--yes'], roles(...many));
    const refused = await run(['import', 'much', '-f', '-', '--prune'], roles(...many.slice(3)));
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/nothing was imported: .*much \(role 3 of 20\)\n.*--dry-run.*--yes/);
    expect(await rolesOf('much')).toHaveLength(20);
    expect((await run(['import', 'much', '-f', '-', '--prune', '--yes'], roles(...many.slice(3)))).code).toBe(0);
    expect(await rolesOf('much')).toHaveLength(17);
  });

  test('asks where it deletes a single person', async () => {
    const users = (...names: string[]) => ({ users: names.map((username) => ({ username })) });
    const everybody = Array.from({ length: 50 }, (_, n) => `person-${n}`);
    await run(['import', 'people', '-f', '-', '--yes'], users(...everybody));
    const refused = await run(['import', 'people', '-f', '-', '--prune'], users(...everybody.slice(1)));
    expect([refused.code, refused.stderr.includes('(user 1)')]).toEqual([2, true]);
    expect(JSON.parse(await api.download('people')).users).toHaveLength(50);
  });

  test('is by the manager that apply has, too', async () => {
    await run(['apply', '-f', '-', '--realm', 'shared', '--yes'], roles('a', 'b'));
    const { stdout } = await run(['import', 'shared', '-f', '-', '--prune', '--dry-run'], roles('a'));
    expect(stdout).toContain('- delete role b');
  });
});

test('what takes long says so once a second where somebody watches, and nothing in a pipe', async () => {
  const said = async (watched: boolean) => {
    const stderr = new PassThrough();
    await withProgress(
      { stderr, watched },
      'Planning realm acme',
      new Promise((resolve) => setTimeout(resolve, 1_300)),
    );
    return String(stderr.read() ?? '');
  };
  const shown = await said(true);
  expect([shown.includes('Planning realm acme … 1 s'), shown.endsWith('\r\u001b[2K')]).toEqual([true, true]);
  expect(await said(false)).toBe('');
});

test('a pipeline that may only plan sees the difference, and can’t make it', async () => {
  await api.apply('planned', roles('a'), { manager: 'realmctl' });
  await api.apply('master', {
    adminRoles: [{ name: 'planner', permissions: ['realm:plan'] }],
    clients: [{ clientId: 'pr', grantTypes: ['client_credentials'], secret: 'the-secret-of-the-pull-request' }],
  });
  const { body: clients } = { body: JSON.parse(await (await api.fetch('/admin/realms/master/clients')).text()) };
  const { id } = clients.find(({ clientId }: { clientId: string }) => clientId === 'pr');
  await server.pool.query(
    `insert into admin_grant (realm_id, role_id, client, target_realm)
     select 'master', id, $1, '*' from admin_role where realm_id = 'master' and name = 'planner'`,
    [id],
  );
  const env = {
    REALMCTL_SERVER: server.baseUrl,
    REALMCTL_CLIENT_ID: 'pr',
    REALMCTL_CLIENT_SECRET: 'the-secret-of-the-pull-request',
  };
  const stdin = JSON.stringify(roles('a', 'b'));
  const diff = await realmctl(env, ['diff', '--realm', 'planned', '-f', '-'], { stdin });
  expect([diff.code, diff.stdout.includes('+ create role b')]).toEqual([1, true]);
  const apply = await realmctl(env, ['apply', '--realm', 'planned', '-f', '-', '--yes'], { stdin });
  expect([apply.code, apply.stderr.includes('roles:read')]).toEqual([2, true]);
});
