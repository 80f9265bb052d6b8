// Owns: looking for users: text, filters, pages, and that it costs no more among many.
// Does not own: users themselves (users.test.ts).
// Implements: specification 4.10; decisions "Reading and writing" (q, keyset paging).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { createGroup } from '../../../server/contract/groups.ts';
import { addMember, createOrganization } from '../../../server/contract/organizations.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { createUser, listUsers, type UserInput } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };
const people: UserInput[] = [
  { username: 'ada', email: 'Ada.L@example.test', firstName: 'Ada', lastName: 'Lovelace', roles: ['editor'] },
  {
    username: 'Bea',
    email: 'bea@example.test',
    enabled: false,
    groups: ['/staff'],
    attributes: { team: ['red', 'blue'] },
  },
  { username: 'cy_50%', firstName: 'Cy', attributes: { team: ['blue'], site: ['north'] }, roles: ['editor'] },
  { username: 'dan', firstName: 'Bé', lastName: 'Atrice' },
];

beforeAll(async () => {
  server = await startTestServer();
  for (const realm of ['acme', 'other', 'large']) await server.admin.call(createRealm, { body: { realm } });
  await server.admin.call(createRole, { params, body: { name: 'editor' } });
  await server.admin.call(createGroup, { params, body: { name: 'staff' } });
  for (const body of people) await server.admin.call(createUser, { params, body });
  await server.admin.call(createUser, {
    params: { realm: 'other' },
    body: { username: 'ada', email: 'ada.l@example.test' },
  });
  await server.pool.query(
    `insert into realm_user (realm_id, id, username, email, first_name, last_name, created_at)
     select 'large', gen_random_uuid(), 'user-' || i, 'user-' || i || '@people.example', 'First' || i, 'Last' || i, now()
     from generate_series(1, 20000) i`,
  );
  await server.pool.query('vacuum analyze realm_user');
});
afterAll(() => server?.stop());

test('the members of an organization are found with organizations:read alone; the refusal is audited', async () => {
  const found = (await server.admin.call(listUsers, { params, query: { q: 'ada' } })).body ?? [];
  const { body } = await server.admin.call(createOrganization, { params, body: { name: 'takeover' } });
  await server.admin.call(addMember, {
    params: { ...params, id: body?.id ?? '', userId: found[0]?.id ?? '' },
  });
  expect(await find({ organization: 'takeover' })).toEqual(['ada']);
  const plain = await administrator(server, { target: 'acme', permissions: ['users:read'] });
  // an organization that exists, and one that doesn't
  for (const organization of ['takeover', 'nope'])
    await expect(plain.call(listUsers, { params, query: { organization } })).rejects.toMatchObject({ status: 403 });
  const { body: [denied] = [] } = await server.admin.call(listEvents, { params, query: { type: 'ACCESS_DENIED' } });
  expect(denied?.data).toMatchObject({ permission: 'organizations:read', method: 'GET' });
});

const find = async (query: Record<string, string>, realm = 'acme') =>
  ((await server.admin.call(listUsers, { params: { realm }, query })).body ?? []).map((u) => u.username);

describe('a search', () => {
  test.each([
    ['a piece of the username', { q: 'DA' }, ['ada', 'dan']],
    ['a piece of the address', { q: 'a.l@EX' }, ['ada']],
    ['a piece of the last name', { q: 'velac' }, ['ada']],
    ['first and last name together', { q: 'bé atr' }, ['dan']],
    ['signs that are no wildcards', { q: '50%' }, ['cy_50%']],
    ['an underscore that is no wildcard', { q: 'd_n' }, []],
    ['nothing that reaches from one field into the next', { q: 'adaada' }, []],
    ['whoever may not sign in', { enabled: 'false' }, ['Bea']],
    ['whoever may, too', { enabled: 'true', q: 'a' }, ['ada', 'dan']],
    ['a whole address, whatever its case', { email: 'ADA.l@example.test' }, ['ada']],
    ['no part of an address', { email: 'ada.l' }, []],
    ['a role', { role: 'editor' }, ['ada', 'cy_50%']],
    ['a role that isn’t there', { role: 'nope' }, []],
    ['a group', { group: '/staff' }, ['Bea']],
    ['a group that isn’t there', { group: '/nope' }, []],
    ['an organization that isn’t there', { organization: 'nope' }, []],
    ['a value of an attribute', { 'attribute.team': 'blue' }, ['Bea', 'cy_50%']],
    ['values of two attributes', { 'attribute.team': 'blue', 'attribute.site': 'north' }, ['cy_50%']],
    ['all that is asked for at once', { role: 'editor', q: 'ada', enabled: 'true' }, ['ada']],
    ['all that is asked for at once, and nobody is', { role: 'editor', group: '/staff' }, []],
  ])('finds %s', async (_, query, found) => {
    expect(await find(query)).toEqual(found);
  });

  test.each([
    ['a filter that there isn’t', 'nope=1', 'nope'],
    ['an attribute without a name', 'attribute.=1', 'attribute.'],
    ['a filter twice', 'attribute.a=1&attribute.a=2', 'attribute.a'],
    ['a word that is neither true nor false', 'enabled=perhaps', 'enabled'],
    ['a group that is no path', 'group=staff', 'group'],
    ['NUL', 'attribute.a=%00', 'attribute.a'],
    ['NUL in a name', 'attribute.%00=a', 'attribute.\0'],
  ])('for %s is refused and named', async (_, query, path) => {
    const call = server.admin.call({ ...listUsers, path: `${listUsers.path}?${query}` as never }, { params });
    await expect(call).rejects.toMatchObject({ status: 400, problem: { errors: [{ path }] } });
  });

  test('goes on page by page, with the filters in the link', async () => {
    const first = await server.admin.call(listUsers, { params, query: { role: 'editor', limit: 1 } });
    const query = { role: 'editor', limit: 1, cursor: first.nextCursor };
    const second = await server.admin.call(listUsers, { params, query });
    expect([first.body?.[0]?.username, second.body?.[0]?.username]).toEqual(['ada', 'cy_50%']);
    expect(second.nextCursor).toBeUndefined();
  });
});

