// `realmctl hold`, `unhold`, `get holds`, and a plan that names what is held, against a real server.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { standingOf } from '../../cli/standing.ts';
import { listClients, putClient } from '../../server/contract/clients.ts';
import { asOperator, type Ran, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let folder: string;
const params = { realm: 'acme' };
const run = (...args: string[]): Promise<Ran> => realmctl(asOperator(server), args);
const apply = () => run('apply', '-f', path.join(folder, 'acme.yaml'), '-r', 'acme', '--yes');
const diff = () => run('diff', '-f', path.join(folder, 'acme.yaml'), '-r', 'acme');

beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  folder = await mkdtemp(path.join(os.tmpdir(), 'holds-'));
  await writeFile(path.join(folder, 'acme.yaml'), 'roles: [{name: reader}]\nclients: [{clientId: shop, name: Shop}]\n');
  expect((await apply()).code).toBe(0);
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true });
});

test('a hold is placed, listed, named by diff and apply, and ended', async () => {
  const placed = await run(
    'hold',
    'client',
    'shop',
    '-r',
    'acme',
    '--reason',
    'the shop is down',
    '--for',
    '4h',
    '-o',
    'json',
  );
  expect([placed.code, placed.stderr]).toEqual([0, expect.stringContaining('realmctl unhold')]);
  const hold = JSON.parse(placed.stdout);
  expect(hold).toMatchObject({ what: [{ kind: 'client', key: 'shop' }], reason: 'the shop is down' });
  expect(Math.abs(Date.parse(hold.until) - Date.now() - 4 * 3_600_000)).toBeLessThan(60_000);
  const listed = await run('get', 'holds', '-r', 'acme');
  expect(listed.stdout).toMatch(/^HOLD +HOLDS +BY +UNTIL +REASON\n/);
  expect(listed.stdout).toMatch(new RegExp(`^${hold.id} +client shop +client operator +\\S+Z +the shop is down`, 'm'));
  const { body: [shop] = [] } = await server.admin.call(listClients, { params });
  await server.admin.call(putClient, { params: { ...params, id: shop?.id ?? '' }, body: { name: 'By hand' } });
  for (const { code, stdout } of [await diff(), await apply()]) {
    expect(code).toBe(0);
    expect(stdout).toMatch(/= held: update client shop waits until \S+Z, held by operator: the shop is down/);
  }
  expect((await server.admin.call(listClients, { params })).body?.[0]?.name).toBe('By hand');
  expect((await run('unhold', hold.id, '-r', 'acme')).code).toBe(0);
  expect((await diff()).code).toBe(1);
  expect((await apply()).code).toBe(0);
  expect((await server.admin.call(listClients, { params })).body?.[0]?.name).toBe('Shop');
});

test('all of a kind is held by --all, and every hold ends by --all', async () => {
  expect((await run('hold', 'role', '--all', '-r', 'acme', '--reason', 'x')).code).toBe(0);
  expect((await run('hold', 'clients', '-r', 'acme', '--reason', 'x')).code).toBe(2);
  const ended = await run('unhold', '--all', '-r', 'acme');
  expect([ended.code, ended.stderr]).toEqual([0, expect.stringMatching(/^The hold \S+ has ended\.\n$/)]);
  expect((await run('get', 'holds', '-r', 'acme')).stderr).toBe('No holds in acme.\n');
});

test.each([
  ['a kind that there is not', ['hold', 'nothing', 'x', '--reason', 'x'], /nothing is no kind/],
  ['what no manager owns', ['hold', 'client', 'none', '--reason', 'x'], /no manager owns the client none/],
  [
    'a setting that no manager owns',
    ['hold', 'settings', 'rememberMe', '--reason', 'x'],
    /owns the setting rememberMe:/,
  ],
  ['a misspelt setting', ['hold', 'settings', 'requireMFA', '--reason', 'x'], /did you mean requireMfa\?/],
  ['no name', ['hold', 'client', '--reason', 'x'], /which client/],
  ['a time beyond seven days', ['hold', 'client', 'shop', '--reason', 'x', '--for', '8d'], /at most 7d/],
  ['no reason', ['hold', 'client', 'shop'], /--reason/],
  ['no hold', ['unhold'], /which hold/],
])('%s is refused in words', async (_, args, words) => {
  const { code, stderr } = await run(...args, '-r', 'acme');
  expect([code, stderr]).toEqual([2, expect.stringMatching(words)]);
});

test('status shows what a hold keeps of a resource that is in order', () => {
  const condition = (type: 'Ready' | 'Held', reason: string, message: string) => ({
    type,
    status: 'True' as const,
    reason,
    message,
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const one = {
    kind: 'Realm' as const,
    metadata: { name: 'acme', namespace: 'identity', generation: 1 },
    spec: { realm: 'acme' },
    status: {
      observedGeneration: 1,
      conditions: [
        condition('Ready', 'Applied', 'the realm holds what is declared'),
        condition('Held', 'Held', 'client shop is held by ana'),
      ],
    },
  };
  expect(standingOf(one as never, [])).toMatchObject({
    ready: true,
    reason: 'Held',
    message: 'client shop is held by ana',
  });
});

test('what is declared only is refused with the commands that go on, shown by describe, and opened by a hold', async () => {
  const file = path.join(folder, 'locked.yaml');
  await writeFile(file, 'realm: {declaredOnly: [clients, clientRoles]}\nclients: [{clientId: shop, name: Shop}]\n');
  const locked = async (...args: string[]) => run(...args, '-r', 'locked');
  expect((await locked('apply', '-f', file, '--yes')).code).toBe(0);
  const refused = await locked('create', 'client', 'late shop', '--token-endpoint-auth-method', 'none');
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain('Only a document may change the client late shop');
  expect(refused.stderr).toContain('realmctl apply -f FILE --manager NAME');
  expect(refused.stderr).toContain("realmctl hold client 'late shop' --reason WHY --for 1h");
  const described = await run('describe', 'realm', 'locked');
  expect(described.stdout).toMatch(/clients\b[\s\S]*clientRoles/);
  expect((await locked('hold', 'client', 'late shop', '--reason', 'INC-1')).code).toBe(0);
  expect((await locked('create', 'client', 'late shop', '--token-endpoint-auth-method', 'none')).code).toBe(0);
});
