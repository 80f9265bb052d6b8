// Owns: what files have lost: told by diff, deleted with --prune, and asked about by import where it is much or people.
// Does not own: what pruning means (server/features/transfer*).
// Implements: issue "CLI": nothing much is deleted by surprise.
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { during } from '../../cli/progress.ts';
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

  test('tells nobody of what they may not read', async () => {
    await api.apply('told', { ...roles('a'), clients: [{ clientId: 'hidden' }] }, { manager: 'mine' });
    const reader = await administrator(server, { target: 'told', permissions: ['roles:read'] });
    const { importRealm } = await import('../../server/contract/transfer.ts');
    const { body } = await reader.call(importRealm, {
      params: { realm: 'told' },
      query: { manager: 'mine', dryRun: 'true' },
      body: { roles: [] },
    });
    expect(body?.undeclared).toEqual([{ kind: 'role', key: 'a' }]);
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
    await during({ stderr, watched }, 'Planning realm acme', new Promise((resolve) => setTimeout(resolve, 1_300)));
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
