// Owns: groups by SCIM: the tree by displayName, members many at once, what follows for them, ETags over members.
// Does not own: filters (scim.filters.test.ts), groups on the admin API (groups.test.ts).
// Implements: specification 4.11; RFC 7643 §4.2, RFC 7644 §3.5.2.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createGroup, getGroup, listGroups } from '../../../server/contract/groups.ts';
import { listGroupMembers } from '../../../server/contract/memberships.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { type Scim, scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let scim: Scim;
const realm = 'acme';
const params = { realm };
let people: string[] = [];
let made = 0;
let group = '';

beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: { realm } });
  scim = scimWith(server, realm, await scimToken(server, realm));
  people = [];
  for (const userName of ['ada', 'bea', 'cy', 'dan']) people.push((await scim('POST', '/Users', { userName })).body.id);
});
beforeEach(async () => {
  made += 1;
  const members = people.slice(0, 2).map((value) => ({ value }));
  group = (await scim('POST', '/Groups', { displayName: `team ${made}`, externalId: `e${made}`, members })).body.id;
});
afterAll(() => server?.stop());

const ids = (...at: number[]) => at.map((i) => ({ value: people[i] ?? '' }));
const patch = (operations: object[], id = group, headers = {}) =>
  scim('PATCH', `/Groups/${id}`, { Operations: operations }, headers);
const members = async (id = group): Promise<string[]> =>
  ((await scim('GET', `/Groups/${id}`)).body.members ?? []).map(({ value }: { value: string }) => value).sort();
const of = (...at: number[]) => at.map((i) => people[i] ?? '').sort();

describe('a group', () => {
  test('is created with its members, and people say which groups they are in', async () => {
    const { status, headers, body } = await scim('GET', `/Groups/${group}`);
    const base = `${server.baseUrl}/realms/acme/scim/v2`;
    expect([status, headers.get('etag')]).toEqual([200, body.meta.version]);
    expect(body).toMatchObject({
      displayName: `team ${made}`,
      externalId: `e${made}`,
      members: expect.arrayContaining([{ value: people[0], $ref: `${base}/Users/${people[0]}`, type: 'User' }]),
      meta: { resourceType: 'Group', location: `${base}/Groups/${group}` },
    });
    const { body: ada } = await scim('GET', `/Users/${people[0]}`);
    const shown = { value: group, display: `team ${made}`, $ref: `${base}/Groups/${group}`, type: 'direct' };
    expect(ada.groups).toContainEqual(shown);
    const { body: theirs } = await server.admin.call(listGroupMembers, { params: { ...params, id: group } });
    expect(theirs?.map(({ username }) => username)).toEqual(['ada', 'bea']);
  });

  test('is in another by a slash in its name, which leads into a group that is there', async () => {
    const displayName = `team ${made}/north`;
    const { status, body } = await scim('POST', '/Groups', { displayName });
    const { body: stored } = await server.admin.call(getGroup, { params: { ...params, id: body.id } });
    expect([status, stored]).toMatchObject([201, { path: `/team ${made}/north`, parentId: group }]);
    // A group that moves takes along what is in it.
    await patch([{ op: 'Replace', path: 'displayName', value: `crew ${made}` }]);
    expect((await scim('GET', `/Groups/${body.id}`)).body.displayName).toBe(`crew ${made}/north`);
  });

  test('whose name has a slash that leads nowhere keeps it: it is made, found, renamed, left and deleted', async () => {
    const displayName = `EMEA/Sales & R/D ${made}`;
    const { status, body } = await scim('POST', '/Groups', { displayName, members: ids(0) });
    expect([status, body.displayName]).toEqual([201, displayName]);
    const { body: stored } = await server.admin.call(getGroup, { params: { ...params, id: body.id } });
    expect(stored).toMatchObject({ name: `EMEA%2FSales & R%2FD ${made}`, parentId: null });
    const found = async (name: string) => {
      const filter = new URLSearchParams({ filter: `displayName eq "${name}"` });
      return (await scim('GET', `/Groups?${filter}`)).body.Resources.map(({ id }: { id: string }) => id);
    };
    expect(await found(displayName.toUpperCase())).toEqual([body.id]);
    const { body: ada } = await scim('GET', `/Users/${people[0]}`);
    expect(ada.groups).toContainEqual(expect.objectContaining({ value: body.id, display: displayName }));
    const mine = new URLSearchParams({ filter: `groups.display eq "${displayName}"` });
    expect((await scim('GET', `/Users?${mine}`)).body.totalResults).toBe(1);
    const again = await scim('POST', '/Groups', { displayName: displayName.toLowerCase() });
    expect([again.status, again.body.scimType]).toEqual([409, 'uniqueness']);
    // A client sends back what it read.
    expect((await scim('PUT', `/Groups/${body.id}`, body)).body.displayName).toBe(displayName);
    await patch([{ op: 'Replace', path: 'displayName', value: `A/B ${made}` }], body.id);
    expect([await found(displayName), await found(`a/b ${made}`)]).toEqual([[], [body.id]]);
    // What lies in it is in it by its whole name, and its own name may begin with another's.
    const { body: inner } = await scim('POST', '/Groups', { displayName: `A/B ${made}/inner` });
    const { body: innerStored } = await server.admin.call(getGroup, { params: { ...params, id: inner.id } });
    expect(innerStored).toMatchObject({ path: `/A%2FB ${made}/inner`, parentId: body.id });
    await patch([{ op: 'Replace', path: 'displayName', value: `team ${made}/inside` }], group);
    expect((await scim('GET', `/Groups/${group}`)).body.displayName).toBe(`team ${made}/inside`);
    expect((await scim('DELETE', `/Groups/${body.id}`)).status).toBe(204);
    expect(await found(`A/B ${made}`)).toEqual([]);
  });

  test.each(['/', '//', '/x', 'x/', 'x//y'])('named %s has that name', async (name) => {
    const displayName = `${made}${name}`;
    const { status, body } = await scim('POST', '/Groups', { displayName });
    expect([status, body.displayName]).toEqual([201, displayName]);
    expect((await scim('DELETE', `/Groups/${body.id}`)).status).toBe(204);
  });

  test('whose name is taken, whatever its case, is refused', async () => {
    const again = await scim('POST', '/Groups', { displayName: `TEAM ${made}` });
    expect([again.status, again.body.scimType]).toEqual([409, 'uniqueness']);
    const { body: other } = await scim('POST', '/Groups', { displayName: `other ${made}` });
    expect((await patch([{ op: 'replace', value: { displayName: `Team ${made}` } }], other.id)).status).toBe(409);
    // its own, in another case, is free
    expect((await patch([{ op: 'replace', value: { displayName: `Team ${made}` } }])).status).toBe(204);
  });

  test('is replaced with all its members, or with none', async () => {
    const { body } = await scim('PUT', `/Groups/${group}`, { displayName: `new ${made}`, members: ids(1, 2, 3) });
    expect(body).toMatchObject({ displayName: `new ${made}` });
    expect([Object.hasOwn(body, 'externalId'), await members()]).toEqual([false, of(1, 2, 3)]);
    await scim('PUT', `/Groups/${group}`, { displayName: `new ${made}` });
    expect(await members()).toEqual([]);
  });

  test('is deleted, and nobody is in it any more', async () => {
    expect((await scim('DELETE', `/Groups/${group}`)).status).toBe(204);
    expect((await scim('GET', `/Groups/${group}`)).status).toBe(404);
    const { body } = await scim('GET', `/Users/${people[0]}`);
    expect((body.groups ?? []).map(({ value }: { value: string }) => value)).not.toContain(group);
  });

  test('is shown without its members, and then without an ETag, which is of them too', async () => {
    for (const query of ['excludedAttributes=members', 'attributes=displayName']) {
      const { headers, body } = await scim('GET', `/Groups/${group}?${query}`);
      expect([headers.get('etag'), body.members, body.displayName]).toEqual([null, undefined, `team ${made}`]);
    }
  });
});

