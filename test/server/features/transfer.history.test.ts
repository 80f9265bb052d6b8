// The plans that were applied: what is kept of them, and taking one back.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import { getHistory, listHistory, undoHistory } from '../../../server/contract/history.ts';
import type { Permission } from '../../../server/contract/permissions.ts';
import { listManagers } from '../../../server/contract/transfer.ts';
import { listUsers } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

const SECRET = 'a-literal-secret-0123456789abcdef';
const list = async (realm: string, query = {}) =>
  (await server.admin.call(listHistory, { params: { realm }, query })).body;
const detail = async (realm: string, revision: number) =>
  (await server.admin.call(getHistory, { params: { realm, revision } })).body;
const undo = async (realm: string, revision: number, query: { dryRun?: 'true' } = {}) =>
  (await server.admin.call(undoHistory, { params: { realm, revision }, query })).body;
const owners = async (realm: string) =>
  (await server.admin.call(listManagers, { params: { realm } })).body?.map(({ manager, owns }) => ({ manager, owns }));
const exported = (realm: string) => admin.download(realm, '?users=false');
const roles = (...names: string[]) => ({ roles: names.map((name) => ({ name })) });

describe('the history of a realm', () => {
  test('tells of each document that changed something: what, by whom, as whose; and of nothing else', async () => {
    const realm = 'told';
    const first = await admin.apply(realm, { ...roles('a'), realm: { maxLoginFailures: 7 } }, { manager: 'm1' });
    await admin.apply(realm, { ...roles('a'), realm: { maxLoginFailures: 7 } }, { manager: 'm1' });
    await admin.apply(realm, roles('a', 'b'), { manager: 'm1', dryRun: 'true' });
    const second = await admin.apply(realm, { roles: [{ name: 'c', description: 'x' }] }, { manager: 'm2' });

    expect(await list(realm)).toEqual([
      {
        revision: second.revision,
        appliedAt: expect.any(Number),
        manager: 'm2',
        by: expect.objectContaining({ name: 'admin' }),
        undoes: null,
        create: 1,
        update: 0,
        delete: 0,
      },
      expect.objectContaining({ revision: first.revision, manager: 'm1', create: 1, update: 1 }),
    ]);
    expect(await list(realm, { manager: 'm1' })).toMatchObject([{ revision: first.revision }]);
    expect(await detail(realm, second.revision)).toMatchObject({
      changes: [{ action: 'create', kind: 'role', key: 'c', fields: [{ path: 'description', from: null, to: 'x' }] }],
      ownership: [{ action: 'take', kind: 'role', key: 'c' }],
      complete: true,
    });
  });

  test('is read by pages', async () => {
    for (const name of ['a', 'b', 'c']) await admin.apply('paged', roles(name));
    const first = await admin.fetch('/admin/realms/paged/history?limit=2');
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const pages = [await first.json(), await (await admin.fetch(next.replace(server.baseUrl, ''))).json()] as {
      revision: number;
    }[][];
    expect(pages.map((page) => page.length)).toEqual([2, 1]);
    const revisions = pages.flat().map(({ revision }) => revision);
    expect(revisions).toEqual([...revisions].sort((a, b) => b - a));
    expect((await admin.fetch('/admin/realms/paged/history?cursor=x')).status).toBe(400);
  });

  test('holds no secret, and nobody by name', async () => {
    const realm = 'discreet';
    await admin.apply(realm, { clients: [{ clientId: 'c', secret: SECRET }] });
    await admin.apply(realm, {
      users: [{ username: 'wilhelmina', email: 'wilhelmina@example.com' }],
      organizations: [{ name: 'acme', members: ['wilhelmina'] }],
    });
    const { rows } = await server.pool.query('select p::text from applied_plan p where realm_id = $1', [realm]);
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toMatch(/a-literal-secret|wilhelmina/);
    const [named, made] = (await list(realm)) ?? [];
    expect(JSON.stringify(await detail(realm, made?.revision ?? 0))).not.toContain(SECRET);
    expect((await detail(realm, named?.revision ?? 0))?.changes.flatMap(({ fields }) => fields)).toEqual([]);
  });

  test('says as *** that a secret was set, changed or went', async () => {
    const realm = 'masked';
    const m = { manager: 'm' };
    const client = (more: object) => ({ clients: [{ clientId: 'c', ...more }] });
    const open = { clientId: 'open', tokenEndpointAuthMethod: 'none' as const };
    const made = await admin.apply(realm, { clients: [...client({ secret: SECRET }).clients, open] }, m);
    const changed = await admin.apply(realm, client({ secret: `${SECRET}-2` }), m);
    const gone = await admin.apply(realm, { clients: [] }, { ...m, prune: 'true' });
    const secrets = async ({ revision }: { revision: number }) =>
      (await detail(realm, revision))?.changes.flatMap(({ key, fields }) =>
        fields.flatMap(({ path, from, to }) => (path === 'secret' ? [[key, from, to]] : [])),
      );
    expect(await secrets(made)).toEqual([['c', null, '***']]);
    expect(await secrets(changed)).toEqual([['c', '***', '***']]);
    expect(await secrets(gone)).toEqual([
      ['c', '***', null],
      ['open', null, null],
    ]);
  });

  test('goes with a person whom it names as one, and not with who is called as a word of it', async () => {
    const realm = 'called';
    const client = { tokenEndpointAuthMethod: 'none' as const };
    await admin.apply(realm, { clients: ['agent', 'kind'].map((clientId) => ({ clientId, ...client })) });
    const words = ['agent', 'kind', 'update', 'create', 'path', 'fields', 'policies', 'owner', 'user', 'resources'];
    const users = [...words, 'Ana', 'bob', 'cleo'].map((username) => ({ username }));
    await admin.apply(realm, { users });
    const service = (more: object) => ({ authorizationServices: [{ clientId: 'agent', ...more }] });
    const policy = { name: 'agent', type: 'user', config: { users: ['ana'] } };
    const plans = [
      { agents: [{ name: 'agent', clientId: 'kind', owner: 'bob' }] },
      service({ resources: [{ name: 'path', owner: 'BOB', attributes: { owner: ['kind'] } }] }),
      service({ policies: [policy] }),
      service({ policies: [{ ...policy, config: { users: ['cleo'] } }] }),
      {
        authorizationServices: [
          { clientId: 'kind', policies: [{ name: 'bob', type: 'client', config: { clients: ['kind'] } }] },
        ],
      },
    ];
    const revisions: number[] = [];
    for (const plan of plans) revisions.push((await admin.apply(realm, plan)).revision);
    const whole = async () => Promise.all(revisions.map(async (revision) => (await detail(realm, revision))?.complete));
    const { body: people = [] } = await server.admin.call(listUsers, { params: { realm }, query: { limit: 100 } });
    const erase = async (names: readonly string[]) => {
      for (const { id, username } of people)
        if (names.includes(username)) await server.admin.call(eraseUser, { params: { realm, userId: id } });
    };
    await erase(words);
    expect(await whole()).toEqual([true, true, true, true, true]);
    await erase(['bob']);
    expect(await whole()).toEqual([true, false, true, true, true]);
    await erase(['Ana']);
    expect(await whole()).toEqual([true, false, false, false, true]);
    const { rows } = await server.pool.query('select p::text from applied_plan p where realm_id = $1', [realm]);
    expect(JSON.stringify(rows)).not.toMatch(/"(?:ana|BOB)\\*"/);
  });

  test('keeps no more than the realm says', async () => {
    const realm = 'brief-memory';
    for (const name of ['a', 'b', 'c']) await admin.apply(realm, { ...roles(name), realm: { mostAppliedPlans: 2 } });
    expect(await list(realm)).toHaveLength(2);
    await admin.apply(realm, { ...roles('d'), realm: { mostAppliedPlans: 0 } });
    expect(await list(realm)).toEqual([]);
  });

  test('shows what the reader may read, and is undone by who may write it', async () => {
    const realm = 'rights';
    const { revision } = await admin.apply(realm, {
      ...roles('a'),
      clients: [{ clientId: 'c', tokenEndpointAuthMethod: 'none' }],
    });
    const reader = await administrator(server, {
      target: realm,

      permissions: ['realm:read', 'roles:read'],
    });
    const seen = (await reader.call(getHistory, { params: { realm, revision } })).body;
    expect(seen?.changes.map(({ kind }) => kind)).toEqual(['role']);
    expect(seen?.by).toBeNull();
    await expect(reader.call(undoHistory, { params: { realm, revision } })).rejects.toMatchObject({ status: 403 });
    const before = await exported(realm);
    const writer = await administrator(server, {
      target: realm,

      permissions: ['roles:read', 'roles:write'],
    });
    await expect(writer.call(undoHistory, { params: { realm, revision } })).rejects.toMatchObject({ status: 403 });
    await expect(writer.call(listHistory, { params: { realm } })).rejects.toMatchObject({ status: 403 });
    expect(await exported(realm)).toBe(before);
  });

  test('is undone by nobody who may not write the objects, be it that they changed hands alone', async () => {
    const realm = 'handed';
    await admin.apply(realm, roles('a'), { manager: 'm1' });
    const { revision } = await admin.apply(realm, roles('a'), { manager: 'm2', force: 'true' });
    const before = await owners(realm);
    const reader = await administrator(server, { target: realm, permissions: ['realm:read', 'roles:read'] });
    const stranger = await administrator(server, { target: 'rights', permissions: ['roles:read', 'roles:write'] });
    for (const query of [{}, { dryRun: 'true' }])
      await expect(stranger.call(undoHistory, { params: { realm, revision }, query })).rejects.toMatchObject({
        status: 403,
      });
    await expect(reader.call(undoHistory, { params: { realm, revision } })).rejects.toMatchObject({ status: 403 });
    await expect(stranger.call(undoHistory, { params: { realm, revision: 1e6 } })).rejects.toMatchObject({
      status: 403,
    });
    expect(await owners(realm)).toEqual(before);
  });
});

