// Owns: a realm's user profile: kept by API and document, and enforced wherever people's data is written and read.
// Does not own: users without a profile (users.test.ts).
// Implements: decisions "User profile".
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { createGroup } from '../../../server/contract/groups.ts';
import { addGroupMember, listGroupMembers } from '../../../server/contract/memberships.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { importRealm, type RealmDocument } from '../../../server/contract/transfer.ts';
import { importUsers } from '../../../server/contract/user-import.ts';
import * as api from '../../../server/contract/user-profile.ts';
import { createUser, getUser, listUsers, putUser, type UserInput } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { adminSessionOf } from '../../support/one-of-each.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let made = 0;
let realm = '';
const PASSWORD = 'three wet umbrellas';
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `profile${made}`;
  await server.admin.call(createRealm, { body: { realm } });
});

const put = async (body: api.UserProfileDocument) =>
  (await server.admin.call(api.putUserProfile, { params: { realm }, body })).body;
const make = async (body: Partial<UserInput> = {}) =>
  (await server.admin.call(createUser, { params: { realm }, body: { username: 'ada', ...body } })).body?.id ?? '';
const change = async (userId: string, body: Partial<UserInput>) =>
  (await server.admin.call(putUser, { params: { realm, userId }, body })).body;
const read = async (userId: string) => (await server.admin.call(getUser, { params: { realm, userId } })).body;
const apply = (body: object, query = {}) => server.admin.call(importRealm, { params: { realm }, body, query });
const refused = (...paths: string[]) => ({ status: 400, problem: { errors: paths.map((path) => ({ path })) } });
const attributes = (of: Record<string, string[]>) => ({ attributes: of });

describe('a profile', () => {
  test('asks nothing of a fresh realm; a field that is left out stays, and a write of the same writes nothing', async () => {
    const { body, etag } = await server.admin.call(api.getUserProfile, { params: { realm } });
    expect(body).toEqual({ unmanagedAttributes: 'enabled', attributes: [] });
    const attribute = { name: 'phone', validation: { maxLength: 20 }, edit: ['admin'] } as const;
    const whole = {
      name: 'phone',
      displayName: null,
      type: 'string',
      multivalued: false,
      required: [],
      view: ['admin', 'user'],
      edit: ['admin'],
      validation: { maxLength: 20 },
      annotations: {},
    };
    expect(await put({ attributes: [{ ...attribute, edit: ['admin'] }] })).toMatchObject({ attributes: [whole] });
    expect(await put({ unmanagedAttributes: 'adminEdit' })).toEqual({
      unmanagedAttributes: 'adminEdit',
      attributes: [whole],
    });
    await put({ attributes: [whole as never] });
    const { body: events = [] } = await server.admin.call(listEvents, {
      params: { realm },
      query: { type: 'USER_PROFILE_UPDATED' },
    });
    expect(events.map(({ data }) => data)).toEqual([{ fields: ['unmanagedAttributes'] }, { fields: ['attributes'] }]);
    const stale = { headers: { 'if-match': etag ?? '' }, params: { realm }, body: { attributes: [] } };
    await expect(server.admin.call(api.putUserProfile, stale)).rejects.toMatchObject({ status: 412 });
  });

  test('is a section of the realm document, of whose two fields each has its manager', async () => {
    const userProfile = { attributes: [{ name: 'phone' }] };
    const { body: plan } = await apply({ userProfile }, { manager: 'git' });
    expect(plan?.changes.map(({ action, kind, key, fields }) => [action, kind, key, fields[0]?.path])).toEqual([
      ['update', 'userProfile', realm, 'attributes'],
    ]);
    expect((await apply({ userProfile }, { manager: 'git' })).body?.changes).toEqual([]);
    await put({ unmanagedAttributes: 'disabled' });
    expect((await apply({}, { manager: 'git', prune: 'true' })).body?.changes).toHaveLength(1);
    const { body } = await server.admin.call(api.getUserProfile, { params: { realm } });
    expect(body).toEqual({ unmanagedAttributes: 'disabled', attributes: [] });
  });

  test.each<[string, api.UserProfileDocument['attributes'], string]>([
    ['one attribute twice', [{ name: 'a' }, { name: 'a' }], 'attributes[1].name'],
    ['several e-mail addresses', [{ name: 'email', multivalued: true }], 'attributes[0].multivalued'],
    [
      'lengths that exclude each other',
      [{ name: 'a', validation: { minLength: 5, maxLength: 4 } }],
      'attributes[0].validation.minLength',
    ],
    ['a least text', [{ name: 'a', validation: { min: 1 } }], 'attributes[0].validation.min'],
    ['a pattern that is none', [{ name: 'a', validation: { pattern: '(' } }], 'attributes[0].validation.pattern'],
    ['one that looks back', [{ name: 'a', validation: { pattern: '(a)\\1' } }], 'attributes[0].validation.pattern'],
  ])('cannot have %s', async (_, list, path) => {
    await expect(put({ attributes: list })).rejects.toMatchObject(refused(path));
    const imported = apply({ userProfile: { attributes: list } });
    await expect(imported).rejects.toMatchObject(refused(`userProfile.${path}`));
  });
});

