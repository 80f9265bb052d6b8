import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Plan } from '../../../server/contract/transfer.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { lockWaits } from '../../support/database.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

// A document as a whole: what it prunes, what it names, what is unique in it and may change hands.
let server: TestServer;
let admin: Importer;

beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

const PRUNE = { prune: 'true' };
const words = ({ changes }: Plan) => changes.map((c) => `${c.action} ${c.kind} ${c.key}`);

/** Refused with these places, dry or not, and everything stays as it was. */
async function refused(realm: string, document: object, query: Record<string, string>, paths: string[]): Promise<void> {
  const before = await admin.download(realm);
  for (const dryRun of ['true', 'false']) {
    const refusal = await admin.refusal(realm, document, { ...query, dryRun });
    expect([refusal.status, refusal.errors?.map((e) => e.path)]).toEqual([400, paths]);
  }
  expect(await admin.download(realm)).toBe(before);
}

describe('a document that names what it prunes is refused, for the next time it would name what is not there:', () => {
  const role = (name: string, ...roles: string[]) => ({ name, composite: { roles } });
  test.each<[string, object, object, string[]]>([
    [
      'a role in a role',
      { roles: [role('a', 'b'), { name: 'b' }] },
      { roles: [role('a', 'b')] },
      ['roles[0].composite.roles'],
    ],
    [
      'a role of a group',
      { roles: [{ name: 'b' }], groups: [{ path: '/g', roles: ['b'] }] },
      { groups: [{ path: '/g', roles: ['b'] }] },
      ['groups[0].roles'],
    ],
    [
      'a scope of a client',
      { clientScopes: [{ name: 's' }], clients: [{ clientId: 'c', defaultClientScopes: ['s'] }] },
      { clients: [{ clientId: 'c', defaultClientScopes: ['s'] }] },
      ['clients[0].defaultClientScopes'],
    ],
    [
      'an admin role of a service account',
      {
        clients: [{ clientId: 'c' }],
        adminRoles: [{ name: 'k' }],
        serviceAccountRoles: [{ clientId: 'c', adminRoles: ['k'] }],
      },
      { clients: [{ clientId: 'c' }], serviceAccountRoles: [{ clientId: 'c', adminRoles: ['k'] }] },
      ['serviceAccountRoles[0].adminRoles'],
    ],
    [
      'roles and a group of a person',
      {
        roles: [{ name: 'b' }],
        groups: [{ path: '/g' }],
        clients: [{ clientId: 'c' }],
        clientRoles: { c: [{ name: 'r' }] },
        users: [{ username: 'u', roles: ['b'], groups: ['/g'], clientRoles: { c: ['r'] } }],
      },
      {
        clients: [{ clientId: 'c' }],
        users: [{ username: 'u', roles: ['b'], groups: ['/g'], clientRoles: { c: ['r'] } }],
      },
      ['users[0].clientRoles', 'users[0].groups', 'users[0].roles'],
    ],
  ])('%s', async (what, before, after, paths) => {
    const realm = what.replaceAll(' ', '-');
    await admin.apply(realm, before);
    await refused(realm, after, PRUNE, paths);
    expect((await admin.apply(realm, after)).changes).toEqual([]);
  });
});

test('what another manager declares by a name is kept from being pruned, and told, until nobody names it', async () => {
  await admin.apply('shared', { roles: [{ name: 'reader' }] }, { manager: 'a' });
  await admin.apply('shared', { groups: [{ path: '/staff', roles: ['reader'] }] }, { manager: 'b' });
  const before = await admin.download('shared');
  const { kept, changes } = await admin.apply('shared', {}, { manager: 'a', ...PRUNE });
  expect([kept, changes]).toEqual([[{ kind: 'role', key: 'reader', usedBy: [{ kind: 'group', key: '/staff' }] }], []]);
  expect(await admin.download('shared')).toBe(before);
  await admin.apply('shared', { groups: [{ path: '/staff' }] }, { manager: 'b' });
  expect(words(await admin.apply('shared', {}, { manager: 'a', ...PRUNE }))).toEqual(['delete role reader']);
});

