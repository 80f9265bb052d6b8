// Owns: values as the world has them: e-mail addresses of every legal form, names and passwords in any Unicode form.
// Does not own: names that look like another's (users.names.test.ts), hashes from elsewhere (server/crypto/passwords.test.ts).
// Implements: RFC 5321, RFC 5322 (atext), RFC 5890; RFC 8265; decisions "User".
import { pbkdf2Sync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser, getUser, listUsers, putUser, setPassword } from '../../../server/contract/users.ts';
import { makeRealm } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const realm = 'acme';
const params = { realm };
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, realm);
});
afterAll(() => server?.stop());

let made = 0;
async function create(user: { username?: string; email?: string; password?: string }): Promise<string> {
  made += 1;
  return (await server.admin.call(createUser, { params, body: { username: `user-${made}`, ...user } })).body?.id ?? '';
}
const emailOf = async (userId: string) =>
  (await server.admin.call(getUser, { params: { ...params, userId } })).body?.email;
/** Whether the sign-in page lets the user in. */
async function enters(username: string, password: string): Promise<boolean> {
  const person = createPerson(server.baseUrl);
  const page = await person.open(`/realms/${realm}/login?for=account`);
  return (await person.fill(page, { username, password })).url.includes('/account');
}

describe('an e-mail address', () => {
  test.each([
    'r&d@example.com',
    "o'brien!#$%*+/=?^_`{|}~-@example.com",
    'ann@example.xn--p1ai',
    'ann_example.com#EXT#@contoso.onmicrosoft.com',
    `${'l'.repeat(100)}@example.com`,
  ])('%s is kept as it is', async (email) => {
    expect(await emailOf(await create({ email }))).toBe(email);
  });

  test('of a domain in another script is kept as mail servers know it, and is the same in both forms', async () => {
    const userId = await create({ email: 'ann@пример.рф', password: 'correct horse battery' });
    expect(await emailOf(userId)).toBe('ann@xn--e1afmkfd.xn--p1ai');
    await expect(create({ email: 'ann@xn--e1afmkfd.xn--p1ai' })).rejects.toMatchObject({ status: 409 });
    const found = await server.admin.call(listUsers, { params, query: { email: 'ann@ПРИМЕР.рф' } });
    expect(found.body?.map(({ id }) => id)).toEqual([userId]);
    expect(await enters('ann@пример.рф', 'correct horse battery')).toBe(true);
  });

  test('is found by SCIM in both forms, the primary one and the others', async () => {
    const scim = scimWith(server, realm, await scimToken(server, realm));
    const emails = [
      { value: 'idn@почта.рф', primary: true, display: 'Work' },
      { value: 'home@почта.рф', type: 'home' },
    ];
    const { status, body } = await scim('POST', '/Users', { userName: 'idn by scim', emails });
    const ascii = ['idn@xn--80a1acny.xn--p1ai', 'home@xn--80a1acny.xn--p1ai'];
    expect([status, body.emails]).toMatchObject([201, [{ value: ascii[0], display: 'Work' }, { value: ascii[1] }]]);
    for (const address of [...ascii, ...emails.map(({ value }) => value)])
      for (const filter of [`emails.value eq "${address}"`, `emails[value eq "${address}"]`]) {
        const found = await scim('GET', `/Users?filter=${encodeURIComponent(filter)}`);
        expect(found.body.totalResults, filter).toBe(1);
      }
  });

  test('in a document is planned once, whatever its form', async () => {
    const body = { users: [{ username: 'idn', email: 'i@müller.example' }] };
    await server.admin.call(importRealm, { params, body });
    expect((await server.admin.call(importRealm, { params, body })).body).toMatchObject({ inSync: true });
  });

  test.each([
    'a b@example.com',
    '.a@example.com',
    'a..b@example.com',
    'a@example',
    'a@192.0.2.1',
    'a@[192.0.2.1]',
    'a@-example.com',
    'a@exa_mple.com',
    'a@b@example.com',
    '"a b"@example.com',
    'a@example.com\r\nBcc: b@example.com',
    'ä@example.com',
    `a@${'d'.repeat(64)}.com`,
    `a@${'long.'.repeat(60)}com`,
  ])('%j is refused', async (email) => {
    await expect(create({ email })).rejects.toMatchObject({
      status: 400,
      problem: { errors: [expect.objectContaining({ path: 'email' })] },
    });
  });
});

describe('a username', () => {
  test.each([
    ['νίκος', 'ΝΊΚΟΣ'],
    ['ΓΙΏΡΓΟΣ', 'γιώργος'],
    ['ΠΈΤΡΟΣ.2', 'πέτροσ.2'],
  ])('%s is taken for %s as well, which Unicode takes for the same', async (one, other) => {
    const id = await create({ username: one });
    await expect(create({ username: other })).rejects.toMatchObject({ status: 409 });
    const kept = await server.admin.call(putUser, { params: { realm, userId: id }, body: { username: one } });
    expect(kept.status).toBe(200);
  });

  const NFC = 'J\u00fcrgen';
  const NFD = 'Ju\u0308rgen';

  test.each([
    ['composed', `a ${NFC}`, `a ${NFD}`],
    ['decomposed', `b ${NFD}`, `b ${NFC}`],
    ['in wide letters', 'ｃarla', 'carla'],
    ['as it is, and typed in wide letters', 'dora', 'ｄｏｒａ'],
  ])('%s is found by its other form', async (_, stored, typed) => {
    await create({ username: stored, password: 'correct horse battery' });
    expect(await enters(typed, 'correct horse battery')).toBe(true);
    expect(await enters(typed, 'wrong horse battery')).toBe(false);
  });
});

describe('a password', () => {
  const NFC = 'Stra\u00dfe M\u00fcnchen \u00e9t\u00e9';
  const NFD = NFC.normalize('NFD');

  test.each([
    ['composed', NFC, NFD],
    ['decomposed', NFD, NFC],
  ])('set %s is right in both forms', async (form, set, typed) => {
    await create({ username: `password ${form}`, password: set });
    expect(await enters(`password ${form}`, typed)).toBe(true);
    expect(await enters(`password ${form}`, set)).toBe(true);
    expect(await enters(`password ${form}`, `${typed}e`)).toBe(false);
  });

  test.each([
    ['composed', NFC],
    ['decomposed', NFD],
  ])(
    'whose older hash is of the %s form is right in both, before and after the hash is renewed',
    async (form, hashed) => {
      const b64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
      const salt = Buffer.from('0123456789abcdef');
      const phc = `$pbkdf2-sha256$i=1000$${b64(salt)}$${b64(pbkdf2Sync(hashed, salt, 1000, 32, 'sha256'))}`;
      const username = `older ${form}`;
      await server.admin.call(importRealm, {
        params,
        body: { users: [{ username, credentials: [{ type: 'password', phc }] }] },
      });
      for (const typed of [NFD, NFC, NFD]) expect(await enters(username, typed)).toBe(true);
      expect(await enters(username, 'wrong')).toBe(false);
    },
  );

  test('is judged by its composed form: decomposing makes none longer, and none other than the username', async () => {
    await server.admin.call(putSettings, { params, body: { passwordMinLength: 8 } });
    const userId = await create({ username: 'J\u00fcrgen M\u00fcller' });
    const set = (password: string) =>
      server.admin.call(setPassword, { params: { ...params, userId }, body: { password } });
    await expect(set('\u00e9\u00e0\u00fc\u00f6\u00e4'.normalize('NFD'))).rejects.toMatchObject({ status: 400 });
    await expect(set('Ju\u0308rgen Mu\u0308ller')).rejects.toMatchObject({ status: 400 });
  });
});
