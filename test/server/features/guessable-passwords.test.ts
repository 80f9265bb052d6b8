// Owns: passwords that are easy to guess: refused in a fresh realm by every way that sets one, in words that say why; older realms go on.
// Does not own: which passwords those are (contract/guessable-passwords.unit.test.ts), a realm's other rules (password-rules.test.ts).
// Implements: decisions "Guessable passwords".
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { getSettings, putSettings } from '../../../server/contract/settings.ts';
import { importUsers } from '../../../server/contract/user-import.ts';
import { createUser, putRequiredActions, putUser, setPassword } from '../../../server/contract/users.ts';
import { createPerson } from '../../support/person.ts';
import { scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let userId = '';
let made = 0;
const PASSWORD = 'three wet umbrellas';
const COMMON = 'must not be a common password, nor one with a few signs added';
const ROW = 'must not be mostly repeated signs or rows such as abcd, 1234 or qwerty';
const NAME = 'must not be made of the user’s own name or address';
const ada = { username: 'ada.l', email: 'countess@lovelace.example', firstName: 'Augusta', lastName: 'King' };
beforeAll(async () => {
  server = await startTestServer({ env: { USER_REGISTRATION_ENABLED: 'true' } });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `guessed${made}`;
  await server.admin.call(createRealm, { body: { realm } });
  const { body } = await server.admin.call(createUser, { params: { realm }, body: { ...ada, password: PASSWORD } });
  userId = body?.id ?? '';
});

const refused = (message: string) => ({ status: 400, problem: { errors: [{ path: 'password', message }] } });
const signIn = async (password: string) => {
  const person = createPerson(server.baseUrl);
  const page = await person.open(`/realms/${realm}/login`);
  return { person, page: await person.fill(page, { username: 'ada.l', password }) };
};

describe.each([
  ['password1234', COMMON],
  ['aaaaaaaaaaaa', ROW],
  ['Augusta-1815', NAME],
])('%s is refused', (password, message) => {
  test('by the admin API, for a new person, an old one, and alone', async () => {
    const { admin } = server;
    const create = admin.call(createUser, {
      params: { realm },
      body: { ...ada, username: 'x', email: null, password },
    });
    await expect(create).rejects.toMatchObject(refused(message));
    const update = admin.call(putUser, { params: { realm, userId }, body: { password } });
    await expect(update).rejects.toMatchObject(refused(message));
    const alone = admin.call(setPassword, { params: { realm, userId }, body: { password } });
    await expect(alone).rejects.toMatchObject(refused(message));
  });

  test('in an import of plain passwords, whose other rows are taken', async () => {
    const body = [
      { ...ada, username: 'weak', email: 'a@b.example', password },
      { username: 'good', password: PASSWORD },
    ];
    const { body: report } = await server.admin.call(importUsers, { params: { realm }, body: body as never });
    expect(report?.failures).toMatchObject([{ errors: [{ path: 'password', message }] }]);
    expect(report?.created).toBe(1);
  });

  test('on the page of a required action, which says the rule beforehand, in the person’s language', async () => {
    await server.admin.call(putSettings, { params: { realm }, body: { supportedLocales: ['en', 'de'] } });
    await server.admin.call(putRequiredActions, {
      params: { realm, userId },
      body: { requiredActions: ['UPDATE_PASSWORD'] },
    });
    const { person, page } = await signIn(PASSWORD);
    expect(page.text).toContain('<li>No common password, no rows such as abcd or 1234, not your name</li>');
    expect((await person.fill(page, { password, repeated: password })).text).toContain(`The new password ${message}`);
    const german = createPerson(server.baseUrl, { 'accept-language': 'de' });
    const first = await german.open(`/realms/${realm}/login`);
    const asked = await german.fill(first, { username: 'ada.l', password: PASSWORD });
    expect((await german.fill(asked, { password, repeated: password })).text).toContain('Das neue Passwort darf');
    const next = 'four dry umbrellas';
    expect((await person.fill(page, { password: next, repeated: next })).url).toContain('/account');
  });

  test('by a SCIM client', async () => {
    const scim = scimWith(server, realm, await scimToken(server, realm));
    const created = await scim('POST', '/Users', { userName: 'x', name: { givenName: 'Augusta' }, password });
    expect([created.status, JSON.stringify(created.body)]).toEqual([400, expect.stringContaining(message)]);
    const replaced = await scim('PATCH', `/Users/${userId}`, { Operations: [{ op: 'replace', value: { password } }] });
    expect([replaced.status, JSON.stringify(replaced.body)]).toEqual([400, expect.stringContaining(message)]);
  });

  test('at registration, by the names that the form has', async () => {
    const person = createPerson(server.baseUrl);
    const page = await person.open(`/realms/${realm}/register`);
    const told = await person.fill(page, {
      email: 'augusta@other.example',
      firstName: 'Augusta',
      password,
      repeated: password,
    });
    expect(told.text).toContain(message);
  });
});

test('the realm’s own name is a common password there', async () => {
  await server.admin.call(putSettings, { params: { realm }, body: { displayName: 'Zorg Industries' } });
  const set = (password: string) => server.admin.call(setPassword, { params: { realm, userId }, body: { password } });
  await expect(set('Zorg-Industries-26')).rejects.toMatchObject(refused(COMMON));
  await expect(set(`${realm}!2026`)).rejects.toMatchObject(refused(COMMON));
  expect((await set('zorg makes three umbrellas')).status).toBe(204);
});

test('a realm takes them where it says so, and one from before the rule goes on as it was', async () => {
  const read = async () => (await server.admin.call(getSettings, { params: { realm } })).body?.guessablePasswordCheck;
  expect(await read()).toBe(true);
  await server.admin.call(putSettings, { params: { realm }, body: { guessablePasswordCheck: false } });
  await server.admin.call(setPassword, { params: { realm, userId }, body: { password: 'password1234' } });
  const { page } = await signIn('password1234');
  expect(page.url).toContain('/account');
});

test('somebody whose password is easy to guess since before still signs in with it', async () => {
  await server.admin.call(putSettings, { params: { realm }, body: { guessablePasswordCheck: false } });
  await server.admin.call(setPassword, { params: { realm, userId }, body: { password: 'aaaaaaaaaaaa' } });
  await server.admin.call(putSettings, { params: { realm }, body: { guessablePasswordCheck: true } });
  expect((await signIn('aaaaaaaaaaaa')).page.url).toContain('/account');
});
