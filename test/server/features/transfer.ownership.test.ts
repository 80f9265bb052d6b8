import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { Manager } from '../../../server/contract/transfer.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;

beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

const webhook = (url = 'https://a.example') => ({ webhooks: [{ name: 'hook', url, eventTypes: '*' }] });
const Managers = z.array(Manager);
const owners = async (realm: string) => {
  const managers = Managers.parse(await (await admin.fetch(`/admin/realms/${realm}/managers`)).json());
  return managers.map(({ manager, owns }) => [manager, owns.map((o) => `${o.kind}/${o.key}(${o.fields})`)]);
};

test('two managers that claim one webhook: the second is told of the first, and nothing changes', async () => {
  await admin.apply('one', webhook(), { manager: 'k8s:c/team-a/Webhook/hook' });
  const mine = { manager: 'k8s:c/team-b/Webhook/hook' };
  const more = { ...webhook('https://b.example'), roles: [{ name: 'extra' }] };
  const refusal = await admin.refusal('one', more, mine);
  expect(refusal).toMatchObject({
    type: 'urn:svc:problem:managed-by-another',
    status: 409,
    conflicts: [{ kind: 'webhook', key: 'hook', manager: 'k8s:c/team-a/Webhook/hook' }],
  });
  expect(refusal.detail).toContain('k8s:c/team-a/Webhook/hook');
  expect(JSON.parse(await admin.download('one')).roles).toEqual([]);
  const dry = await admin.apply('one', more, { ...mine, dryRun: 'true' });
  expect(dry.conflicts).toEqual(refusal.conflicts);
  expect(dry.inSync).toBe(false);
});

test('force takes over, and the former owner then meets the conflict', async () => {
  const plan = await admin.apply('one', webhook('https://b.example'), { manager: 'second', force: 'true' });
  expect(plan.ownership).toEqual([
    {
      action: 'take',
      kind: 'webhook',
      key: 'hook',
      from: 'k8s:c/team-a/Webhook/hook',
      declares: expect.arrayContaining(['url']),
    },
  ]);
  const refusal = await admin.refusal('one', webhook(), { manager: 'k8s:c/team-a/Webhook/hook' });
  expect(refusal.conflicts).toEqual([{ kind: 'webhook', key: 'hook', manager: 'second' }]);
});

test('settings belong field by field', async () => {
  await admin.apply('fields', { realm: { rememberMe: true, accessTokenTtlSeconds: 60 } }, { manager: 'a' });
  await admin.apply('fields', { realm: { requireMfa: true } }, { manager: 'b' });
  const document = { realm: { requireMfa: false, rememberMe: false } };
  const forced = await admin.apply('fields', document, { manager: 'b', dryRun: 'true', force: 'true' });
  expect(forced.ownership).toEqual([
    { action: 'take', kind: 'settings', key: 'rememberMe', from: 'a', declares: ['rememberMe'] },
  ]);
  const refusal = await admin.refusal('fields', document, { manager: 'b' });
  expect(refusal.conflicts).toEqual([{ kind: 'settings', key: 'fields', path: 'rememberMe', manager: 'a' }]);
  expect(await owners('fields')).toEqual([
    ['a', ['settings/accessTokenTtlSeconds(value)', 'settings/rememberMe(value)']],
    ['b', ['settings/requireMfa(value)']],
  ]);
});

test('an unowned object is adopted, which plans no change but says so', async () => {
  await admin.apply('adopt', webhook(), { manager: 'a' });
  expect((await admin.fetch('/admin/realms/adopt/managers/a', { method: 'DELETE' })).status).toBe(204);
  expect(await owners('adopt')).toEqual([]);
  const plan = await admin.apply('adopt', webhook(), { manager: 'b', dryRun: 'true' });
  expect(plan).toMatchObject({
    changes: [],
    inSync: false,
    ownership: [{ action: 'take', kind: 'webhook', key: 'hook' }],
  });
  await admin.apply('adopt', webhook(), { manager: 'b' });
  expect(await owners('adopt')).toEqual([['b', ['webhook/hook(eventTypes,url)']]]);
});

