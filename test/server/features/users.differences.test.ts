// Owns: users of a document are compared in SQL (people/users/import-store.ts), objects of other kinds in memory (resource/change.ts):
// for any users, both find the same differences.
// Does not own: what a change leaves (users.same-by-both-ways.test.ts), new users (transfer.bulk-insert.test.ts).
// Implements: decisions "Import, export, plan".
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { differences } from '../../../server/resource/change.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

type Fields = Record<string, unknown>;
const configuration = {
  roles: [{ name: 'reader' }, { name: 'writer' }],
  groups: [{ path: '/red' }, { path: '/blue' }],
  clients: [{ clientId: 'shop' }],
  clientRoles: { shop: [{ name: 'buyer' }, { name: 'seller' }] },
};
const fresh: Fields = {
  email: null,
  emailVerified: false,
  firstName: null,
  lastName: null,
  enabled: true,
  attributes: {},
  requiredActions: [],
  roles: [],
  groups: [],
  clientRoles: {},
};
const texts = fc.constantFrom(null, '', 'Ada', 'ada', 'Tab\there, "quotes", \\N and \u{1F511}');
const person = fc.record(
  {
    email: fc.constantFrom(null, 'a', 'A', 'b'),
    emailVerified: fc.boolean(),
    firstName: texts,
    lastName: texts,
    enabled: fc.boolean(),
    attributes: fc.constantFrom({}, { note: ['1', '2'] }, { note: ['2', '1'] }, { note: [], other: [''] }),
    requiredActions: fc.shuffledSubarray(['CONFIGURE_OTP', 'VERIFY_EMAIL', 'UPDATE_PASSWORD']),
    roles: fc.shuffledSubarray(['reader', 'writer']),
    groups: fc.shuffledSubarray(['/red', '/blue']),
    clientRoles: fc.constantFrom({}, { shop: [] }, { shop: ['seller', 'buyer'] }, { shop: ['buyer'] }),
    createdAt: fc.constantFrom(1_700_000_000_000, 1_700_000_000_001),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const named = (people: readonly Fields[]) =>
  people.map(({ email, ...fields }, i): Fields & { username: string } => ({
    username: `person-${i}`,
    ...fields,
    ...(email !== undefined && { email: email && `${email}.${i}@people.example` }),
  }));

/** Lists without an order are sorted, and clients without roles left out. */
const canonical = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([field, value]) => {
      if (['requiredActions', 'roles', 'groups'].includes(field)) return [field, [...Object(value)].sort()];
      if (field !== 'clientRoles') return [field, value];
      const lists = Object.entries<string[]>(Object(value)).filter(([, roles]) => roles.length > 0);
      return [field, Object.fromEntries(lists.map(([client, roles]) => [client, [...roles].sort()]))];
    }),
  );
/** Another address is not verified, unless the document says so. */
const withVerification = (before: Fields, wanted: Fields): Fields =>
  'email' in wanted && !('emailVerified' in wanted) && lower(before.email) !== lower(wanted.email)
    ? { ...wanted, emailVerified: false }
    : wanted;
const lower = (email: unknown) => (typeof email === 'string' ? email.toLowerCase() : null);
const usersOf = async (realm: string) => {
  const { users }: { users: (Fields & { username: string })[] } = JSON.parse(await admin.download(realm));
  return new Map(users.map(({ username, ...fields }) => [username, canonical({ ...fresh, ...fields })]));
};
/** The fields of each changed user: path, old and new value; `clientRoles` without values, which a plan lists by name. */
const told = (fields: readonly { path: string; from?: unknown; to?: unknown }[]) =>
  fields
    .map(({ path, from, to }) => (path === 'clientRoles' ? { path } : { path, ...canonical({ from, to }) }))
    .map((field) => ({ ...field, ...sorted(field) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
const sorted = ({ path, ...values }: { path: string }) =>
  Object.fromEntries(Object.entries(values).map(([of, value]) => [of, canonical({ [path]: value })[path]]));

test('a plan has exactly the differences between the stored users and those of the document', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(person, person), { minLength: 1, maxLength: 8 }), async (pairs) => {
      run += 1;
      const realm = `pairs-${run}`;
      await admin.apply(realm, { ...configuration, users: named(pairs.map(([before]) => before)) }, { manager: 'm' });
      const stored = await usersOf(realm);
      const users = named(pairs.map(([, wanted]) => wanted));
      const expected = users.flatMap(({ username, ...fields }) => {
        const before = stored.get(username) ?? {};
        const found = differences(before, canonical(withVerification(before, fields)));
        return found.length > 0 ? [[username, told(found)]] : [];
      });
      const plan = await admin.apply(realm, { users }, { manager: 'm', dryRun: 'true' });
      const changes = plan.changes.map(({ action, kind, key, fields }) => [action, kind, key, told(fields)]);
      expect(changes).toEqual(expected.map(([username, fields]) => ['update', 'user', username, fields]));

      await admin.apply(realm, { users }, { manager: 'm' });
      const after = await usersOf(realm);
      for (const { username, ...fields } of users) {
        const before = stored.get(username) ?? {};
        expect(after.get(username)).toEqual({ ...before, ...canonical(withVerification(before, fields)) });
      }
      expect((await admin.apply(realm, { users }, { manager: 'm' })).inSync).toBe(true);
    }),
    { numRuns: 6, endOnFailure: true },
  );
});
