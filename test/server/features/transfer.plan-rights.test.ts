// Owns: who may have a document planned without writing it, and what the plan then shows.
// Does not own: who may apply it (transfer.rights.test.ts), what is guessed of secrets by who may write (transfer.guesses.test.ts).
// Implements: decisions "Import, export, plan": a dry run needs the read permissions of its sections alone.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client, ServerProblem } from '../../../server/contract/client.ts';
import type { Permission } from '../../../server/contract/permissions.ts';
import { importRealm, type Plan, type RealmDocument } from '../../../server/contract/transfer.ts';
import { administrator } from '../../support/administrators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

const SECRET = 'the-secret-that-is-stored-0123456789';
let server: TestServer;
let admin: Importer;
let before: string;

beforeAll(async () => {
  server = await startTestServer({ env: { SVC_VAR_OF_THE_SERVER: SECRET } });
  admin = await importer(server);
  await admin.apply(
    'acme',
    {
      realm: { displayName: 'Acme' },
      roles: [{ name: 'reader', description: 'as it is' }],
      groups: [{ path: '/staff', roles: ['reader'] }],
      clients: [
        { clientId: 'web', name: 'Web', secret: SECRET },
        { clientId: 'open', tokenEndpointAuthMethod: 'none' },
      ],
      users: [{ username: 'ana', email: 'ana@example.com' }],
    },
    { manager: 'owner' },
  );
  before = await admin.download('acme');
});
afterAll(() => server?.stop());

const holding = (held: readonly Permission[], target = 'acme') => administrator(server, { target, permissions: held });
type Query = { manager?: string; prune?: 'true'; dryRun?: 'false' };
async function plan(who: Client, body: RealmDocument, query: Query = {}, realm = 'acme'): Promise<Plan> {
  const params = { realm };
  const answer = await who.call(importRealm, { params, query: { dryRun: 'true', manager: 'owner', ...query }, body });
  if (!answer.body) throw new Error('no plan');
  return answer.body;
}
const refusal = (work: Promise<unknown>): Promise<ServerProblem> =>
  work.then(
    () => expect.fail('it was not refused'),
    (error: ServerProblem) => error,
  );
const changed: RealmDocument = { roles: [{ name: 'reader', description: 'as it is to be' }, { name: 'writer' }] };

describe('who may read a section', () => {
  test('sees what a document would change in it, may not apply that, and nothing is written', async () => {
    const reader = await holding(['roles:read']);
    const { changes } = await plan(reader, changed);
    expect(changes).toMatchObject([
      { action: 'update', key: 'reader', fields: [{ path: 'description', from: 'as it is', to: 'as it is to be' }] },
      { action: 'create', key: 'writer' },
    ]);
    const refused = await refusal(plan(reader, changed, { dryRun: 'false' }));
    expect(refused).toMatchObject({ status: 403, problem: { permission: 'roles:write' } });
    expect(await admin.download('acme')).toBe(before);
  });

  test('sees no other section, by its name or by what pruning would take', async () => {
    const reader = await holding(['roles:read']);
    const others: [RealmDocument, Permission][] = [
      [{ ...changed, clients: [] }, 'clients:read'],
      [{ ...changed, realm: { displayName: 'Other' } }, 'settings:read'],
      [{ ...changed, users: [] }, 'users:read'],
    ];
    for (const [body, permission] of others)
      expect(await refusal(plan(reader, body))).toMatchObject({ status: 403, problem: { permission } });
    const pruned = await refusal(plan(reader, changed, { prune: 'true' }));
    expect(pruned).toMatchObject({ status: 403 });
    expect(JSON.stringify(pruned.problem)).not.toMatch(/staff|web|open/);
  });

  test('is not told whether names of a section that they may not read are there', async () => {
    const reader = await holding(['groups:read']);
    const group = (role: string) => ({ groups: [{ path: '/staff', roles: [role] }] });
    const [there, absent] = [await plan(reader, group('reader')), await plan(reader, group('nobody'))];
    expect([there.changes, absent.changes.length]).toEqual([[], 1]);
    const both = await holding(['groups:read', 'roles:read']);
    expect(await refusal(plan(both, group('nobody')))).toMatchObject({ status: 400 });
    const people = await holding(['users:read']);
    expect((await plan(people, { users: [{ username: 'new', roles: ['nobody'] }] })).summary.create).toBe(1);
  });

  test('learns of no secret whether it is the stored one, and of no variable whether there is one', async () => {
    const reader = await holding(['clients:read']);
    const asked = async (secret: string) =>
      JSON.stringify(await plan(reader, { clients: [{ clientId: 'web', name: 'Web', secret }] }));
    const told = new Set(await Promise.all([SECRET, 'another-secret-altogether-012345'].map(asked)));
    expect([...told]).toEqual([expect.stringContaining('"because":"notCompared"')]);
    expect([...told].join()).toContain('"inSync":true');
    const named = (name: string) => asked(`\${${name}}`).then((text) => text.replaceAll(name, 'NAME'));
    expect(await named('SVC_VAR_OF_THE_SERVER')).toBe(await named('SVC_VAR_OF_NOBODY'));
    // whether there is one at all they may read
    const { changes } = await plan(reader, { clients: [{ clientId: 'fresh', secret: SECRET }] });
    expect(changes[0]?.fields).toContainEqual({ path: 'secret', from: null, to: '***' });
  });

  test('is not told what the change would give whom: that is for who may make it', async () => {
    const reader = await holding(['clients:read']);
    const gives = { serviceAccountRoles: [{ clientId: 'web', adminRoles: ['realm-admin'] }] };
    expect((await plan(reader, gives)).summary.create + (await plan(reader, gives)).summary.update).toBeGreaterThan(0);
    const writer = await holding(['clients:read', 'clients:write']);
    expect(await refusal(plan(writer, gives))).toMatchObject({ status: 403 });
  });
});

