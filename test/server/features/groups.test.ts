// Owns: groups on the admin API: the tree, moving in it, roles and members one by one, groups that everybody joins.
// Does not own: the same by a document (resource/same-by-both-ways.test.ts), other realms (guards/isolation.test.ts).
// Implements: decisions "Group", "Reading and writing"; specification 4.10, 6.1.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import * as api from '../../../server/contract/groups.ts';
import { addGroupMember, listGroupMembers, removeGroupMember } from '../../../server/contract/memberships.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { createClientRole, createRole } from '../../../server/contract/roles.ts';
import { importRealm, listManagers } from '../../../server/contract/transfer.ts';
import { createUser, getUser, listUsers } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };

beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: params });
});
afterAll(() => server?.stop());

async function group(name: string, parent?: api.Group, more: Partial<api.GroupInput> = {}): Promise<api.Group> {
  const body = { name, parentId: parent?.id ?? null, ...more };
  const answer = await server.admin.call(api.createGroup, { params, body });
  if (!answer.body) throw new Error('no group');
  return answer.body;
}
const put = (id: string, body: object, headers = {}) =>
  server.admin.call(api.putGroup, { params: { ...params, id }, body, headers });
const pathOf = async (id: string) =>
  (await server.admin.call(api.getGroup, { params: { ...params, id } })).body?.path ?? '';
const user = async (username: string, groups: string[] = []) => {
  const { body } = await server.admin.call(createUser, { params, body: { username, groups } });
  if (!body) throw new Error('no user');
  return body;
};
const groupsOf = async (userId: string) =>
  (await server.admin.call(getUser, { params: { ...params, userId } })).body?.groups;
const latest = async () => (await server.admin.call(listEvents, { params, query: { limit: 1 } })).body?.[0];

describe('a name that differs from another group’s in case only', () => {
  const fault = (path: string, other: string) => ({
    status: 400,
    problem: { errors: [{ path, message: `differs from the group ${other} in case only` }] },
  });

  test('is refused by the admin API, new and renamed, in any place but its own', async () => {
    const pair = await group('Pair');
    await expect(group('pAIR')).rejects.toMatchObject(fault('path', '/Pair'));
    const inner = await group('Größe', pair);
    await expect(group('GRÖßE', pair)).rejects.toMatchObject(fault('path', '/Pair/Größe'));
    const other = await group('Größe II', pair);
    await expect(put(other.id, { name: 'größe', parentId: pair.id })).rejects.toMatchObject({ status: 400 });
    await put(inner.id, { name: 'größe', parentId: pair.id });
    expect(await pathOf(inner.id)).toBe('/Pair/größe');
    await put(pair.id, { name: 'PAIR', parentId: null });
    expect(await pathOf(inner.id)).toBe('/PAIR/größe');
    await group('Pair', inner);
  });

  test('is refused in a document, beside a group of the realm or of the document', async () => {
    await group('Beside');
    const send = (...paths: string[]) =>
      server.admin.call(importRealm, { params, body: { groups: paths.map((path) => ({ path })) } });
    await expect(send('/ok', '/beside')).rejects.toMatchObject(fault('groups[1].path', '/Beside'));
    await expect(send('/Twin', '/tWIN')).rejects.toMatchObject(fault('groups[1].path', '/Twin'));
    await send('/Beside', '/Twin', '/Twin/Beside');
  });

  test('is refused where both come at the same moment, by any way', async () => {
    const isThere = async (folded: string) => {
      const { body = [] } = await server.admin.call(api.listGroups, { params, query: { limit: 200 } });
      return body.filter(({ path }) => path.toLowerCase() === folded).length;
    };
    const outcomes = async (...requests: Promise<unknown>[]) =>
      (await Promise.allSettled(requests)).map((r) => (r.status === 'fulfilled' ? 200 : r.reason.status)).sort();
    const document = (path: string) => server.admin.call(importRealm, { params, body: { groups: [{ path }] } });
    for (let i = 0; i < 10; i += 1) {
      expect(await outcomes(group(`Race${i}`), group(`rACE${i}`), group(`RACE${i}`))).toEqual([200, 400, 400]);
      expect(await isThere(`/race${i}`)).toBe(1);
      const [a, b] = [await group(`first-${i}`), await group(`second-${i}`)];
      const moved = await outcomes(put(a.id, { name: `Move${i}` }), put(b.id, { name: `mOVE${i}` }));
      expect(moved).toEqual([200, 400]);
      const mixed = await outcomes(group(`Mixed${i}`), document(`/mIXED${i}`));
      expect(mixed).toEqual([200, 400]);
      expect(await isThere(`/mixed${i}`)).toBe(1);
    }
  });

  test('stays where a realm has both from before', async () => {
    await group('Legacy');
    await server.pool.query(
      `insert into user_group (realm_id, id, path, name) values ('acme', gen_random_uuid(), '/legacy', 'legacy')`,
    );
    await server.admin.call(importRealm, {
      params,
      body: {
        groups: [
          { path: '/Legacy', attributes: { a: ['1'] } },
          { path: '/legacy', attributes: { a: ['2'] } },
        ],
      },
    });
    await expect(group('LEGACY')).rejects.toMatchObject({ status: 400 });
  });
});

