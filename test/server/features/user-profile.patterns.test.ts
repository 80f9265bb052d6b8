// Owns: a user profile's patterns over HTTP: none holds the server up, what can't be used is refused by its field, an old one freezes nothing.
// Does not own: what a pattern means and costs (domain/pattern.unit.test.ts), the rest of a profile (user-profile.test.ts).
// Implements: decisions "Patterns".
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import * as api from '../../../server/contract/user-profile.ts';
import { createUser, getUser, listUsers, putUser } from '../../../server/contract/users.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let made = 0;
let realm = '';
const PASSWORD = 'three wet umbrellas';
beforeAll(async () => {
  server = await startTestServer({ env: { USER_REGISTRATION_ENABLED: 'true' } });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `patterns${made}`;
  await server.admin.call(createRealm, { body: { realm } });
});

type Attributes = NonNullable<api.UserProfileDocument['attributes']>;
const put = async (attributes: Attributes) =>
  (await server.admin.call(api.putUserProfile, { params: { realm }, body: { attributes } })).body;
const withPattern = (pattern: string, name = 'nick'): Attributes[number] => ({ name, validation: { pattern } });
const make = async (attributes: Record<string, string[]>, username = 'ada') =>
  (await server.admin.call(createUser, { params: { realm }, body: { username, attributes } })).body?.id ?? '';
const refused = (path: string, message: string) => ({
  status: 400,
  problem: { errors: [{ path, message: expect.stringContaining(message) }] },
});
/** As a release without the limits kept it. */
const keep = (attributes: object[]) =>
  server.pool.query('update realm set user_profile = $2::jsonb where realm_id = $1', [
    realm,
    JSON.stringify({ attributes: attributes.map((one) => ({ ...whole, ...one })) }),
  ]);
const whole = {
  displayName: null,
  type: 'string',
  multivalued: false,
  required: [],
  view: ['admin', 'user'],
  edit: ['admin', 'user'],
  annotations: {},
};

const long = `${'a{0,1}'.repeat(27)}${'a'.repeat(27)}`;
test.each([
  ['27 that may be there, and 27 that are', long, 'a'.repeat(27), `${'a'.repeat(40)}!`],
  ['a repeated repetition', '(a+)+b', `${'a'.repeat(1000)}b`, 'a'.repeat(1000)],
  ['anything, 25 times over', '(.*a){25}', 'a'.repeat(1000), `${'a'.repeat(1000)}!`],
])('a stranger’s registration costs little under the pattern %s', async (_, pattern, good, bad) => {
  await put([{ ...withPattern(pattern), required: ['user'] }]);
  const register = async (nick: string) => {
    const person = createPerson(server.baseUrl);
    const page = await person.open(`/realms/${realm}/register`);
    const before = process.cpuUsage();
    const fields = { email: 'ada@example.org', password: PASSWORD, repeated: PASSWORD, 'attribute.nick': nick };
    const after = await person.fill(page, fields);
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
    return after;
  };
  expect((await register(bad)).text).toContain('the required form');
  expect((await register(good)).text).not.toContain('the required form');
});

test.each([
  ['look-around', '(?=a)a', 'look-around'],
  ['a back reference', '(a)\\1', 'back references'],
  ['more than it may hold', '(a{0,1000}){0,1000}', 'is too large'],
  ['a property that nobody knows here', '\\p{scx=Greek}', 'can’t be used here'],
  ['nothing that is a pattern', '(', 'is no regular expression'],
])('a pattern with %s is refused by its field, in PUT and in a document', async (_, pattern, message) => {
  const attributes = [{ name: 'fine' }, withPattern(pattern)];
  await expect(put(attributes)).rejects.toMatchObject(refused('attributes[1].validation.pattern', message));
  const imported = server.admin.call(importRealm, { params: { realm }, body: { userProfile: { attributes } } });
  await expect(imported).rejects.toMatchObject(refused('userProfile.attributes[1].validation.pattern', message));
});

test('200 patterns, each as large as one may be, are refused together in little time', async () => {
  const attributes = Array.from({ length: 200 }, (_, i) => withPattern(`\\p{L}{0,400}|${i}`, `of${i}`));
  const before = process.cpuUsage();
  await expect(put(attributes)).rejects.toMatchObject({ status: 400 });
  expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
  await put(attributes.slice(0, 4));
});

test('a kept pattern that can’t be used is not applied and is warned of; its neighbours are, and can be changed', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  try {
    const old = { name: 'nick', validation: { pattern: '(?=a)a', maxLength: 5 } };
    await keep([old, { name: 'staff', validation: { pattern: 'E\\d+' } }]);
    const id = await make({ nick: ['other'], staff: ['E12'] });
    await expect(make({ nick: ['longer'] }, 'long')).rejects.toMatchObject(refused('attributes.nick', 'at most 5'));
    await expect(make({ staff: ['12'] }, 'eve')).rejects.toMatchObject(
      refused('attributes.staff', 'the required form'),
    );
    await server.admin.call(putUser, { params: { realm, userId: id }, body: { attributes: { nick: ['new'] } } });
    expect((await server.admin.call(getUser, { params: { realm, userId: id } })).body?.attributes).toEqual({
      nick: ['new'],
    });
    expect(warn.mock.calls.map(([words]) => words)).toEqual([
      expect.stringMatching(
        `attribute nick in realm ${realm}.*not applied: it has what can’t be used here: look-around`,
      ),
    ]);
    // what stays is not asked about, what is new is
    await put([old, withPattern('E\\d+', 'staff'), { name: 'more' }]);
    const moved = put([withPattern('(?=a)b'), withPattern('E\\d+', 'staff')]);
    await expect(moved).rejects.toMatchObject(refused('attributes[0].validation.pattern', 'look-around'));
  } finally {
    warn.mockRestore();
  }
  expect((await server.admin.call(listUsers, { params: { realm } })).body).toHaveLength(1);
});