describe('what a value must be', () => {
  const cases: [
    string,
    Omit<NonNullable<api.UserProfileDocument['attributes']>[number], 'name'>,
    string[],
    string[],
  ][] = [
    ['a number', { type: 'number', validation: { min: 1, max: 9 } }, ['5'], ['ten']],
    ['a number in its bounds', { type: 'number', validation: { min: 1, max: 9 } }, ['9'], ['10']],
    ['true or false', { type: 'boolean' }, ['true'], ['yes']],
    ['a date', { type: 'date' }, ['2026-02-28'], ['2026-02-30']],
    ['an e-mail address', { type: 'email' }, ['a@b.example'], ['a@']],
    ['an address', { type: 'url' }, ['https://a.example'], ['javascript:alert(1)']],
    ['one value', {}, ['a'], ['a', 'b']],
    ['one of its options', { validation: { options: ['a', 'b'] } }, ['b'], ['c']],
    ['of its length', { validation: { minLength: 2, maxLength: 3 } }, ['ab'], ['a']],
    ['of its form, as a whole', { validation: { pattern: 'S-\\d+' } }, ['S-12'], ['xS-12']],
    ['so in each of several', { multivalued: true, type: 'number' }, ['1', '2'], ['1', 'b']],
  ];
  test.each(cases)('%s, by the admin API and in documents alike', async (_, rules, good, bad) => {
    await put({ attributes: [{ name: 'x', ...rules }] });
    await expect(make(attributes({ x: bad }))).rejects.toMatchObject(refused('attributes.x'));
    const id = await make(attributes({ x: good }));
    await expect(change(id, attributes({ x: bad }))).rejects.toMatchObject(refused('attributes.x'));
    for (const username of ['ada', 'new']) {
      const users = [{ username: 'fits' }, { username, ...attributes({ x: bad }) }];
      await expect(apply({ users })).rejects.toMatchObject(refused('users[1].attributes.x'));
    }
    await apply({ users: [{ username: 'new', ...attributes({ x: good }) }] });
    expect((await read(id))?.attributes).toEqual({ x: good });
  });

  test('names and addresses can be declared like attributes, and required', async () => {
    await put({
      attributes: [
        { name: 'firstName', required: ['admin'], validation: { maxLength: 5 } },
        { name: 'email', required: ['admin'], validation: { pattern: '[^@]+@corp[.]example' } },
      ],
    });
    await expect(make()).rejects.toMatchObject(refused('firstName', 'email'));
    const wrong = make({ firstName: 'Adelheid', email: 'ada@home.example' });
    await expect(wrong).rejects.toMatchObject(refused('firstName', 'email'));
    const id = await make({ firstName: 'Ada', email: 'ada@corp.example' });
    await expect(change(id, { firstName: null })).rejects.toMatchObject(refused('firstName'));
    await expect(apply({ users: [{ username: 'bob' }] })).rejects.toMatchObject(
      refused('users[0].firstName', 'users[0].email'),
    );
  });

  test('who was there before stays, and is changed in anything but what doesn’t fit', async () => {
    const id = await make(attributes({ x: ['old'], y: ['1'] }));
    await put({ unmanagedAttributes: 'disabled', attributes: [{ name: 'x', type: 'number', required: ['admin'] }] });
    expect(await change(id, { firstName: 'Ada' })).toMatchObject({ firstName: 'Ada' });
    await apply({ users: [{ username: 'ada', lastName: 'Lovelace' }] });
    await expect(change(id, attributes({ x: ['other'] }))).rejects.toMatchObject(refused('attributes.x'));
    await expect(change(id, attributes({ x: [] }))).rejects.toMatchObject(refused('attributes.x'));
    expect((await change(id, attributes({ x: ['2'] })))?.attributes).toEqual({ x: ['2'] });
  });

  test('a document’s people fit the profile that comes with it, whichever of the two comes first', async () => {
    const userProfile = { attributes: [{ name: 'x', type: 'number' }] };
    const users = [{ username: 'ada', ...attributes({ x: ['one'] }) }];
    for (const body of [
      { userProfile, users },
      { users, userProfile },
    ])
      await expect(apply(body)).rejects.toMatchObject(refused('users[0].attributes.x'));
    const many = Array.from({ length: 5000 }, (_, i) => ({
      username: `u${i}`,
      ...attributes({ x: [String(i)], note: ['n'.repeat(60)] }),
    }));
    const last = { username: 'last', ...attributes({ x: ['no'] }) };
    await expect(apply({ users: [...many, last], userProfile })).rejects.toMatchObject(
      refused('users[5000].attributes.x'),
    );
    expect((await apply({ users: many, userProfile })).body?.summary.create).toBe(5000);
  });
});