test('among many people a page and a search read what they show, not everybody', async () => {
  expect(await find({ q: 'last19876' }, 'large')).toEqual(['user-19876']);
  const read = async (work: () => Promise<unknown>): Promise<number> => {
    const blocks = async () => {
      await server.pool.query('select pg_stat_force_next_flush()');
      const { rows } = await server.pool.query<{ n: string }>(
        `select coalesce(sum(idx_tup_fetch + seq_tup_read), 0) as n from pg_stat_all_tables where relname = 'realm_user'`,
      );
      return Number(rows[0]?.n);
    };
    const before = await blocks();
    await work();
    // A connection tells at most once a second what it has read.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await find({ limit: '1' }, 'large');
    await new Promise((resolve) => setTimeout(resolve, 300));
    return (await blocks()) - before;
  };
  expect(await read(() => find({ q: 'last19876' }, 'large'))).toBeLessThan(1_000);
  expect(await read(() => find({ limit: '10' }, 'large'))).toBeLessThan(1_000);
  expect(await read(() => find({ q: 'people.example', limit: '10' }, 'large'))).toBeLessThan(1_000);

  // Of a text of one or two characters the index has no trigram but at a beginning.
  await server.pool.query(
    `update realm_user set first_name = 'Zoë', last_name = 'van Qoz' where realm_id = 'large' and username = 'user-9876'`,
  );
  await server.pool.query('vacuum analyze realm_user');
  for (const q of ['zo', 'Z', 'qo', 'ZOË', 'va']) expect([q, await find({ q }, 'large')]).toEqual([q, ['user-9876']]);
  expect(await find({ q: 'xq' }, 'large')).toEqual([]);
  expect(await find({ q: 'us', limit: '5' }, 'large')).toHaveLength(5);
  for (const q of ['zo', 'xq', 'x']) expect(await read(() => find({ q }, 'large'))).toBeLessThan(2_000);
});

test('a text of two characters is found page by page, near by and far away, each user once', async () => {
  await server.pool.query(
    `update realm_user set last_name = 'Kz' || username where realm_id = 'large' and username like 'user-%777'`,
  );
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const query = { q: 'kz', limit: 3, ...(cursor ? { cursor } : {}) };
    const { body = [], nextCursor } = await server.admin.call(listUsers, { params: { realm: 'large' }, query });
    seen.push(...body.map(({ username }) => username));
    cursor = nextCursor;
    if (cursor === undefined) break;
  }
  expect(seen).toHaveLength(20);
  expect(seen).toEqual([...new Set(seen)].sort());
});

describe('a search ignores accents', () => {
  const realm = 'accents';
  beforeAll(async () => {
    await server.admin.call(createRealm, { body: { realm } });
    const named: UserInput[] = [
      { username: 'jm', firstName: 'J\u00f6rg', lastName: 'M\u00fcller' },
      { username: 'decomposed', lastName: 'Mu\u0308ller' },
      { username: 'plain', lastName: 'Muller' },
      { username: 'street', lastName: 'Stra\u00dfe' },
      { username: 'lodz', lastName: '\u0141\u00f3d\u017a' },
      { username: 'thuy', lastName: 'Nguy\u1ec5n' },
      { username: 'greek', lastName: '\u0386\u03bd\u03bd\u03b1' },
      { username: 'percent', lastName: '\uff05 \u00fc' },
    ];
    for (const body of named) await server.admin.call(createUser, { params: { realm }, body });
  });

  test.each([
    ['muller', ['decomposed', 'jm', 'plain']],
    ['M\u00dcLLER', ['decomposed', 'jm', 'plain']],
    ['mu\u0308ll', ['decomposed', 'jm', 'plain']],
    ['jorg mull', ['jm']],
    ['strasse', ['street']],
    ['STRA\u1e9eE'.toLowerCase(), ['street']],
    ['lodz', ['lodz']],
    ['nguyen', ['thuy']],
    ['\u03b1\u03bd\u03bd\u03b1', ['greek']],
    ['\uff05', ['percent']],
    ['m%ller', []],
    ['m_ller', []],
  ])('%s', async (q, found) => {
    expect(await find({ q }, realm)).toEqual(found);
  });

  test('without an index of trigrams, too, at the beginning of a name', async () => {
    await server.pool.query('alter index realm_user_search rename to realm_user_search_hidden');
    try {
      expect(await find({ q: 'mull' }, realm)).toEqual(['decomposed', 'jm', 'plain']);
      expect(await find({ q: 'uller' }, realm)).toEqual([]);
    } finally {
      await server.pool.query('alter index realm_user_search_hidden rename to realm_user_search');
    }
  });
});