describe('members', () => {
  test.each<[string, object[], number[]]>([
    ['are added', [{ op: 'Add', path: 'members', value: ids(2) }], [0, 1, 2]],
    ['are removed by a filter', [{ op: 'remove', path: `members[value eq "P0"]` }], [1]],
    ['are removed by a filter of several', [{ op: 'remove', path: `members[value eq "P0" or value eq "P1"]` }], []],
    ['are removed by a value beside the path, as Entra says it', [{ op: 'Remove', path: 'members', value: 'P1' }], [0]],
    ['are all removed', [{ op: 'remove', path: 'members' }], []],
    ['are replaced', [{ op: 'replace', path: 'members', value: 'P3' }], [3]],
    ['are replaced without a path', [{ op: 'replace', value: { members: 'P3' } }], [3]],
    ['are replaced by nobody', [{ op: 'replace', path: 'members', value: [] }], []],
    [
      'are what the operations come to, one after the other',
      [
        { op: 'add', path: 'members', value: 'P3' },
        { op: 'remove', path: 'members[value eq "P3"]' },
        { op: 'remove', path: 'members[value eq "P0"]' },
        { op: 'add', path: 'members', value: 'P0' },
        { op: 'add', value: { members: 'P2' } },
      ],
      [0, 1, 2],
    ],
    ['who are in it already, or aren’t, change nothing', [{ op: 'add', path: 'members', value: 'P0' }], [0, 1]],
    ['that are nobody are removed without a word', [{ op: 'remove', path: 'members[value eq "nobody"]' }], [0, 1]],
  ])('%s', async (_, operations, expected) => {
    const said = JSON.stringify(operations)
      .replace(/"value":"P(\d)"/g, (_all, i) => `"value":[{"value":"${people[i]}"}]`)
      .replace(/P(\d)/g, (_all, i) => people[i] ?? '')
      .replace('"value":[{"value":""}]', `"value":[{"value":"${people[2]}"}]`);
    const { status, body } = await patch(JSON.parse(said));
    expect([status, body]).toEqual([204, undefined]);
    expect(await members()).toEqual(of(...expected));
  });

  test('are told of in the audit log, each whom it concerns, and of nobody else', async () => {
    await patch([{ op: 'replace', path: 'members', value: ids(1, 2) }]);
    const changed = async (id: string | undefined) =>
      (await server.admin.call(listEvents, { params, query: { type: 'USER_UPDATED', userId: id ?? '', limit: 1 } }))
        .body?.[0];
    const [ada, bea, cy] = [await changed(people[0]), await changed(people[1]), await changed(people[2])];
    expect(ada).toMatchObject({ data: { fields: ['groups'] }, actor: { name: 'SCIM token entra' } });
    expect(cy?.occurredAt).toBe(ada?.occurredAt);
    expect(bea?.occurredAt).toBeLessThan(ada?.occurredAt ?? 0);
  });

  test('who are no users of the realm, or no ids, are refused, and nothing is changed', async () => {
    for (const value of [newId(), group, 'nope', '']) {
      const { status, body } = await patch([
        { op: 'replace', path: 'displayName', value: 'changed' },
        { op: 'add', path: 'members', value: [{ value: value || { a: 1 } }] },
      ]);
      expect([status, body.status]).toEqual([400, '400']);
    }
    expect((await scim('GET', `/Groups/${group}`)).body.displayName).toBe(`team ${made}`);
  });

  test('who administer are neither brought in nor taken out', async () => {
    const { body } = await scim('POST', '/Users', { userName: `admin${made}` });
    const grants = [{ role: 'realm-viewer', realm }];
    await server.admin.call(putUserAdminRoles, { params: { ...params, userId: body.id }, body: { grants } });
    const { status } = await patch([{ op: 'add', path: 'members', value: [{ value: body.id }] }]);
    expect([status, await members()]).toEqual([403, of(0, 1)]);
  });

  test('are counted by the ETag: who read the group before they changed doesn’t overwrite it', async () => {
    const { body } = await scim('GET', `/Groups/${group}`);
    const match = { 'if-match': body.meta.version };
    expect((await patch([{ op: 'add', path: 'members', value: ids(2) }], group, match)).status).toBe(204);
    expect((await patch([{ op: 'remove', path: 'members' }], group, match)).status).toBe(412);
    expect((await scim('PUT', `/Groups/${group}`, { displayName: 'x' }, match)).status).toBe(412);
    expect((await scim('DELETE', `/Groups/${group}`, undefined, match)).status).toBe(412);
    expect(await members()).toEqual(of(0, 1, 2));
  });

  test('that two requests change at once are all there', async () => {
    const adding = [0, 1, 2, 3].map((i) => patch([{ op: 'add', path: 'members', value: ids(i) }]));
    expect((await Promise.all(adding)).map(({ status }) => status)).toEqual([204, 204, 204, 204]);
    expect(await members()).toEqual(of(0, 1, 2, 3));
  });

  test('are asked for with `attributes`, and then answered', async () => {
    const operations = [{ op: 'add', path: 'members', value: ids(2) }];
    const { status, body } = await scim('PATCH', `/Groups/${group}?attributes=members`, { Operations: operations });
    expect([status, body.members.length]).toEqual([200, 3]);
  });

  test('by the thousand cost a handful of statements', async () => {
    await server.pool.query(
      `insert into realm_user (realm_id, id, username, created_at)
       select $1, gen_random_uuid(), 'many-' || i, now() from generate_series(1, 3000) i`,
      [realm],
    );
    const { rows } = await server.pool.query<{ id: string }>(`select id from realm_user where username like 'many-%'`);
    const value = rows.map(({ id }) => ({ value: id }));
    expect((await patch([{ op: 'add', path: 'members', value }])).status).toBe(204);
    expect((await members()).length).toBe(3002);
    expect((await patch([{ op: 'replace', path: 'members', value: ids(3) }])).status).toBe(204);
    expect(await members()).toEqual(of(3));
  });
});

test('a group of administrators’ making is SCIM’s too, and a path that reaches elsewhere reaches nothing', async () => {
  const { body } = await server.admin.call(createGroup, { params, body: { name: `by hand ${made}` } });
  const id = body?.id ?? '';
  expect((await scim('GET', `/Groups/${id}`)).body).toMatchObject({ displayName: `by hand ${made}` });
  for (const path of ['__proto__.polluted', 'constructor.prototype', 'members.__proto__', 'id', 'meta.created']) {
    const { status, body: error } = await patch([{ op: 'add', path, value: 'x' }], id);
    expect([status, error.scimType], path).toEqual([400, expect.stringMatching(/invalidPath|mutability/)]);
  }
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  const { body: groups } = await server.admin.call(listGroups, { params, query: { q: 'by hand' } });
  expect(groups?.map(({ name }) => name)).toEqual([`by hand ${made}`]);
});
