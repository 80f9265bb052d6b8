// Renames over several documents: what one of them no longer holds and another still needs stays until that has moved.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importRealm, type RealmDocument } from '../../../server/contract/transfer.ts';
import { administrator } from '../../support/administrators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
let realms = 0;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

const fresh = () => {
  realms += 1;
  return `kept-${realms}`;
};
const applied = (realm: string, manager: string, document: object) =>
  admin.apply(realm, document, { manager, prune: 'true' });
const words = ({ changes }: { changes: { action: string; kind: string; key: string }[] }) =>
  changes.map(({ action, kind, key }) => `${action} ${kind} ${key}`);
const held = async (realm: string): Promise<RealmDocument> => JSON.parse(await admin.download(realm));
const flow = (alias: string) => ({
  alias,
  executions: [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }],
});
const client = (clientId: string, more: object = {}) => ({
  clientId,
  grantTypes: ['client_credentials'],
  ...more,
});
const identity = (clientId: string) => ({
  workloadIdentity: [{ name: 'ci', issuer: 'https://i.example', subject: 's', audience: 'x', clientId }],
});
const clients = async (realm: string) => (await held(realm)).clients?.map(({ clientId }) => clientId);
const flows = async (realm: string) => (await held(realm)).flows?.map(({ alias }) => alias);

