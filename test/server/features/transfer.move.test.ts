// Ownership under another name in every realm, as after a cluster was rebuilt.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listHistory, undoHistory } from '../../../server/contract/history.ts';
import { permissions } from '../../../server/contract/permissions.ts';
import { getAdoption, getFormerRealm, getRealm, putAdoption } from '../../../server/contract/realms.ts';
import { listManagers, moveManagers } from '../../../server/contract/transfer.ts';
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

const owners = async (realm: string) =>
  (await server.admin.call(listManagers, { params: { realm } })).body?.map(({ manager, owns }) => [
    manager,
    owns.map(({ key }) => key),
  ]);
const adoption = async (realm: string) => (await server.admin.call(getAdoption, { params: { realm } })).body;
const revision = async (realm: string) => (await server.admin.call(getRealm, { params: { realm } })).body?.revision;
const move = (from: string, to: string, query: { dryRun?: 'true' } = {}) =>
  server.admin.call(moveManagers, { body: { from, to }, query });
const told = async (realm: string) => {
  const answer = await admin.fetch(`/admin/realms/${realm}/events?type=MANAGERS_MOVED`);
  return (await answer.json()) as { data: unknown }[];
};
const role = (name: string) => ({ roles: [{ name }] });

test('all that a cluster owned, made and may adopt is another’s, in every realm, and nothing else', async () => {
  await admin.apply('a', role('one'), { manager: 'k8s:one/team/Realm/a' });
  await admin.apply('a', role('by-hand'), { manager: 'cli:ana' });
  await admin.apply('a', role('namesake'), { manager: 'k8s:one-more/team/Realm/a' });
  await admin.apply('a', { users: [{ username: 'ana' }] }, { manager: 'k8s:one/team/Realm/people' });
  await admin.apply('b', role('first'), { manager: 'k8s:two/team/Realm/b' });
  await admin.apply('b', role('second'), { manager: 'k8s:one/team/Realm/b' });
  await server.admin.call(putAdoption, { params: { realm: 'b' }, body: { managers: ['cli:*', 'k8s:one/team/*'] } });
  await admin.apply('gone', role('one'), { manager: 'k8s:one/team/Realm/gone' });
  await admin.fetch('/admin/realms/gone', { method: 'DELETE' });

  const [before, exported] = [await revision('a'), await admin.download('a')];
  const planned = (await move('k8s:one', 'k8s:two', { dryRun: 'true' })).body;
  expect(planned).toEqual({
    managers: [
      { realm: 'a', from: 'k8s:one/team/Realm/a', to: 'k8s:two/team/Realm/a', objects: 1 },
      { realm: 'a', from: 'k8s:one/team/Realm/people', to: 'k8s:two/team/Realm/people', objects: 0 },
      { realm: 'b', from: 'k8s:one/team/Realm/b', to: 'k8s:two/team/Realm/b', objects: 1 },
    ],
    realms: ['a', 'b'],
    formerRealms: ['gone'],
  });
  expect([await revision('a'), await told('a')]).toEqual([before, []]);

  expect((await move('k8s:one', 'k8s:two')).body).toEqual(planned);
  expect(await owners('a')).toEqual([
    ['cli:ana', ['by-hand']],
    ['k8s:one-more/team/Realm/a', ['namesake']],
    ['k8s:two/team/Realm/a', ['one']],
    ['k8s:two/team/Realm/people', []],
  ]);
  expect(await owners('b')).toEqual([['k8s:two/team/Realm/b', ['first', 'second']]]);
  expect(await adoption('a')).toEqual({ managers: [], createdBy: 'k8s:two/team/Realm/a' });
  expect(await adoption('b')).toEqual({ managers: ['cli:*', 'k8s:two/team/*'], createdBy: 'k8s:two/team/Realm/b' });
  const former = await server.admin.call(getFormerRealm, { params: { name: 'gone' } });
  expect(former.body?.createdBy).toBe('k8s:two/team/Realm/gone');
  const { rows } = await server.pool.query(`select manager from realm_user where realm_id = 'a'`);
  expect(rows).toEqual([{ manager: 'k8s:two/team/Realm/people' }]);
  expect(await admin.download('a')).toBe(exported);
  expect(await revision('a')).toBe((before ?? 0) + 1);
  expect(await told('a')).toMatchObject([
    {
      subject: { type: 'manager', name: 'k8s:one' },
      data: { from: 'k8s:one', to: 'k8s:two', managers: ['k8s:one/team/Realm/a', 'k8s:one/team/Realm/people'] },
    },
  ]);
  const again = await admin.apply('a', role('one'), { manager: 'k8s:two/team/Realm/a', prune: 'true' });
  expect(again).toMatchObject({ inSync: true, conflicts: [] });
});