describe('what is unique changes hands within one document:', () => {
  const users = (emails: Record<string, string | null>) => ({
    users: Object.entries(emails).map(([username, email]) => ({ username, email })),
  });
  test.each<[string, Record<string, string | null>]>([
    ['handed on', { ana: 'b@x.example', bob: 'c@x.example' }],
    ['swapped', { ana: 'b@x.example', bob: 'a@x.example' }],
    ['in another case', { ana: 'A@x.example', bob: 'B@x.example' }],
    ['given to a new one', { ana: null, bob: 'b@x.example', cyn: 'A@x.example' }],
  ])('addresses, %s', async (what, after) => {
    const realm = `mail-${what.replaceAll(' ', '-')}`;
    await admin.apply(realm, users({ ana: 'a@x.example', bob: 'b@x.example' }));
    const dry = await admin.apply(realm, users(after), { dryRun: 'true' });
    const plan = await admin.apply(realm, users(after));
    expect(plan.changes).toEqual(dry.changes);
    expect((await admin.apply(realm, users(after))).inSync).toBe(true);
    const exported: { username: string; email: string | null }[] = JSON.parse(await admin.download(realm)).users;
    expect(Object.fromEntries(exported.map((u) => [u.username, u.email]))).toEqual(after);
  });

  const trusting = (...subjects: [name: string, subject: string][]) => ({
    clients: [{ clientId: 'ci' }],
    workloadIdentity: subjects.map(([name, subject]) => {
      return { name, issuer: 'https://i.example', subject, audience: 'a', clientId: 'ci' };
    }),
  });
  test('a workload identity is renamed, two swap whom they trust, and who comes too late is told of the other', async () => {
    await admin.apply('ci', trusting(['one', 'x'], ['two', 'y']));
    const renamed = trusting(['uno', 'x'], ['two', 'y']);
    const dry = await admin.apply('ci', renamed, { ...PRUNE, dryRun: 'true' });
    const plan = await admin.apply('ci', renamed, PRUNE);
    expect(words(plan)).toEqual(['create workloadIdentity uno', 'delete workloadIdentity one']);
    expect(plan.changes).toEqual(dry.changes);
    const id = async () =>
      (await server.pool.query(`select id from workload_identity where realm_id = 'ci' and name = 'uno'`)).rows;
    const before = await id();
    await admin.apply('ci', trusting(['uno', 'y'], ['two', 'x']));
    expect(await id()).toEqual(before);
    expect((await admin.apply('ci', trusting(['uno', 'y'], ['two', 'x']))).inSync).toBe(true);
    for (const dryRun of ['true', 'false']) {
      const refusal = await admin.refusal('ci', trusting(['late', 'x']), { manager: 'b', force: 'true', dryRun });
      expect(refusal).toMatchObject({ status: 409, errors: [{ path: 'workloadIdentity[0].subject' }] });
      expect(refusal.detail).toContain('two');
    }
  });
});

test('a dry run refuses an address that somebody has, as the import would', async () => {
  await admin.apply('taken', { users: [{ username: 'ana', email: 'ana@x.example' }] });
  await refused('taken', { users: [{ username: 'bob', email: 'ANA@x.example' }] }, {}, ['users[0].email']);
});

describe('settings hold together as they will be, the pruned ones too:', () => {
  test('what goes back to its fresh value must fit those that stay', async () => {
    await admin.apply('risk', { realm: { riskMediumThreshold: 80, riskHighThreshold: 90 } });
    await refused('risk', { realm: { riskMediumThreshold: 80 } }, PRUNE, ['realm.riskHighThreshold']);
  });
  test('and it is looked at with those that change beside it', async () => {
    await admin.apply('risk-2', { realm: { riskMediumThreshold: 40, riskHighThreshold: 50 } });
    const plan = await admin.apply('risk-2', { realm: { riskMediumThreshold: 60 } }, PRUNE);
    expect(plan.changes[0]?.fields.map((f) => [f.path, f.to])).toEqual([
      ['riskMediumThreshold', 60],
      ['riskHighThreshold', 70],
    ]);
  });
});