test('prune deletes what this manager applied before, and nobody else’s', async () => {
  const roles = (...names: string[]) => ({ roles: names.map((name) => ({ name })) });
  await admin.apply('prune', roles('a1', 'a2', 'both'), { manager: 'a' });
  await admin.apply('prune', roles('b1'), { manager: 'b' });
  await server.pool.query(`insert into role (realm_id, id, name) values ('prune', gen_random_uuid(), 'by-hand')`);
  const kept = await admin.apply('prune', roles('a1'), { manager: 'a' });
  expect(kept.changes).toEqual([]);
  const plan = await admin.apply('prune', roles('a1'), { manager: 'a', prune: 'true' });
  expect(plan.changes.map((c) => `${c.action} ${c.key}`)).toEqual(['delete a2', 'delete both']);
  await admin.apply('prune', {}, { manager: 'a', prune: 'true' });
  const names = JSON.parse(await admin.download('prune')).roles.map((r: { name: string }) => r.name);
  expect(names).toEqual(['b1', 'by-hand']);
  expect(await owners('prune')).toEqual([['b', ['role/b1()']]]);
});

test('a pruned setting goes back to its fresh value; without prune a released one keeps it', async () => {
  const settings = async () => JSON.parse(await admin.download('reset')).realm;
  await admin.apply('reset', { realm: { rememberMe: true, maxLoginFailures: 3 } }, { manager: 'a' });
  await admin.apply('reset', { realm: { rememberMe: true } }, { manager: 'a', prune: 'true' });
  expect(await settings()).toMatchObject({ rememberMe: true, maxLoginFailures: 5 });
  await admin.fetch('/admin/realms/reset/managers/a', { method: 'DELETE' });
  expect(await settings()).toMatchObject({ rememberMe: true });
});

test('a field of an object that is no longer declared is released, and reset where pruning is asked for', async () => {
  const client = (fields: object) => ({ clients: [{ clientId: 'app', ...fields }] });
  const read = async () => JSON.parse(await admin.download('fields2')).clients[0];
  await admin.apply('fields2', client({ name: 'App', description: 'x' }), { manager: 'a' });
  const released = await admin.apply('fields2', client({ name: 'App' }), { manager: 'a' });
  expect(released).toMatchObject({ changes: [], ownership: [{ action: 'fields', kind: 'client', key: 'app' }] });
  expect(await read()).toMatchObject({ description: 'x' });
  await admin.apply('fields2', client({}), { manager: 'a', prune: 'true' });
  expect(await read()).toMatchObject({ name: null, description: 'x' });
});

test('a built-in flow is released, never deleted; a bound flow can’t go without its binding', async () => {
  const flow = (alias: string) => ({
    alias,
    executions: [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }],
  });
  await admin.apply(
    'flows',
    { flows: [flow('browser'), flow('mine')], realm: { browserFlow: 'mine' } },
    { manager: 'a' },
  );
  const refusal = await admin.refusal(
    'flows',
    { flows: [flow('browser')], realm: { browserFlow: 'mine' } },
    { manager: 'a', prune: 'true' },
  );
  expect(refusal).toMatchObject({ status: 400, errors: [{ path: 'realm.browserFlow' }] });
  await admin.fetch('/admin/realms/flows/settings', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ requireMfa: true }),
  });
  await admin.apply('flows', {}, { manager: 'a', prune: 'true' });
  const { flows, realm } = JSON.parse(await admin.download('flows'));
  expect(flows.map((f: { alias: string }) => f.alias)).toEqual(['browser']);
  expect(realm).toMatchObject({ browserFlow: 'browser', requireMfa: true });
});