test('moving what nobody owns does nothing, and tells nobody', async () => {
  const before = await revision('a');
  expect((await move('k8s:nobody', 'k8s:two')).body).toEqual({ managers: [], realms: [], formerRealms: [] });
  expect(await revision('a')).toBe(before);
});

test('a name that is the same, or would become too long, is refused', async () => {
  await expect(move('k8s:two', 'k8s:two')).rejects.toMatchObject({ status: 400 });
  await expect(move('k8s:two', `k8s:${'x'.repeat(490)}`)).rejects.toMatchObject({ status: 400 });
  await expect(move('k8s:two', 'not a name')).rejects.toMatchObject({ status: 400 });
});

test('it is for who manages every realm, and moved only by who may do everything there', async () => {
  const asked = { body: { from: 'k8s:two', to: 'k8s:mine' } };
  const before = await owners('a');
  const one = await administrator(server, { target: 'a', permissions: [...permissions] });
  await expect(one.call(moveManagers, { ...asked, query: { dryRun: 'true' } })).rejects.toMatchObject({ status: 403 });
  await expect(one.call(moveManagers, asked)).rejects.toMatchObject({ status: 403 });
  const some = await administrator(server, { target: '*', permissions: ['managers:write'] });
  expect((await some.call(moveManagers, { ...asked, query: { dryRun: 'true' } })).body?.realms).toContain('a');
  await expect(some.call(moveManagers, asked)).rejects.toMatchObject({ status: 403 });
  expect(await owners('a')).toEqual(before);
});

test('single objects of a manager are another’s, and what it does not own is passed over', async () => {
  const two = { roles: [{ name: 'goes', description: 'kept' }, { name: 'stays' }] };
  await admin.apply('part', two, { manager: 'k8s:one/team/Realm/from' });
  await admin.apply('part', role('others'), { manager: 'cli:ana' });
  const objects = ['goes', 'others', 'nobody'].map((key) => ({ kind: 'role', key }));
  const body = { from: 'k8s:one/team/Realm/from', to: 'k8s:one/team/Realm/to', realm: 'part', objects };
  const exported = await admin.download('part');
  const planned = (await server.admin.call(moveManagers, { body, query: { dryRun: 'true' } })).body;
  expect(planned?.managers).toEqual([{ realm: 'part', from: body.from, to: body.to, objects: 1 }]);
  expect(await told('part')).toEqual([]);

  expect((await server.admin.call(moveManagers, { body })).body).toEqual(planned);
  expect(await owners('part')).toEqual([
    ['cli:ana', ['others']],
    ['k8s:one/team/Realm/from', ['stays']],
    ['k8s:one/team/Realm/to', ['goes']],
  ]);
  expect(await told('part')).toMatchObject([{ data: { from: body.from, to: body.to, objects: ['role goes'] } }]);
  expect(await admin.download('part')).toBe(exported);
  expect((await server.admin.call(moveManagers, { body })).body?.managers).toEqual([]);
  expect(await told('part')).toHaveLength(1);
  const left = await admin.apply('part', role('stays'), { manager: body.from, prune: 'true' });
  expect(left).toMatchObject({ inSync: true });

  const { objects: _, ...alone } = body;
  await expect(server.admin.call(moveManagers, { body: alone })).rejects.toMatchObject({ status: 400 });
  const some = await administrator(server, { target: '*', permissions: ['managers:write'] });
  await expect(some.call(moveManagers, { body })).rejects.toMatchObject({ status: 403 });
});

test('the history follows: it tells the new name, and a plan from before can be undone', async () => {
  const manager = 'k8s:past/team/Realm/a';
  const { revision: first } = await admin.apply('past', { roles: [{ name: 'r', description: 'one' }] }, { manager });
  const { revision } = await admin.apply('past', { roles: [{ name: 'r', description: 'two' }] }, { manager });
  await move('k8s:past', 'k8s:present');
  const { body = [] } = await server.admin.call(listHistory, { params: { realm: 'past' } });
  expect(body.map((plan) => [plan.revision, plan.manager])).toEqual([
    [revision, 'k8s:present/team/Realm/a'],
    [first, 'k8s:present/team/Realm/a'],
  ]);
  const undone = await server.admin.call(undoHistory, { params: { realm: 'past', revision } });
  expect(undone.body).toMatchObject({ manager: 'k8s:present/team/Realm/a', inSync: false });
  expect(JSON.parse(await admin.download('past')).roles).toContainEqual(
    expect.objectContaining({ description: 'one' }),
  );
});
