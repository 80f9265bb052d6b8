// Owns: a realm's rules for passwords at every door that sets one: admin API, the page of a required action; their age.
// Does not own: each rule's own cases (contract/password-rules.unit.test.ts), known breaches (breached-passwords.test.ts).
// Implements: specification 2.3, 8.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { getSettings, putSettings, type SettingsInput } from '../../../server/contract/settings.ts';
import { createUser, deleteUser, putRequiredActions, putUser, setPassword } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { createPerson } from '../../support/person.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let userId = '';
let made = 0;
let clock = Date.now();
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(clock) });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `rules${made}`;
  [userId = ''] = await makePeopledRealm(server, realm);
});

const rules = (body: SettingsInput) => server.admin.call(putSettings, { params: { realm }, body });
const set = (password: string) => server.admin.call(setPassword, { params: { realm, userId }, body: { password } });
const refused = (message: string) => ({ status: 400, problem: { errors: [{ path: 'password', message }] } });
async function enter(password: string) {
  const alice = createPerson(server.baseUrl);
  return { alice, page: await alice.fill(await alice.open(`/realms/${realm}/login`), { username: 'alice', password }) };
}

test('what a realm asks of passwords is asked at every door', async () => {
  await rules({ passwordRequireDigit: true, passwordRequireUppercase: true, passwordBlocklist: ['umbrella'] });
  const digit = refused('must have a digit');
  const params = { realm };
  await expect(set('No numbers in here')).rejects.toMatchObject(digit);
  const body = { username: 'bob', password: 'No numbers in here' };
  await expect(server.admin.call(createUser, { params, body })).rejects.toMatchObject(digit);
  const update = server.admin.call(putUser, { params: { realm, userId }, body: { password: 'No numbers in here' } });
  await expect(update).rejects.toMatchObject(digit);
  await expect(set('3 Wet UMBRELLAS')).rejects.toMatchObject(
    refused('must not contain a word that is not allowed here'),
  );
  await server.admin.call(putRequiredActions, {
    params: { realm, userId },
    body: { requiredActions: ['UPDATE_PASSWORD'] },
  });
  const { alice, page } = await enter(PASSWORD);
  expect(page.text).toContain('<li>At least 12 characters</li><li>An upper-case letter</li><li>A digit</li>');
  const again = await alice.fill(page, { password: 'four dry socks', repeated: 'four dry socks' });
  expect(again.text).toContain('The new password must have an upper-case letter, and must have a digit.');
  const good = 'Four dry socks: 4';
  expect((await alice.fill(again, { password: good, repeated: good })).url).toContain('/account');
});

test('a new password that is too short and not repeated is refused at both fields at once', async () => {
  await server.admin.call(putRequiredActions, {
    params: { realm, userId },
    body: { requiredActions: ['UPDATE_PASSWORD'] },
  });
  const { alice, page } = await enter(PASSWORD);
  const again = await alice.fill(page, { password: 'short', repeated: 'shirt' });
  expect(again.text).toMatch(/id="password-error"><p>The new password must have at least 12 characters/);
  expect(again.text).toContain('id="repeated-error"><p>The two passwords are not the same.');
  expect(again.text.match(/aria-invalid="true"/g)).toHaveLength(2);
});

test('a word is refused twice in the list of words, and a realm answers the rules that it has', async () => {
  await expect(rules({ passwordBlocklist: ['acme', 'acme'] })).rejects.toMatchObject({ status: 400 });
  await expect(rules({ passwordBlocklist: ['ac'] })).rejects.toMatchObject({ status: 400 });
  await rules({ passwordBlocklist: ['acme'], passwordHistory: 3 });
  const { body } = await server.admin.call(getSettings, { params: { realm } });
  expect(body).toMatchObject({ passwordBlocklist: ['acme'], passwordHistory: 3, passwordMaxAgeDays: 0 });
});

test('the last passwords can’t be chosen again, those before can, and nobody’s hashes are kept for longer', async () => {
  const next = ['first wet umbrellas', 'second wet umbrellas', 'third wet umbrellas'] as const;
  const kept = async () =>
    (await server.pool.query('select from password_history where realm_id = $1', [realm])).rowCount;
  await set(next[0]);
  expect(await kept()).toBe(0);
  await rules({ passwordHistory: 2 });
  await expect(set(next[0])).rejects.toMatchObject(refused('must not be one of the last 2'));
  await set(next[1]);
  clock += 1000;
  await expect(set(next[0])).rejects.toMatchObject(refused('must not be one of the last 2'));
  await set(next[2]);
  clock += 1000;
  expect(await kept()).toBe(1);
  await set(next[0]);
  await server.admin.call(putRequiredActions, {
    params: { realm, userId },
    body: { requiredActions: ['UPDATE_PASSWORD'] },
  });
  const { alice, page } = await enter(next[0]);
  const again = await alice.fill(page, { password: next[2], repeated: next[2] });
  expect(again.text).toContain('The new password must not be one of the last 2.');
  await rules({ passwordHistory: 0 });
  await set(next[2]);
  expect(await kept()).toBe(0);
});

test('with a person their old passwords go', async () => {
  await rules({ passwordHistory: 5 });
  await set('first wet umbrellas');
  await server.admin.call(deleteUser, { params: { realm, userId } });
  expect((await server.pool.query('select from password_history where realm_id = $1', [realm])).rowCount).toBe(0);
});

test('a password that has grown old is changed before the person is signed in, and is young again then', async () => {
  await rules({ passwordMaxAgeDays: 30 });
  expect((await enter(PASSWORD)).page.url).toContain('/account');
  clock += 31 * 86_400_000;
  const { alice, page } = await enter(PASSWORD);
  expect(page.heading).toBe('Choose a new password');
  expect((await alice.fill(page, { password: PASSWORD, repeated: PASSWORD })).text).toContain(
    'must not be the old one',
  );
  const next = 'four dry umbrellas';
  expect((await alice.fill(page, { password: next, repeated: next })).url).toContain('/account');
  expect((await enter(next)).page.url).toContain('/account');
  // The administrator's session has ended by then.
  const admin = await server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
  await admin.call(putSettings, { params: { realm }, body: { passwordMaxAgeDays: 0 } });
  clock += 365 * 86_400_000;
  expect((await enter(next)).page.url).toContain('/account');
  server.admin = await server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
});