describe('people who are older than the profile', () => {
  const profile = {
    unmanagedAttributes: 'disabled',
    attributes: [
      { name: 'x', type: 'number', required: ['admin'] },
      { name: 'email', required: ['admin'] },
    ],
  } as const;
  async function exported(of: string): Promise<string> {
    const headers = { ...(await adminSessionOf(server, { username: 'admin' })) };
    return (await server.app.http.inject({ url: `/admin/realms/${of}/export`, headers })).body;
  }
  /** A realm whose people were made before its profile, as an export has it. */
  async function older(): Promise<RealmDocument> {
    await make({ email: 'ada@example.test', ...attributes({ x: ['1'] }) });
    await make({ username: 'bob', ...attributes({ x: ['one'], note: [',"requiredActions":'] }) });
    await put(profile as never);
    return JSON.parse(await exported(realm));
  }

  test('are exported with what doesn’t fit, and so imported where nobody is, to the same bytes again', async () => {
    const document = await older();
    expect(document.users?.map((user) => user.olderThanProfile)).toEqual([
      undefined,
      ['attributes.note', 'attributes.x', 'email'],
    ]);
    const elsewhere = { params: { realm: `${realm}-elsewhere` } };
    const { body: plan } = await server.admin.call(importRealm, { ...elsewhere, body: document });
    expect(plan?.summary.create).toBeGreaterThan(2);
    expect(await exported(`${realm}-elsewhere`)).toBe(await exported(realm));
    expect((await server.admin.call(importRealm, { ...elsewhere, body: document })).body?.inSync).toBe(true);
  });

  test('must fit in all that isn’t named, and from then on in whatever changes', async () => {
    const document = await older();
    const [ada, bob] = document.users ?? [];
    const elsewhere = { params: { realm: `${realm}-elsewhere` } };
    const users = [ada!, { ...bob!, olderThanProfile: ['attributes.x', 'email'] }];
    const without = server.admin.call(importRealm, { ...elsewhere, body: { ...document, users } });
    await expect(without).rejects.toMatchObject(refused('users[1].attributes.note'));
    await server.admin.call(importRealm, { ...elsewhere, body: document });
    const changed = [{ username: 'bob', ...attributes({ x: ['two'] }) }];
    const again = server.admin.call(importRealm, { ...elsewhere, body: { users: changed } });
    await expect(again).rejects.toMatchObject(refused('users[0].attributes.x'));
  });

  test('are let pass for nobody who couldn’t change the profile, and not row by row', async () => {
    const { users = [] } = await older();
    const [, bob] = users;
    const manager = await administrator(server, { target: realm, permissions: ['users:read', 'users:write'] });
    const body = { users: [{ ...bob!, username: 'carol' }] };
    const asked = manager.call(importRealm, { params: { realm }, body });
    await expect(asked).rejects.toMatchObject(
      refused('users[0].attributes.x', 'users[0].email', 'users[0].attributes.note'),
    );
    const { body: rows } = await server.admin.call(importUsers, { params: { realm }, body: body.users as never });
    expect(rows?.failures[0]?.errors).toMatchObject([{ path: 'olderThanProfile' }]);
  });
});