describe('a group', () => {
  test('that is renamed takes its subgroups, its members and what is declared in it along', async () => {
    const top = await group('sales');
    const middle = await group('emea', top);
    const leaf = await group('north', middle);
    const neighbour = await group('sales2');
    const ada = await user('ada', [leaf.path]);
    const body = { groups: [{ path: '/sales' }, { path: '/sales/emea/north' }] };
    await server.admin.call(importRealm, { params, query: { manager: 'git' }, body });
    const { body: renamed } = await put(top.id, { name: 'Vertrieb' });
    expect(renamed).toMatchObject({ name: 'Vertrieb', path: '/Vertrieb', parentId: null });
    expect(await pathOf(middle.id)).toBe('/Vertrieb/emea');
    expect(await pathOf(leaf.id)).toBe('/Vertrieb/emea/north');
    expect(await pathOf(neighbour.id)).toBe('/sales2');
    expect(await groupsOf(ada.id)).toEqual(['/Vertrieb/emea/north']);
    const { body: managers = [] } = await server.admin.call(listManagers, { params });
    expect(managers.find(({ manager }) => manager === 'git')?.owns.map(({ key }) => key)).toEqual([
      '/Vertrieb',
      '/Vertrieb/emea/north',
    ]);
    expect(await latest()).toMatchObject({
      type: 'GROUP_UPDATED',
      subject: { id: top.id, name: '/Vertrieb' },
      data: { renamedFrom: '/sales' },
    });
  });

  test('moves below another one and back to the top', async () => {
    const [from, to] = [await group('from'), await group('to')];
    const child = await group('child', from);
    const grandchild = await group('grandchild', child);
    expect((await put(child.id, { parentId: to.id })).body).toMatchObject({ path: '/to/child', parentId: to.id });
    expect(await pathOf(grandchild.id)).toBe('/to/child/grandchild');
    expect((await put(child.id, { parentId: null })).body).toMatchObject({ path: '/child', parentId: null });
    expect(await pathOf(grandchild.id)).toBe('/child/grandchild');
  });

  test('can’t be put into itself, nor into what lies in it', async () => {
    const outer = await group('outer');
    const inner = await group('inner', await group('between', outer));
    for (const parentId of [outer.id, inner.id])
      await expect(put(outer.id, { parentId })).rejects.toMatchObject({
        status: 400,
        problem: { errors: [{ path: 'parentId', message: 'the group would be inside itself' }] },
      });
    expect(await pathOf(inner.id)).toBe('/outer/between/inner');
  });

  test('keeps its place where two are put into each other at once: one of them is refused', async () => {
    const [a, b] = [await group('ring-a'), await group('ring-b')];
    const [deepA, deepB] = [await group('deep', a), await group('deep', b)];
    const moves = [put(a.id, { parentId: deepB.id }), put(b.id, { parentId: deepA.id })];
    const statuses = (await Promise.allSettled(moves)).map((m) => (m.status === 'fulfilled' ? 200 : m.reason.status));
    expect(statuses.sort()).toEqual([200, 400]);
    const paths = [await pathOf(a.id), await pathOf(b.id), await pathOf(deepA.id), await pathOf(deepB.id)];
    expect(paths.sort()).toEqual(
      paths.includes('/ring-a')
        ? ['/ring-a', '/ring-a/deep', '/ring-a/deep/ring-b', '/ring-a/deep/ring-b/deep']
        : ['/ring-b', '/ring-b/deep', '/ring-b/deep/ring-a', '/ring-b/deep/ring-a/deep'],
    );
  });

  test('goes nowhere where there is one already, nowhere unknown, and not by its path', async () => {
    const [one, two] = [await group('one'), await group('two')];
    await expect(put(one.id, { name: 'two' })).rejects.toMatchObject({ status: 409 });
    await expect(put(one.id, { parentId: newId() })).rejects.toMatchObject({ status: 404 });
    await expect(put(one.id, { path: '/elsewhere' })).rejects.toMatchObject({
      problem: { errors: [{ path: 'path' }] },
    });
    expect((await put(two.id, two)).body).toEqual(two);
    const { etag = '' } = await server.admin.call(api.getGroup, { params: { ...params, id: one.id } });
    await put(one.id, { attributes: { floor: ['2'] } }, { 'if-match': etag });
    await expect(put(one.id, { name: 'late' }, { 'if-match': etag })).rejects.toMatchObject({ status: 412 });
  });

  test('moves nowhere where a group in it would have too long a path', async () => {
    const long = await group('l'.repeat(250));
    let deep = long;
    for (let i = 0; i < 6; i += 1) deep = await group('m'.repeat(250), deep);
    const target = await group('t'.repeat(255));
    await expect(put(long.id, { parentId: target.id })).rejects.toMatchObject({
      problem: { errors: [{ path: 'parentId', message: expect.stringContaining('2000 bytes') }] },
    });
    expect(await pathOf(long.id)).toBe(long.path);
  });
});