describe('undoing a plan', () => {
  test('gives nobody more than who undoes it holds', async () => {
    const realm = 'escalated';
    const auditor = (permissions: Permission[]) => ({ adminRoles: [{ name: 'auditor', permissions }] });
    await admin.apply(realm, auditor(['events:read', 'keys:write']), { manager: 'm' });
    const { revision } = await admin.apply(realm, auditor(['events:read']), { manager: 'm' });
    const lesser = await administrator(server, {
      target: realm,
      permissions: ['admin-roles:read', 'admin-roles:write', 'events:read'],
    });
    const before = await exported(realm);
    await expect(lesser.call(undoHistory, { params: { realm, revision } })).rejects.toMatchObject({
      status: 403,
      problem: { type: 'urn:svc:problem:privilege-escalation' },
    });
    expect(await exported(realm)).toBe(before);
  });

  test('takes back what it made, changed and deleted, ownership too, and is a plan that can be undone', async () => {
    const realm = 'back';
    await admin.apply(
      realm,
      {
        roles: [
          { name: 'a', description: 'one' },
          { name: 'gone', attributes: { k: ['v'] } },
        ],
        realm: { maxLoginFailures: 7 },
      },
      { manager: 'm' },
    );
    const [before, owned] = [await exported(realm), await owners(realm)];
    const { revision } = await admin.apply(
      realm,
      { roles: [{ name: 'a', description: 'two' }, { name: 'new' }], realm: { maxLoginFailures: 9 } },
      { manager: 'm', prune: 'true' },
    );
    const [after, ownedAfter] = [await exported(realm), await owners(realm)];

    const planned = await undo(realm, revision, { dryRun: 'true' });
    expect(planned?.summary).toMatchObject({ create: 1, update: 2, delete: 1 });
    expect(await exported(realm)).toBe(after);

    const undone = await undo(realm, revision);
    expect(undone?.changes).toEqual(planned?.changes);
    expect([await exported(realm), await owners(realm)]).toEqual([before, owned]);
    const [newest] = (await list(realm)) ?? [];
    expect(newest).toMatchObject({ revision: undone?.revision, undoes: revision, manager: 'm' });

    await undo(realm, undone?.revision ?? 0);
    expect([await exported(realm), await owners(realm)]).toEqual([after, ownedAfter]);
  });

  test('writes nothing where it is so already', async () => {
    const { revision } = await admin.apply('already', roles('a'), { manager: 'm' });
    await undo('already', revision);
    const history = await list('already');
    expect(await undo('already', revision)).toMatchObject({ inSync: true, changes: [] });
    expect(await list('already')).toEqual(history);
  });

  test('does nothing where something of it was changed since, and says what', async () => {
    const realm = 'since';
    const { revision } = await admin.apply(
      realm,
      { roles: [{ name: 'a', description: 'one' }, { name: 'b' }] },
      { manager: 'm' },
    );
    await admin.apply(realm, { roles: [{ name: 'a', description: 'two' }, { name: 'b' }] }, { manager: 'm' });
    const before = await exported(realm);
    await expect(server.admin.call(undoHistory, { params: { realm, revision } })).rejects.toMatchObject({
      status: 409,
      problem: {
        type: 'urn:svc:problem:changed-since',
        errors: [{ path: 'role a.description', message: 'was changed since it was made' }],
      },
    });
    expect(await exported(realm)).toBe(before);
  });

  test('is refused where something else needs what it would delete, or another manager has it', async () => {
    const realm = 'needed';
    const { revision } = await admin.apply(realm, roles('a'), { manager: 'm' });
    await admin.apply(realm, { groups: [{ path: '/g', roles: ['a'] }] }, { manager: 'other' });
    await expect(server.admin.call(undoHistory, { params: { realm, revision } })).rejects.toMatchObject({
      status: 409,
      problem: { type: 'urn:svc:problem:in-use' },
    });
    await admin.apply(realm, roles('a'), { manager: 'third', force: 'true' });
    await expect(server.admin.call(undoHistory, { params: { realm, revision } })).rejects.toMatchObject({
      problem: { errors: [{ path: 'role a', message: 'is managed by third since' }] },
    });
  });

  test('leaves secrets as they are, says so, and makes again what then waits for one', async () => {
    const realm = 'secrets';
    await admin.apply(realm, { clients: [{ clientId: 'c', name: 'One', secret: SECRET }] }, { manager: 'm' });
    const { revision } = await admin.apply(
      realm,
      { clients: [{ clientId: 'c', name: 'Two', secret: `${SECRET}-2` }] },
      { manager: 'm' },
    );
    const plan = await undo(realm, revision);
    expect(plan?.keptSecrets).toEqual([{ kind: 'client', key: 'c', path: 'secret', because: 'notRecorded' }]);
    expect(plan?.changes).toMatchObject([{ action: 'update', fields: [{ path: 'name', from: 'Two', to: 'One' }] }]);
    const again = await admin.apply(
      realm,
      { clients: [{ clientId: 'c', secret: `${SECRET}-2` }] },
      { manager: 'm', dryRun: 'true' },
    );
    expect(again.changes).toEqual([]);
  });

  test('never has a document set an agent going again, and takes back the making of one that waits for an owner', async () => {
    const realm = 'agents';
    await admin.apply(realm, {
      users: [{ username: 'ana' }],
      clients: ['a', 'b'].map((clientId) => ({ clientId, grantTypes: ['client_credentials'], secret: SECRET })),
    });
    const agent = (name: string, more: object) => ({ agents: [{ name, clientId: name, ...more }] });
    await admin.apply(realm, agent('a', { owner: 'ana', status: 'active' }), { manager: 'm' });
    const { revision } = await admin.apply(
      realm,
      { agents: [{ name: 'a', status: 'suspended' }] },
      { manager: 'm', force: 'true' },
    );
    await expect(undo(realm, revision)).rejects.toMatchObject({
      status: 409,
      problem: { errors: [{ path: 'agent a.status', message: 'stays suspended: no document sets it back' }] },
    });
    const made = await admin.apply(realm, agent('b', { status: 'active' }), { manager: 'm' });
    expect(JSON.parse(await exported(realm)).agents).toMatchObject([{ name: 'a' }, { name: 'b', status: 'suspended' }]);
    await undo(realm, made.revision);
    expect(JSON.parse(await exported(realm)).agents).toMatchObject([{ name: 'a', status: 'suspended' }]);
  });

  test('is refused where a secret that is not recorded would be sent elsewhere, naming whose', async () => {
    const realm = 'sent';
    const target = (url: string, secret: string) => ({ scimTargets: [{ name: 'hr', url, secret, enabled: false }] });
    await admin.apply(realm, target('https://a.example.com/scim', SECRET), { manager: 'm' });
    const other = target('https://b.example.com/scim', `${SECRET}-2`);
    const { revision } = await admin.apply(realm, other, { manager: 'm' });
    await expect(undo(realm, revision)).rejects.toMatchObject({
      status: 400,
      problem: { errors: [{ path: 'scimTarget hr.secret', message: expect.stringContaining('is asked for again') }] },
    });
  });

  test('of a plan that isn’t kept, or at another revision, is refused', async () => {
    const realm = 'wrong';
    const { revision } = await admin.apply(realm, roles('a'), { manager: 'm' });
    await expect(server.admin.call(undoHistory, { params: { realm, revision: revision + 7 } })).rejects.toMatchObject({
      status: 404,
    });
    const late = await admin.fetch(`/admin/realms/${realm}/history/${revision}/undo`, {
      method: 'POST',
      headers: { 'if-match': '"1"' },
    });
    expect(late.status).toBe(revision === 1 ? 200 : 412);
  });

  test('of a random sequence of applies, the last first, ends where it began', async () => {
    const some = fc.constantFrom('a', 'b', 'c');
    const documents = fc.record(
      {
        realm: fc.record(
          { maxLoginFailures: fc.constantFrom(3, 6, 9), welcomeText: fc.constantFrom(null, 'hi') },
          { requiredKeys: [] },
        ),
        roles: fc.uniqueArray(fc.record({ name: some, description: fc.constantFrom(null, 'x') }), {
          selector: ({ name }) => name,
        }),
        groups: fc.uniqueArray(
          fc.record({ path: fc.constantFrom('/g', '/g/h', '/i'), attributes: fc.constantFrom({}, { k: ['1'] }) }),
          { selector: ({ path }) => path },
        ),
        clients: fc.uniqueArray(
          fc.record({
            clientId: some,
            tokenEndpointAuthMethod: fc.constant('none'),
            redirectUris: fc.subarray(['https://a.example/cb', 'https://b.example/cb']),
          }),
          { selector: ({ clientId }) => clientId },
        ),
        clientScopes: fc.uniqueArray(fc.record({ name: some, description: fc.constantFrom('', 'y') }), {
          selector: ({ name }) => name,
        }),
      },
      { requiredKeys: [] },
    );
    const applies = fc.array(
      fc.tuple(
        documents,
        fc.record({
          manager: fc.constantFrom('m1', 'm2'),
          prune: fc.constantFrom('true', 'false'),
          force: fc.constant('true'),
        }),
      ),
      { minLength: 2, maxLength: 6 },
    );
    let [runs, undone] = [0, 0];
    await fc.assert(
      fc.asyncProperty(applies, async (steps) => {
        runs += 1;
        const realm = `random-${runs}`;
        await admin.apply(realm, roles('seed'), { manager: 'm0' });
        const states: unknown[] = [];
        const revisions: number[] = [];
        for (const [document, query] of steps) {
          const state = [await exported(realm), await owners(realm)];
          const answer = await admin.fetch(`/admin/realms/${realm}/import?${new URLSearchParams(query)}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(document),
          });
          const { inSync, revision } = (await answer.json()) as { inSync: boolean; revision: number };
          // what names a group whose parent isn't there is refused
          if (answer.status !== 200 || inSync) continue;
          states.push(state);
          revisions.push(revision);
        }
        for (const [at, revision] of [...revisions.entries()].reverse()) {
          await undo(realm, revision);
          undone += 1;
          expect([await exported(realm), await owners(realm)]).toEqual(states[at]);
        }
      }),
      { seed: 20_261_122, numRuns: 12, endOnFailure: true },
    );
    expect(undone).toBeGreaterThan(12);
  });
});