test('a role that would contain itself is refused, also around others that are stored', async () => {
  const role = (name: string, ...roles: string[]) => ({ name, composite: { roles } });
  await admin.apply('circle', {
    roles: [role('a', 'b'), role('b'), role('apart', 'a')],
    clients: [{ clientId: 'c' }],
    clientRoles: { c: [{ name: 'r', composite: { roles: ['a'] } }] },
  });
  await refused('circle', { roles: [role('b', 'a')] }, {}, ['roles[0].composite']);
  await refused('circle', { roles: [role('x', 'x')] }, {}, ['roles[0].composite']);
  const around = { roles: [role('apart', 'a'), { name: 'b', composite: { clientRoles: { c: ['r'] } } }] };
  await refused('circle', around, {}, ['roles[1].composite']);
  const straight = { roles: [role('a'), role('b', 'a')] };
  expect(words(await admin.apply('circle', straight))).toEqual(['update role a', 'update role b']);
});

test('a role that somebody else ties at the same moment closes no circle with the document', async () => {
  const roles = [{ name: 'b' }, { name: 'a' }];
  await admin.apply('beside', { roles });
  await connectedCluster(server.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(`select pg_advisory_xact_lock(hashtextextended('role_composite beside', 0))`);
    const sent = admin.refusal('beside', { roles: [{ name: 'a', composite: { roles: ['b'] } }] });
    await expect.poll(() => lockWaits(server.databaseUrl)).toBe(1);
    await client.query(`insert into role_composite (realm_id, role_id, child_id) select b.realm_id, b.id, a.id
      from role a join role b on b.realm_id = a.realm_id and b.name = 'b' where a.realm_id = 'beside' and a.name = 'a'`);
    await client.query('commit');
    expect(await sent).toMatchObject({ status: 400, errors: [{ path: 'roles[0].composite' }] });
  });
});

test('a group is below its parent wherever in a long document it stands', async () => {
  const many = Array.from({ length: 2_100 }, (_, i) => ({ path: `/group-${i}` }));
  const groups = [{ path: '/p/q/r' }, { path: '/p/q' }, ...many, { path: '/p' }];
  await admin.apply('tree', { groups });
  const { rows } = await server.pool.query(
    `select g.path, p.path as parent from user_group g left join user_group p on p.realm_id = g.realm_id and p.id = g.parent_id
     where g.realm_id = 'tree' and g.path like '/p%' order by 1`,
  );
  expect(rows).toEqual([
    { path: '/p', parent: null },
    { path: '/p/q', parent: '/p' },
    { path: '/p/q/r', parent: '/p/q' },
  ]);
  expect((await admin.apply('tree', {}, PRUNE)).summary.delete).toBe(groups.length);
});

test('a flow can be renamed to the alias of one that its manager had and somebody deleted', async () => {
  const json = { 'content-type': 'application/json' };
  await admin.apply('ghost', { flows: [{ alias: 'old' }, { alias: 'new' }] }, { manager: 'a' });
  await admin.fetch('/admin/realms/ghost/flows/new', { method: 'DELETE' });
  const renamed = await admin.fetch('/admin/realms/ghost/flows/old', {
    method: 'PATCH',
    headers: json,
    body: JSON.stringify({ alias: 'new' }),
  });
  expect(renamed.status).toBe(200);
  const read = await admin.fetch('/admin/realms/ghost/flows/new');
  expect(read.headers.get('x-svc-managed-by')).toBe('a');
});