describe('roles of a group', () => {
  test('are the realm’s and clients’, given and taken one by one, and its members’ through any depth', async () => {
    const { body: client } = await server.admin.call(createClient, { params, body: { clientId: 'till' } });
    const clientId = client?.id ?? '';
    const { body: role } = await server.admin.call(createRole, { params, body: { name: 'seller' } });
    const { body: teller } = await server.admin.call(createClientRole, {
      params: { ...params, clientId },
      body: { name: 'teller' },
    });
    const shop = await group('shop');
    const at = (roleId: string | undefined) => ({ params: { ...params, id: shop.id, roleId: roleId ?? '' } });
    for (const one of [role, teller, role]) await server.admin.call(api.addGroupRole, at(one?.id));
    const { body: roles } = await server.admin.call(api.listGroupRoles, { params: { ...params, id: shop.id } });
    expect(roles).toEqual([
      { id: role?.id, name: 'seller', clientId: null, description: null },
      { id: teller?.id, name: 'teller', clientId: 'till', description: null },
    ]);
    const { body: whole } = await server.admin.call(api.getGroup, { params: { ...params, id: shop.id } });
    expect(whole).toMatchObject({ roles: ['seller'], clientRoles: { till: ['teller'] } });
    await server.admin.call(api.removeGroupRole, at(role?.id));
    expect(await latest()).toMatchObject({ type: 'GROUP_UPDATED', data: { fields: ['roles'] } });
    await expect(server.admin.call(api.removeGroupRole, at(role?.id))).rejects.toMatchObject({ status: 404 });
    await expect(server.admin.call(api.addGroupRole, at(newId()))).rejects.toMatchObject({ status: 404 });
  });

  test('that don’t exist are refused, by name', async () => {
    await expect(group('unknowing', undefined, { roles: ['nope'] })).rejects.toMatchObject({ status: 400 });
    await expect(group('unknowing', undefined, { clientRoles: { till: ['nope'] } })).rejects.toMatchObject({
      status: 400,
    });
  });
});

