import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPasswords } from '../../../server/crypto/passwords.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
let phc: string;

beforeAll(async () => {
  const passwords = createPasswords({ threads: 1 });
  phc = await passwords.hash('a password of many');
  await passwords.stop();
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

const USERS = 1500;
const plain = (i: number) => ({
  username: `user-${i}`,
  email: `user-${i}@people.example`,
  lastName: 'Tab\there, "quotes", \\N and \u{1F511}',
  attributes: { note: ['x'.repeat(200), ''] },
  createdAt: 1_700_000_000_000 + i,
});
const tied = (i: number) => ({
  ...plain(i),
  requiredActions: ['CONFIGURE_OTP'],
  ...(i % 2 === 0 ? { roles: i % 4 === 0 ? ['clerk'] : [] } : {}),
  groups: ['/all'],
  clientRoles: { shop: ['buyer'] },
  credentials: [
    { type: 'password', phc },
    { type: 'otp', secret: 'JBSWY3DPEHPK3PXP' },
  ],
});
const people = (of: (i: number) => object) => Array.from({ length: USERS }, (_, i) => of(i));
const configuration = {
  clients: [{ clientId: 'shop' }],
  clientRoles: { shop: [{ name: 'buyer' }] },
  groups: [{ path: '/all' }],
  roles: [{ name: 'clerk' }, { name: 'everybody', default: true }],
};

/** While it holds, nobody can be staged with all that they are. */
async function withoutStaging<T>(work: () => Promise<T>): Promise<T> {
  await server.pool.query('alter table import_user add constraint nobody_staged check (email is null) not valid');
  try {
    return await work();
  } finally {
    await server.pool.query('alter table import_user drop constraint nobody_staged');
  }
}
const rows = async (realm: string) =>
  (
    await server.pool.query(
      `select u.username, u.manager, array(select r.name from user_role x join role r on r.realm_id = x.realm_id and r.id = x.role_id
        where x.realm_id = u.realm_id and x.user_id = u.id order by 1) as roles,
        array(select c.type || coalesce(c.secret->>'phc', '') from credential c where c.realm_id = u.realm_id and c.user_id = u.id order by 1) as credentials
       from realm_user u where realm_id = $1 order by 1`,
      [realm],
    )
  ).rows;
const staged = async () =>
  (await server.pool.query(`select count(*)::int as n from pg_class where relname ~ '^import_user_' and relkind = 'r'`))
    .rows[0].n;

describe('a realm that has nobody', () => {
  test.each([
    ['plain people', plain],
    ['people with roles, groups and credentials', tied],
  ])('gets %s without staging them, and is what it would be with that', async (name, of) => {
    const [one, other] = [`straight-${name.length}`, `staged--${name.length}`];
    const users = people(of);
    const straight = await withoutStaging(() =>
      admin.apply(one, { ...configuration, realm: { displayName: 'Of many' }, users }),
    );
    // Its name stands behind its users, when the realm should have been made long ago.
    const slow = await admin.apply(other, { ...configuration, users, realm: { displayName: 'Of many' } });
    const unnamed = (text: string, realm: string) => text.replaceAll(realm, 'REALM');
    expect(unnamed(JSON.stringify(straight), one)).toBe(unnamed(JSON.stringify(slow), other));
    expect(straight.summary.create).toBeGreaterThan(USERS);
    expect(unnamed(await admin.download(one), one)).toBe(unnamed(await admin.download(other), other));
    expect(await rows(one)).toEqual(await rows(other));
    expect(await rows(one)).toHaveLength(USERS);
    await expect.poll(staged).toBe(0);
    const again = await admin.apply(one, { ...configuration, users, realm: { displayName: 'Of many' } });
    expect(again).toMatchObject({ inSync: true, changes: [] });
  });

  // There are two ways to write users, since the fast one compares nothing: this is the contract that both are held to.
  test('gets any users by both ways alike', async () => {
    const some = fc.record(
      {
        firstName: fc.option(fc.string({ unit: 'grapheme', maxLength: 20 })),
        lastName: fc.constantFrom(null, '', 'Tab\there, "quotes", \\N and \u{1F511}'),
        enabled: fc.boolean(),
        emailVerified: fc.boolean(),
        requiredActions: fc.shuffledSubarray(['CONFIGURE_OTP', 'VERIFY_EMAIL', 'UPDATE_PASSWORD']),
        roles: fc.shuffledSubarray(['clerk', 'everybody']),
        groups: fc.constantFrom([], ['/all']),
        clientRoles: fc.constantFrom({}, { shop: ['buyer'] }, { shop: [] }),
        attributes: fc.constantFrom({}, { note: ['', ' a '] }, { note: [], other: ['\\.', '{1,2}'] }),
        credentials: fc.shuffledSubarray([
          { type: 'password', phc },
          { type: 'otp', secret: 'JBSWY3DPEHPK3PXP' },
        ]),
        hasEmail: fc.boolean(),
      },
      { requiredKeys: [], noNullPrototype: true },
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(some, { minLength: 3, maxLength: 12 }), async (shapes) => {
        run += 1;
        const [one, other] = [`any-fast-${run}`, `any-slow-${run}`];
        const users = people((i) => {
          const { hasEmail, attributes = {}, ...shape } = shapes[i % shapes.length] ?? {};
          const { username, email, createdAt } = plain(i);
          const filled = { ...attributes, padding: ['x'.repeat(200)] };
          return { username, createdAt, ...(hasEmail && { email }), ...shape, attributes: filled };
        });
        const fast = await withoutStaging(() =>
          admin.apply(one, { ...configuration, realm: { displayName: 'Of many' }, users }),
        );
        const slow = await admin.apply(other, { ...configuration, users, realm: { displayName: 'Of many' } });
        expect(JSON.stringify(fast).replaceAll(one, other)).toBe(JSON.stringify(slow));
        expect((await admin.download(one)).replaceAll(one, other)).toBe(await admin.download(other));
        expect(await rows(one)).toEqual(await rows(other));
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });

  test('gets them so too when it is there already', async () => {
    await admin.apply('empty', { roles: [{ name: 'clerk' }] });
    await withoutStaging(() => admin.apply('empty', { users: people(plain) }));
    expect(await rows('empty')).toHaveLength(USERS);
  });

  test('counts them in the audit log', async () => {
    await admin.apply('counted', { users: people(plain) });
    const { rows: events } = await server.pool.query(
      `select data from event where realm_id = 'counted' and type = 'USERS_IMPORTED'`,
    );
    expect(events).toEqual([{ data: expect.objectContaining({ create: USERS }) }]);
  });
});

describe('what is wrong is told as ever and leaves nothing:', () => {
  test.each<[string, (users: object[]) => object, string[]]>([
    [
      'two of a name',
      (users) => ({ ...configuration, users: [...users, { username: 'USER-7' }] }),
      [`users[${USERS}].username`],
    ],
    [
      'two of an address',
      (users) => ({ ...configuration, users: [...users, { username: 'z', email: 'USER-7@people.example' }] }),
      [`users[${USERS}].email`],
    ],
    [
      'a role that nobody has',
      () => ({ users: [...people(plain), { username: 'z', roles: ['king'] }] }),
      [`users[${USERS}].roles`],
    ],
    ['a bad address', (users) => ({ users: [...users, { username: 'z', email: 'z' }] }), [`users[${USERS}].email`]],
    ['a bad section behind the users', (users) => ({ ...configuration, users, webhooks: [{}] }), ['webhooks[0].name']],
  ])('%s', async (_, document, paths) => {
    const { status, errors } = await admin.refusal('wrong', document(people(tied)));
    expect(status).toBe(400);
    expect(errors?.map((e) => e.path)).toEqual(expect.arrayContaining(paths));
    expect((await admin.fetch('/admin/realms/wrong')).status).toBe(404);
    await expect.poll(staged).toBe(0);
  });

  test('another revision than was expected', async () => {
    const refusal = await admin.refusal('wrong', { ...configuration, users: people(tied) }, {}, { 'if-match': '"7"' });
    expect(refusal.status).toBe(412);
  });
});