describe('who may see and change an attribute', () => {
  test('an administrator neither changes nor sees what is not theirs, and a PUT of what they see leaves it', async () => {
    const id = await make(attributes({ secret: ['s'], badge: ['b'], free: ['f'] }));
    await put({
      attributes: [
        { name: 'secret', view: ['user'], edit: ['user'] },
        { name: 'badge', edit: [] },
      ],
    });
    const seen = await read(id);
    expect(seen?.attributes).toEqual({ badge: ['b'], free: ['f'] });
    const { body: listed = [] } = await server.admin.call(listUsers, { params: { realm }, query: { q: 'ada' } });
    expect(listed.map((user) => user.attributes)).toEqual([seen?.attributes]);
    const { body: group } = await server.admin.call(createGroup, { params: { realm }, body: { name: 'staff' } });
    const inGroup = { realm, id: group?.id ?? '' };
    await server.admin.call(addGroupMember, { params: { ...inGroup, userId: id } });
    const { body: members = [] } = await server.admin.call(listGroupMembers, { params: inGroup });
    expect(members.map((user) => user.attributes)).toEqual([seen?.attributes]);
    const asked = (query: Record<string, string>) => server.admin.call(listUsers, { params: { realm }, query });
    expect((await asked({ 'attribute.badge': 'b' })).body).toHaveLength(1);
    await expect(asked({ 'attribute.secret': 's' })).rejects.toMatchObject(refused('attribute.secret'));
    const planned = await server.admin.call(importRealm, {
      params: { realm },
      query: { dryRun: 'true', manager: 'curious' },
      body: { users: [{ username: 'ada', attributes: { secret: ['guess'], badge: ['c'] } }] },
    });
    expect(planned.body?.changes.find(({ kind }) => kind === 'user')?.fields).toEqual([
      {
        path: 'attributes',
        from: { secret: ['***'], badge: ['b'], free: ['f'] },
        to: { secret: ['***'], badge: ['c'] },
      },
    ]);
    await expect(change(id, attributes({ secret: ['t'], badge: ['c'] }))).rejects.toMatchObject(
      refused('attributes.secret', 'attributes.badge'),
    );
    await expect(change(id, attributes({ badge: ['c'] }))).rejects.toMatchObject(refused('attributes.badge'));
    await change(id, attributes({ badge: ['b'], free: ['g'] }));
    const { rows } = await server.pool.query('select attributes from realm_user where realm_id = $1', [realm]);
    expect(rows[0].attributes).toEqual({ secret: ['s'], badge: ['b'], free: ['g'] });
  });

  test.each<[api.UserProfile['unmanagedAttributes'], boolean, boolean]>([
    ['enabled', true, true],
    ['adminEdit', true, true],
    ['adminView', false, true],
    ['disabled', false, false],
  ])('what isn’t declared is %s', async (unmanagedAttributes, mayChange, sees) => {
    const id = await make(attributes({ free: ['f'] }));
    await put({ unmanagedAttributes });
    expect((await read(id))?.attributes).toEqual(sees ? { free: ['f'] } : {});
    const changed = change(id, attributes({ free: ['g'] }));
    const created = () => apply({ users: [{ username: 'new', ...attributes({ free: ['f'] }) }] });
    if (!mayChange) {
      await expect(changed).rejects.toMatchObject(refused('attributes.free'));
      await expect(created()).rejects.toMatchObject(refused('users[0].attributes.free'));
    } else {
      expect((await changed)?.attributes).toEqual({ free: ['g'] });
      await created();
    }
  });

  test('the sign-in page for one’s name asks for what the profile requires', async () => {
    await put({ attributes: [{ name: 'lastName', required: ['user'], validation: { minLength: 2 } }] });
    await make({ password: PASSWORD, requiredActions: ['UPDATE_PROFILE'] });
    const person = createPerson(server.baseUrl);
    let page = await person.fill(await person.open(`/realms/${realm}/login`), { username: 'ada', password: PASSWORD });
    expect(page.heading).toBe('Your profile');
    page = await person.fill(page, { firstName: 'Ada', lastName: '' });
    expect(page.text).toContain('is required');
    page = await person.fill(page, { firstName: 'Ada', lastName: 'L' });
    expect(page.text).toContain('at least 2 characters');
    page = await person.fill(page, { firstName: 'Ada', lastName: 'Lovelace' });
    expect(page.heading).not.toBe('Your profile');
  });
});
