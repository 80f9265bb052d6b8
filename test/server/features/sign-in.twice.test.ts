// Who clicks twice sends the same form twice, and sees the second answer alone. Where the first one's is dropped before its
// cookies are kept, the browser's cookies are still the old ones.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { listCredentials, setPassword } from '../../../server/contract/users.ts';
import { authorizePath, CALLBACK, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let clock = new Date();
let realm = '';
let userId = '';
let made = 0;

beforeAll(async () => {
  server = await startTestServer({ now: () => clock });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `t${made}`;
  [userId = ''] = await makePeopledRealm(server, realm);
});

const codeOf = (secret: string) => {
  clock = new Date(clock.getTime() + 30_000);
  return codeAt(secret, clock.getTime());
};
const withPassword = async () => {
  const alice = createPerson(server.baseUrl);
  const page = await alice.open(authorizePath(realm, 'spa', newVerifier()));
  return { alice, page: await alice.fill(page, { username: 'alice', password: PASSWORD }) };
};
/** A browser with the same cookies. */
const twinOf = ({ jar }: Person): Person => {
  const twin = createPerson(server.baseUrl);
  for (const [name, value] of jar) twin.jar.set(name, value);
  return twin;
};
const count = async (type: string) =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body?.length ?? 0;
const requireMfa = () => server.admin.call(putSettings, { params: { realm }, body: { requireMfa: true } });

/** Sends a form three times: twice at once, and once more when both are answered; all with the cookies of the first. */
async function thrice(alice: Person, page: ShownPage, fields: Record<string, string>): Promise<ShownPage[]> {
  const twins = [twinOf(alice), twinOf(alice)];
  const late = twinOf(alice);
  const landed = await Promise.all(twins.map((twin) => twin.fill(page, fields)));
  return [...landed, await late.fill(page, fields)];
}
const expectInApplication = (landed: readonly ShownPage[]) => {
  expect(landed.map(({ url }) => url.startsWith(CALLBACK))).toEqual([true, true, true]);
  expect(new Set(landed.map(({ url }) => new URL(url).searchParams.get('code'))).size).toBe(3);
};

test('with a second factor’s code each answer leads to the application', async () => {
  await requireMfa();
  const first = await withPassword();
  const secret = secretOn(first.page);
  await first.alice.fill(first.page, { code: codeOf(secret) });
  const { alice, page } = await withPassword();
  expect(page.heading).toBe('Enter your code');
  const code = codeOf(secret);
  expectInApplication(await thrice(alice, page, { code }));
  expect(await count('LOGIN_FAILURE')).toBe(0);
  // The code is nobody else's, and another one is no second click.
  const another = await withPassword();
  expect((await another.alice.fill(another.page, { code })).text).toContain('used already');
});

test('with the first code of a new one too, and there is one of it', async () => {
  await requireMfa();
  const { alice, page } = await withPassword();
  expectInApplication(await thrice(alice, page, { code: codeOf(secretOn(page)) }));
  const { body } = await server.admin.call(listCredentials, { params: { realm, userId } });
  expect(body?.filter(({ type }) => type === 'otp').length).toBe(1);
});

test('with a new password too, which is set once', async () => {
  await server.admin.call(setPassword, { params: { realm, userId }, body: { password: PASSWORD, temporary: true } });
  const before = await count('PASSWORD_CHANGED');
  const { alice, page } = await withPassword();
  expect(page.heading).toBe('Choose a new password');
  const chosen = { password: 'four dry parasols', repeated: 'four dry parasols' };
  expectInApplication(await thrice(alice, page, chosen));
  expect(await count('PASSWORD_CHANGED')).toBe(before + 1);
});

test('another form than the one that ended it, or the same one later, leads back to the application’s question', async () => {
  await requireMfa();
  const first = await withPassword();
  const secret = secretOn(first.page);
  await first.alice.fill(first.page, { code: codeOf(secret) });
  const { alice, page } = await withPassword();
  const [other, late, onlooker] = [twinOf(alice), twinOf(alice), twinOf(alice)];
  const code = codeOf(secret);
  expect((await alice.fill(page, { code })).url).toContain(CALLBACK);
  const sessions = await count('LOGIN_SUCCESS');
  expect((await other.fill(page, { code: codeOf(secret) })).heading).toBe('Sign in');
  expect((await onlooker.open(`/realms/${realm}/login`)).heading).toBe('Sign in');
  clock = new Date(clock.getTime() + 60_000);
  expect((await late.fill(page, { code })).heading).toBe('Sign in');
  expect(await count('LOGIN_SUCCESS')).toBe(sessions);
});

test('a wrong password that is right by now is tried again', async () => {
  const alice = createPerson(server.baseUrl);
  const asked = await alice.open(authorizePath(realm, 'spa', newVerifier()));
  const wrong = { username: 'alice', password: 'four dry parasols' };
  const page = await alice.fill(asked, wrong);
  expect(page.text).toContain('is wrong');
  await server.admin.call(setPassword, {
    params: { realm, userId },
    body: { password: wrong.password, temporary: false },
  });
  expect((await alice.fill(page, wrong)).url).toContain(CALLBACK);
});