describe('members of a group', () => {
  test('come in pages in the order of their names, without those of subgroups', async () => {
    const crowd = await group('crowd');
    const inner = await group('inner', crowd);
    await user('in-the-inner', [inner.path]);
    for (let i = 0; i < 7; i += 1) await user(`${i % 2 ? 'M' : 'm'}ember-${i}`, [crowd.path]);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query = { limit: 3, ...(cursor === undefined ? {} : { cursor }) };
      const answer = await server.admin.call(listGroupMembers, { params: { ...params, id: crowd.id }, query });
      seen.push(...(answer.body ?? []).map(({ username }) => username.toLowerCase()));
      cursor = answer.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(Array.from({ length: 7 }, (_, i) => `member-${i}`));
  });

  test('join and leave one by one; what changes nothing is not told', async () => {
    const club = await group('club');
    const joe = await user('joe', []);
    const at = { params: { ...params, id: club.id, userId: joe.id } };
    await server.admin.call(addGroupMember, at);
    await server.admin.call(addGroupMember, at);
    expect(await groupsOf(joe.id)).toEqual(['/club']);
    const { body: events = [] } = await server.admin.call(listEvents, { params, query: { userId: joe.id } });
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['USER_UPDATED', { fields: ['groups'] }],
      ['USER_CREATED', expect.anything()],
    ]);
    await server.admin.call(removeGroupMember, at);
    expect(await groupsOf(joe.id)).toEqual([]);
    await expect(server.admin.call(removeGroupMember, at)).rejects.toMatchObject({ status: 404 });
    for (const wrong of [{ id: newId() }, { userId: newId() }])
      await expect(server.admin.call(addGroupMember, { params: { ...at.params, ...wrong } })).rejects.toMatchObject({
        status: 404,
      });
  });
});

test('a default group is joined by everybody who is new, unless a document says their groups', async () => {
  const realm = { realm: 'joined' };
  await server.admin.call(createRealm, { body: realm });
  const all = { params: realm, body: { name: 'everybody', default: true } };
  await server.admin.call(api.createGroup, all);
  const { body: client } = await server.admin.call(createClient, { params: realm, body: { clientId: 'app' } });
  await server.admin.call(createClientRole, {
    params: { ...realm, clientId: client?.id ?? '' },
    body: { name: 'guest', default: true },
  });
  await server.admin.call(createUser, { params: realm, body: { username: 'by-api' } });
  const users = [{ username: 'by-document' }, { username: 'said', groups: [], clientRoles: {} }];
  await server.admin.call(importRealm, { params: realm, query: { manager: 'm' }, body: { users } });
  const { body: people = [] } = await server.admin.call(listUsers, { params: realm });
  expect(people.map(({ username, groups }) => [username, groups])).toEqual([
    ['by-api', ['/everybody']],
    ['by-document', ['/everybody']],
    ['said', []],
  ]);
  const { rows } = await server.pool.query(
    `select u.username from user_role ur join realm_user u on u.realm_id = ur.realm_id and u.id = ur.user_id
     join role r on r.realm_id = ur.realm_id and r.id = ur.role_id where ur.realm_id = 'joined' and r.name = 'guest' order by 1`,
  );
  expect(rows.map(({ username }) => username)).toEqual(['by-api', 'by-document']);
});

test('a default group is joined by people of a large document in an empty realm too', async () => {
  const realm = { realm: 'large' };
  const pad = 'x'.repeat(3000);
  const users = Array.from({ length: 200 }, (_, i) => ({
    username: `u${i}`,
    attributes: { pad: [pad] },
    ...(i === 0 && { groups: ['/other'] }),
    ...(i === 1 && { roles: [] }),
  }));
  const groups = [{ path: '/everybody', default: true }, { path: '/other' }];
  await server.admin.call(importRealm, { params: realm, query: { manager: 'm' }, body: { groups, users } });
  const { rows } = await server.pool.query(
    `select g.path, count(*)::int as members from group_member m join user_group g on g.realm_id = m.realm_id and g.id = m.group_id
     where m.realm_id = 'large' group by g.path order by 1`,
  );
  expect(rows).toEqual([
    { path: '/everybody', members: 199 },
    { path: '/other', members: 1 },
  ]);
});