describe('realm:plan alone', () => {
  test('plans every section but users, writes nothing, and shows no stored value', async () => {
    const planner = await holding(['realm:plan']);
    const all = {
      ...changed,
      realm: { displayName: 'Acme & Co' },
      clients: [{ clientId: 'web', name: 'The web', secret: 'another-secret-altogether-012345' }],
    };
    const { changes, keptSecrets, conflicts } = await plan(planner, all);
    expect(changes).toEqual([
      {
        action: 'update',
        kind: 'settings',
        key: 'acme',
        fields: [{ path: 'displayName', from: '***', to: 'Acme & Co' }],
      },
      {
        action: 'update',
        kind: 'role',
        key: 'reader',
        fields: [{ path: 'description', from: '***', to: 'as it is to be' }],
      },
      expect.objectContaining({ action: 'create', kind: 'role', key: 'writer' }),
      { action: 'update', kind: 'client', key: 'web', fields: [{ path: 'name', from: '***', to: 'The web' }] },
    ]);
    expect([keptSecrets.length, conflicts]).toEqual([1, []]);
    expect(await refusal(plan(planner, { users: [] }))).toMatchObject({ problem: { permission: 'users:read' } });
    expect(await refusal(plan(planner, all, { dryRun: 'false' }))).toMatchObject({ status: 403 });
    expect(await admin.download('acme')).toBe(before);
  });

  test('tells faults of the document, and what pruning would take', async () => {
    const planner = await holding(['realm:plan']);
    expect(await refusal(plan(planner, { groups: [{ path: '/x', roles: ['nobody'] }] }))).toMatchObject({
      status: 400,
    });
    const { summary } = await plan(planner, {}, { prune: 'true' });
    expect(summary.delete).toBeGreaterThanOrEqual(4);
  });

  test('opens nothing else: neither the export nor a list', async () => {
    const planner = await holding(['realm:plan'], '*');
    const { body } = await planner.call(importRealm, {
      params: { realm: 'not-there' },
      query: { dryRun: 'true' },
      body: { roles: [{ name: 'first' }] },
    });
    expect(body).toMatchObject({ revision: 0, summary: { create: 2 } });
    expect((await admin.fetch('/admin/realms/not-there')).status).toBe(404);
    const here = await holding(['realm:plan']);
    expect(await refusal(plan(here, {}, {}, 'not-there'))).toMatchObject({ status: 403 });
  });
});