describe('what a document no longer holds and something else still needs', () => {
  test('is kept, owned and told; the same again writes nothing; it goes when its last user has moved', async () => {
    const realm = fresh();
    await applied(realm, 'realm', { clients: [client('old')], roles: [{ name: 'gone' }] });
    await applied(realm, 'identity', identity('old'));
    const renamed = { clients: [client('new')], roles: [] };
    const plan = await applied(realm, 'realm', renamed);
    expect(words(plan)).toEqual(['create client new', 'delete role gone']);
    expect(plan).toMatchObject({
      kept: [{ kind: 'client', key: 'old', usedBy: [{ kind: 'workloadIdentity', key: 'ci' }] }],
      summary: { create: 1, delete: 1, text: expect.stringContaining('1 kept while in use') },
    });
    expect(await clients(realm)).toEqual(['new', 'old']);
    const again = await applied(realm, 'realm', renamed);
    expect(again).toMatchObject({ inSync: true, changes: [], ownership: [], kept: plan.kept, revision: plan.revision });
    await applied(realm, 'identity', identity('new'));
    const done = await applied(realm, 'realm', renamed);
    expect([words(done), done.kept]).toEqual([['delete client old'], []]);
    expect(await clients(realm)).toEqual(['new']);
  });

  test('stays as it works: with the roles of its service account, its flow, and what those need in turn', async () => {
    const realm = fresh();
    const document = (name: string) => ({
      flows: [flow(`${name}-flow`)],
      roles: [{ name: `${name}-role` }, { name: `${name}-unused` }],
      clients: [client(name, { flowOverride: `${name}-flow` })],
      serviceAccountRoles: [{ clientId: name, roles: [`${name}-role`] }],
    });
    await applied(realm, 'realm', document('old'));
    await applied(realm, 'identity', identity('old'));
    const { kept } = await applied(realm, 'realm', document('new'));
    expect(kept).toEqual([
      { kind: 'role', key: 'old-role', usedBy: [{ kind: 'serviceAccountRoles', key: 'old' }] },
      { kind: 'flow', key: 'old-flow', usedBy: [{ kind: 'client', key: 'old' }] },
      { kind: 'client', key: 'old', usedBy: [{ kind: 'workloadIdentity', key: 'ci' }] },
      { kind: 'serviceAccountRoles', key: 'old', usedBy: [{ kind: 'client', key: 'old' }] },
    ]);
    const { serviceAccountRoles = [], roles } = await held(realm);
    expect(serviceAccountRoles).toContainEqual(expect.objectContaining({ clientId: 'old', roles: ['old-role'] }));
    expect(roles?.map(({ name }) => name)).not.toContain('old-unused');
    await applied(realm, 'identity', identity('new'));
    const done = await applied(realm, 'realm', document('new'));
    expect(words(done).sort()).toEqual([
      'delete client old',
      'delete flow old-flow',
      'delete role old-role',
      'delete serviceAccountRoles old',
    ]);
    expect(await clients(realm)).toEqual(['new']);
  });

  test('is not the part of a client that stays: its service account loses the roles that nobody declares', async () => {
    const realm = fresh();
    const document = { roles: [{ name: 'reader' }], clients: [client('app')] };
    await applied(realm, 'realm', { ...document, serviceAccountRoles: [{ clientId: 'app', roles: ['reader'] }] });
    const plan = await applied(realm, 'realm', document);
    expect([words(plan), plan.kept]).toEqual([['delete serviceAccountRoles app'], []]);
  });

  test.each<[string, (alias: string) => object, object]>([
    ['browserFlow', (alias) => ({ realm: { browserFlow: alias } }), { kind: 'settings', path: 'browserFlow' }],
    [
      'flowOverride',
      (alias) => ({ clients: [client('app', { flowOverride: alias })] }),
      { kind: 'client', key: 'app' },
    ],
  ])('a flow is renamed together with %s, whichever document is first', async (_, naming, user) => {
    const realm = fresh();
    await applied(realm, 'flow', { flows: [flow('old')] });
    await applied(realm, 'realm', naming('old'));
    const early = await admin.refusal(realm, naming('new'), { manager: 'realm', prune: 'true' });
    expect(early).toMatchObject({ status: 400, errors: [{ missing: { kind: 'flow', key: 'new' } }] });
    const { kept } = await applied(realm, 'flow', { flows: [flow('new')] });
    expect(kept).toMatchObject([{ kind: 'flow', key: 'old', usedBy: [user] }]);
    await applied(realm, 'realm', naming('new'));
    expect(await flows(realm)).toEqual(['browser', 'new', 'old']);
    expect(words(await applied(realm, 'flow', { flows: [flow('new')] }))).toEqual(['delete flow old']);
  });

  test('in one document everything is renamed at once, and nothing need be kept', async () => {
    const realm = fresh();
    const document = (name: string) => ({
      flows: [flow(name)],
      realm: { browserFlow: name },
      clients: [client(name, { flowOverride: name })],
      ...identity(name),
    });
    await applied(realm, 'all', document('old'));
    const plan = await applied(realm, 'all', document('new'));
    expect(plan.kept).toEqual([]);
    expect(words(plan)).toContain('delete client old');
    expect([await clients(realm), await flows(realm)]).toEqual([['new'], ['browser', 'new']]);
  });

  test('is theirs who declares it meanwhile, without force, and as it is; a chain of renames comes to an end so', async () => {
    const realm = fresh();
    const override = (first: string, second: string) => ({
      clients: [client('one', { flowOverride: first }), client('two', { flowOverride: second })],
    });
    await applied(realm, 'first', { flows: [flow('x')] });
    await applied(realm, 'second', { flows: [flow('y')] });
    await applied(realm, 'realm', override('x', 'y'));
    // x → y and y → z: y is needed all the time, and changes hands
    expect(await admin.refusal(realm, { flows: [flow('y')] }, { manager: 'first', prune: 'true' })).toMatchObject({
      status: 409,
    });
    expect((await applied(realm, 'second', { flows: [flow('z')] })).kept).toMatchObject([{ key: 'y' }]);
    await applied(realm, 'realm', override('y', 'z'));
    const taken = await applied(realm, 'first', { flows: [flow('y')] });
    expect(taken.ownership).toContainEqual({ action: 'take', kind: 'flow', key: 'y' });
    expect(words(taken)).toEqual(['delete flow x']);
    expect(await applied(realm, 'second', { flows: [flow('z')] })).toMatchObject({ inSync: true, kept: [] });
    expect(await flows(realm)).toEqual(['browser', 'y', 'z']);
  });

  test('is its manager’s again when its document holds it again, and then nobody else’s', async () => {
    const realm = fresh();
    await applied(realm, 'realm', { clients: [client('web')] });
    await applied(realm, 'identity', identity('web'));
    await applied(realm, 'realm', { clients: [] });
    expect(await applied(realm, 'realm', { clients: [client('web')] })).toMatchObject({ changes: [], kept: [] });
    const other = await admin.refusal(realm, { clients: [client('web')] }, { manager: 'other' });
    expect(other).toMatchObject({ status: 409, conflicts: [{ kind: 'client', key: 'web', manager: 'realm' }] });
  });

  test('is what somebody uses by hand, too, and a dry run says the same', async () => {
    const realm = fresh();
    await applied(realm, 'flow', { flows: [flow('mine')] });
    const json = { 'content-type': 'application/json' };
    const body = JSON.stringify({ clientId: 'by-hand', flowOverride: 'mine' });
    await admin.fetch(`/admin/realms/${realm}/clients`, { method: 'POST', headers: json, body });
    const dry = await admin.apply(realm, {}, { manager: 'flow', prune: 'true', dryRun: 'true' });
    expect(dry.kept).toEqual([{ kind: 'flow', key: 'mine', usedBy: [{ kind: 'client', key: 'by-hand' }] }]);
    expect((await applied(realm, 'flow', {})).kept).toEqual(dry.kept);
  });

  test('is told only as far as the importer may read: that it is in use, not by what', async () => {
    const realm = fresh();
    await applied(realm, 'realm', { clients: [client('old')] });
    await applied(realm, 'identity', identity('old'));
    const limited = await administrator(server, {
      target: realm,
      permissions: ['realm:read', 'clients:read', 'clients:write'],
    });
    const query = { manager: 'realm', prune: 'true', dryRun: 'true' } as const;
    const { body } = await limited.call(importRealm, { params: { realm }, query, body: { clients: [] } });
    expect(body?.kept).toEqual([{ kind: 'client', key: 'old', usedBy: [] }]);
  });
});
