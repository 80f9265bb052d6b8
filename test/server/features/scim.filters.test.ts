// Owns: what filters find, that SQL and an evaluation in memory agree on random filters and people, what filters can't do.
// Does not own: pages and sorting (scim.paging.test.ts), how filters are read (scim.filter.unit.test.ts), what is read to answer them
// (scim.indexed.long.test.ts).
// Implements: RFC 7644 §3.4.2.2.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { parseFilter } from '../../../server/features/operations/scim/filter.ts';
import { matchesFilter } from '../../../server/features/operations/scim/matches.ts';
import { groupType, placeOf, userType } from '../../../server/features/operations/scim/schema.ts';
import { type Scim, type ScimAnswer, scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let scim: Scim;
const realm = 'acme';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
/** All of them, as SCIM answers them. */
let users: ScimAnswer['body'][] = [];
let groups: ScimAnswer['body'][] = [];

/** The same in each run (Park and Miller). */
let state = 2026;
const random = () => {
  state = (state * 48_271) % 0x7fff_ffff;
  return state / 0x7fff_ffff;
};
const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
const maybe = <T>(value: () => T): T | undefined => (random() < 0.6 ? value() : undefined);
const words = ['Ann', 'ann', 'Bé', 'b_b', '50%', 'a\\b', 'x y', '"q"', 'zoë', "o'neil", 'A', '𝄞', '7'];

beforeAll(async () => {
  server = await startTestServer();
  for (const name of [realm, 'other']) await server.admin.call(createRealm, { body: { realm: name } });
  for (const name of ['editor', 'Author']) await server.admin.call(createRole, { params: { realm }, body: { name } });
  scim = scimWith(server, realm, await scimToken(server, realm));
  for (let i = 0; i < 60; i += 1) {
    const { status, body } = await scim('POST', '/Users', {
      userName: `${pick(['Ann', 'bob', 'cy_', 'D%'])}${i}`,
      externalId: maybe(() => pick(words)),
      name: maybe(() => ({ givenName: maybe(() => pick(words)), familyName: maybe(() => pick(words)) })),
      title: maybe(() => pick(words)),
      locale: maybe(() => pick(words)),
      active: random() < 0.7,
      emails: maybe(() => [{ value: `p${i}@${pick(['a', 'B'])}.test`, type: maybe(() => pick(['work', 'home'])) }]),
      phoneNumbers: maybe(() => [
        { value: pick(words), type: 'work' },
        { value: pick(words), type: pick(['home', 'mobile']) },
      ]),
      addresses: maybe(() => [
        { type: pick(['work', 'home']), locality: pick(words), country: maybe(() => pick(words)) },
      ]),
      roles: maybe(() => [{ value: pick(['editor', 'Author']) }]),
      [ENTERPRISE]: maybe(() => ({ department: pick(words), manager: maybe(() => ({ value: pick(words) })) })),
    });
    expect(status, JSON.stringify(body)).toBe(201);
    users.push(body);
  }
  for (let i = 0; i < 8; i += 1) {
    const members = users.filter(() => random() < 0.2).map(({ id }) => ({ value: id }));
    const displayName = `${pick(['Sales', 'ops', 'Ä_'])}${i}`;
    const externalId = maybe(() => pick(words));
    expect((await scim('POST', '/Groups', { displayName, members, externalId })).status).toBe(201);
  }
  users = (await scim('GET', '/Users')).body.Resources;
  groups = (await scim('GET', '/Groups')).body.Resources;
});
afterAll(() => server?.stop());

const find = async (filter: string, path = '/Users') => {
  const answer = await scim('GET', `${path}?${new URLSearchParams({ filter, count: '1000' })}`);
  expect(answer.status, `${filter}: ${JSON.stringify(answer.body)}`).toBe(200);
  expect(answer.body.totalResults).toBe(answer.body.Resources.length);
  return answer.body.Resources.map(({ id }: { id: string }) => id).sort();
};
const inMemory = (filter: string, of: ScimAnswer['body'][], type = userType) =>
  of
    .filter((one) => matchesFilter(parseFilter(filter), one, (path) => placeOf(type, path)))
    .map(({ id }) => id)
    .sort();

interface Term {
  path: string;
  kind: 'text' | 'boolean' | 'moment' | 'id';
}
const userTerms: Term[] = [
  ...['userName', 'USERNAME', 'externalId', 'name.givenName', 'name.familyName', 'title', 'locale'],
  ...['emails', 'emails.value', 'emails.type', 'phoneNumbers', 'phoneNumbers.type', 'addresses.locality', 'roles'],
  ...['groups.display', `${ENTERPRISE}:department`, `${ENTERPRISE}:manager.value`, 'meta.resourceType'],
]
  .map((path): Term => ({ path, kind: 'text' }))
  .concat([
    { path: 'active', kind: 'boolean' },
    { path: 'emails.primary', kind: 'boolean' },
    { path: 'meta.created', kind: 'moment' },
    { path: 'meta.lastModified', kind: 'moment' },
    { path: 'id', kind: 'id' },
    { path: 'groups', kind: 'id' },
  ]);
const groupTerms: Term[] = [
  ...['displayName', 'externalId', 'members.type'].map((path): Term => ({ path, kind: 'text' })),
  { path: 'id', kind: 'id' },
  { path: 'members', kind: 'id' },
  { path: 'meta.lastModified', kind: 'moment' },
];
const inBrackets: Record<string, string[]> = {
  emails: ['value', 'type'],
  phoneNumbers: ['value', 'type'],
  addresses: ['type', 'locality', 'country', 'region'],
  roles: ['value'],
  groups: ['display', 'type'],
};

function comparison({ path, kind }: Term): string {
  if (random() < 0.15) return `${path} ${pick(['pr', 'PR', 'eq null', 'ne null'])}`;
  if (kind === 'boolean') return `${path} ${pick(['eq', 'ne'])} ${pick(['true', 'false', 'True', '"False"'])}`;
  const moments = users.map(({ meta }) => JSON.stringify(meta.created));
  if (kind === 'moment') return `${path} ${pick(['eq', 'ne', 'gt', 'ge', 'lt', 'le'])} ${pick(moments)}`;
  const ids = [...users, ...groups].map(({ id }) => id);
  const values =
    kind === 'id' ? [...ids, 'nobody', ids[0].slice(0, 9)] : [...words, 'work', 'editor', 'p1', '.test', ''];
  const op = pick(['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'Eq', 'eq', 'co']);
  return `${path} ${op} ${JSON.stringify(pick(values))}`;
}

function filter(terms: readonly Term[], depth: number): string {
  const roll = random();
  if (depth > 0 && roll < 0.5) {
    const joined = `${filter(terms, depth - 1)} ${pick(['and', 'or', 'OR'])} ${filter(terms, depth - 1)}`;
    return random() < 0.5 ? `(${joined})` : joined;
  }
  if (depth > 0 && roll < 0.65) return `not (${filter(terms, depth - 1)})`;
  if (terms === userTerms && roll < 0.8) {
    const several = pick(Object.keys(inBrackets));
    const parts = (inBrackets[several] ?? []).map((path): Term => ({ path, kind: 'text' }));
    return `${several}[${filter(parts, 1)}]`;
  }
  return comparison(pick(terms));
}

test('random filters find in SQL whom they find in memory', async () => {
  let found = 0;
  for (let i = 0; i < 400; i += 1) {
    const text = filter(userTerms, 3);
    const expected = inMemory(text, users);
    expect(await find(text), text).toEqual(expected);
    if (expected.length > 0 && expected.length < users.length) found += 1;
  }
  // Filters that find nobody or everybody would prove little.
  expect(found).toBeGreaterThan(100);
}, 120_000);

test('and the same of groups', async () => {
  for (let i = 0; i < 150; i += 1) {
    const text = filter(groupTerms, 2);
    expect(await find(text, '/Groups'), text).toEqual(inMemory(text, groups, groupType));
  }
}, 120_000);

describe('a filter', () => {
  test('finds as Entra and Okta ask: by name, by their own id, by address, by group', async () => {
    const { body: mia } = await scim('POST', '/Users', {
      userName: 'Mia@Contoso.test',
      externalId: 'Guid-1',
      emails: [{ value: 'mia@contoso.test', type: 'work' }],
    });
    const { body: group } = await scim('POST', '/Groups', { displayName: 'Contoso', members: [{ value: mia.id }] });
    for (const text of [
      'userName eq "mia@contoso.test"',
      'externalId eq "Guid-1"',
      'emails[type eq "work" and value ew "@contoso.test"]',
      'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "mia@contoso.test"',
      `groups.value eq "${group.id}"`,
      `id eq "${mia.id}"`,
    ])
      expect(await find(text), text).toEqual([mia.id]);
    expect(await find('externalId eq "guid-1"')).toEqual([]);
    for (const text of ['displayName eq "contoso"', `members.value eq "${mia.id}"`, `members[value eq "${mia.id}"]`])
      expect(await find(text, '/Groups'), text).toEqual([group.id]);
    expect((await scim('GET', '/Users?filter=userName%20eq%20%22nobody%22')).body).toMatchObject({
      totalResults: 0,
      Resources: [],
    });
  });

  const values = ["'; drop table realm_user; --", '$1', '\\', '%', '" or "1"="1', "') or 1=1 --", '$(id)', "E'\\n'"];
  test.each(values)('with the value %s stays a value', async (value) => {
    for (const op of ['eq', 'co', 'sw', 'ew'])
      for (const path of ['userName', 'title', 'externalId', 'phoneNumbers.value', 'id', 'addresses.region'])
        expect(await find(`${path} ${op} ${JSON.stringify(value)}`)).toEqual(
          inMemory(`${path} ${op} ${JSON.stringify(value)}`, users),
        );
  });

  test.each([
    ['no operator', 'userName'],
    ['an operator that isn’t', 'userName like "a"'],
    ['no value', 'userName eq'],
    ['a value without quotes', 'userName eq bob'],
    ['quotes that don’t end', 'userName eq "bob'],
    ['half a surrogate pair', 'userName eq "\\ud800"'],
    ['NUL', 'userName eq "\\u0000"'],
    ['brackets that don’t end', '(userName pr'],
    ['more after the end', 'userName pr)'],
    ['no such attribute', 'nope eq "a"'],
    ['the prototype', '__proto__.polluted eq "a"'],
    ['a constructor', 'constructor pr'],
    ['a part of the prototype', 'name.__proto__ pr'],
    ['the password', 'password sw "a"'],
    ['a part that isn’t', 'name.nope pr'],
    ['a value path of one value', 'name[givenName eq "a"]'],
    ['a greater boolean', 'active gt true'],
    ['a moment that is none', 'meta.created gt "yesterday"'],
    ['a whole object', 'name eq "a"'],
    ['what is no column', 'meta.location co "a"'],
    ['null that is less', 'userName lt null'],
    ['too deep a nesting', `${'('.repeat(30)}userName pr${')'.repeat(30)}`],
    ['too many conditions', Array.from({ length: 400 }, () => 'userName pr').join(' or ')],
    ['SQL for a name', 'userName;drop eq "a"'],
  ])('with %s is refused', async (_, text) => {
    const answer = await scim('POST', '/Users/.search', { filter: text });
    expect([answer.status, answer.body.scimType]).toEqual([400, 'invalidFilter']);
  });

  test('of one realm finds nobody of another', async () => {
    const other = scimWith(server, 'other', await scimToken(server, 'other'));
    const { body: theirs } = await other('POST', '/Users', { userName: 'theirs', externalId: 'Guid-1' });
    expect(await find(`userName eq "theirs" or not (userName eq "x") and id eq "${theirs.id}"`)).toEqual([]);
    expect((await other('GET', '/Users?filter=id%20pr')).body.totalResults).toBe(1);
    const group = groups[0]?.id;
    expect((await other('GET', `/Groups/${group}`)).status).toBe(404);
    expect((await other('PATCH', `/Groups/${group}`, { Operations: [{ op: 'remove', path: 'members' }] })).status).toBe(
      404,
    );
    const foreign = { displayName: 'x', members: [{ value: users[0]?.id }] };
    expect((await other('POST', '/Groups', foreign)).status).toBe(400);
  });
});