test('deleting all of a manager’s is refused where another’s workload identity needs a client of it, and names it', async () => {
  await admin.apply('deps', { clients: [{ clientId: 'ci' }] }, { manager: 'a' });
  const identity = { name: 'job', issuer: 'https://i.example', subject: 's', audience: 'x', clientId: 'ci' };
  await admin.apply('deps', { workloadIdentity: [identity] }, { manager: 'b' });
  const refusal = await admin.fetch('/admin/realms/deps/managers/a?objects=delete', { method: 'DELETE' });
  expect(await refusal.json()).toMatchObject({
    type: 'urn:svc:problem:in-use',
    status: 409,
    detail: expect.stringContaining('workloadIdentity job'),
    dependents: [{ kind: 'workloadIdentity', key: 'job', on: 'ci' }],
  });
  expect(JSON.parse(await admin.download('deps')).clients).toMatchObject([{ clientId: 'ci' }]);
});

test('users are pruned only where the document has users, and only this manager’s', async () => {
  const users = (...names: string[]) => ({ users: names.map((username) => ({ username })) });
  const there = async () =>
    JSON.parse(await admin.download('people')).users.map((u: { username: string }) => u.username);
  await admin.apply('people', users('ana', 'bob'), { manager: 'a' });
  await admin.apply('people', users('cyn'), { manager: 'b' });
  await admin.apply('people', { roles: [] }, { manager: 'a', prune: 'true' });
  expect(await there()).toEqual(['ana', 'bob', 'cyn']);
  const plan = await admin.apply('people', users('ana'), { manager: 'a', prune: 'true' });
  expect(plan.changes).toEqual([{ action: 'delete', kind: 'user', key: 'bob', fields: [] }]);
  expect(await there()).toEqual(['ana', 'cyn']);
  const refusal = await admin.refusal('people', users('cyn'), { manager: 'a' });
  expect(refusal.conflicts).toEqual([{ kind: 'user', key: 'cyn', manager: 'b' }]);
});

test('a manager’s objects can be deleted with it, by its name with slashes or encoded', async () => {
  const manager = 'k8s:c/ns/Webhook/hook';
  await admin.apply('gone', webhook(), { manager });
  const path = `/admin/realms/gone/managers/${encodeURIComponent(manager)}?objects=delete`;
  expect((await admin.fetch(path, { method: 'DELETE' })).status).toBe(204);
  expect(JSON.parse(await admin.download('gone')).webhooks).toEqual([]);
  expect((await admin.fetch(path, { method: 'DELETE' })).status).toBe(404);
  await admin.apply('gone', webhook(), { manager });
  expect((await admin.fetch(`/admin/realms/gone/managers/${manager}`, { method: 'DELETE' })).status).toBe(204);
  expect(JSON.parse(await admin.download('gone')).webhooks).toHaveLength(1);
});

test('If-Match applies only what was planned', async () => {
  const { revision } = await admin.apply('match', webhook(), { manager: 'a' });
  await admin.apply('match', webhook('https://b.example'), { manager: 'a' }, { 'if-match': `"${revision}"` });
  const refusal = await admin.refusal('match', webhook(), { manager: 'a' }, { 'if-match': `"${revision}"` });
  expect(refusal).toMatchObject({ status: 412, revision: revision + 1 });
  expect(await admin.refusal('match', {}, {}, { 'if-match': '"0"' })).toMatchObject({ status: 412 });
});

test('the adoption answer says who created the realm', async () => {
  await admin.apply('made', {}, { manager: 'k8s:c/ns/Realm/made' });
  const path = '/admin/realms/made/adoption';
  const put = await admin.fetch(path, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ managers: ['k8s:*/identity/*'] }),
  });
  const adoption = { managers: ['k8s:*/identity/*'], createdBy: 'k8s:c/ns/Realm/made' };
  expect(await put.json()).toEqual(adoption);
  expect(await (await admin.fetch(path)).json()).toEqual(adoption);
});
