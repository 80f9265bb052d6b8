// What somebody began to set up and left: nobody sees it, or goes on with it, once they are gone.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { endSession, listSessions } from '../../../server/contract/sessions.ts';
import { putRequiredActions, setPassword } from '../../../server/contract/users.ts';
import { authorizePath, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { secretOn } from '../../support/authenticator-app.ts';
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
  realm = `left${made}`;
  [userId = ''] = await makePeopledRealm(server, realm);
});

const later = (minutes: number) => {
  clock = new Date(clock.getTime() + minutes * 60_000);
};
const account = (person: Person) => person.open(`/realms/${realm}/account`);
async function signedIn(): Promise<Person> {
  const alice = createPerson(server.baseUrl);
  await alice.fill(await account(alice), { username: 'alice', password: PASSWORD });
  return alice;
}
async function setUp(alice: Person, action: string): Promise<ShownPage> {
  const { csrf = '' } = (await account(alice)).fields;
  return alice.post(`/realms/${realm}/account/credentials/set-up`, { csrf, action });
}
const stored = async () =>
  (await server.pool.query(`select from sign_in where realm_id = $1 and state ->> 'is' <> 'done'`, [realm])).rowCount;
const titles = {
  CONFIGURE_OTP: 'Set up a second factor',
  CONFIGURE_PASSKEY: 'Set up a passkey',
  CONFIGURE_RECOVERY_CODES: 'Keep your recovery codes',
};
const begunBy = async (action: keyof typeof titles) => {
  const alice = await signedIn();
  const page = await setUp(alice, action);
  expect(page.heading).toBe(titles[action]);
  return { alice, page };
};
/** Whoever opens the browser afterwards, by any address, also that of the page that was left. */
async function expectNothingLeft(browser: Person): Promise<void> {
  for (const path of ['login?for=account', 'account', 'login', 'login?tab=1']) {
    const shown = await browser.open(`/realms/${realm}/${path}`);
    expect([path, shown.heading]).toEqual([path, 'Sign in']);
    expect(shown.text).not.toContain('alice');
  }
}

const signOut = async (alice: Person) => {
  const { csrf = '' } = (await account(alice)).fields;
  expect((await alice.post(`/realms/${realm}/account/sign-out`, { csrf })).heading).toBe('Signed out');
};
const waysOut: [string, (alice: Person) => Promise<unknown>][] = [
  ['by the account page', signOut],
  [
    'by an application',
    async (alice) => {
      const asked = await alice.open(`/realms/${realm}/oauth2/logout`);
      await alice.post(`/realms/${realm}/oauth2/logout/confirm`, asked.fields);
    },
  ],
  [
    'by an administrator',
    async () => {
      const [session] = (await server.admin.call(listSessions, { params: { realm } })).body ?? [];
      await server.admin.call(endSession, { params: { realm, id: session?.id ?? '' } });
    },
  ],
  [
    'with a new password',
    () => server.admin.call(setPassword, { params: { realm, userId }, body: { password: 'four dry parasols' } }),
  ],
];
test.each(waysOut)('signed out %s, nothing is left of what was being set up', async (_, out) => {
  const { alice } = await begunBy('CONFIGURE_RECOVERY_CODES');
  await setUp(alice, 'CONFIGURE_OTP');
  expect(await stored()).toBe(2);
  await out(alice);
  expect(await stored()).toBe(0);
  await expectNothingLeft(alice);
});

test.each(Object.keys(titles) as (keyof typeof titles)[])('%s is gone with the session', async (action) => {
  const { alice, page } = await begunBy(action);
  const cookies = [...alice.jar];
  await signOut(alice);
  // Also where the browser kept its cookies.
  for (const [name, value] of cookies) alice.jar.set(name, value);
  await expectNothingLeft(alice);
  const sent = await alice.fill(page, { code: '123456', saved: 'on' });
  expect(sent.status).toBe(400);
});

test('a session that timed out shows nothing either, nor does the browser that lost it', async () => {
  const { alice } = await begunBy('CONFIGURE_OTP');
  const lost = createPerson(server.baseUrl);
  for (const [name, value] of alice.jar) if (!name.includes('SESSION')) lost.jar.set(name, value);
  await expectNothingLeft(lost);
  await server.pool.query(`update session set last_seen_at = '2000-01-01' where realm_id = $1`, [realm]);
  await expectNothingLeft(alice);
});

test('who cancels is back at their account, and nothing is kept', async () => {
  const { alice, page } = await begunBy('CONFIGURE_OTP');
  expect(page.text).not.toContain('Start again');
  expect(page.text).toContain('Cancel and go back to your account');
  expect(page.text).not.toContain('This sign-in needs');
  const back = await alice.fill(page, { do: 'cancel' });
  expect(new URL(back.url).pathname).toBe(`/realms/${realm}/account`);
  expect(await stored()).toBe(0);
});

test('a sign-in of an application leads back there, not to the account', async () => {
  const alice = createPerson(server.baseUrl);
  const page = await alice.open(authorizePath(realm, 'spa', newVerifier(), { acr_values: '2' }));
  const enrol = await alice.fill(page, { username: 'alice', password: PASSWORD });
  expect(enrol.text).toContain('This sign-in needs a code');
  expect(enrol.text).not.toContain('go back to your account');
  const left = new URL((await alice.fill(enrol, { do: 'cancel' })).url);
  expect([left.pathname.startsWith('/realms/'), left.searchParams.get('error')]).toEqual([false, 'access_denied']);
});

test('who signed in more than five minutes ago signs in again before they set anything up', async () => {
  const alice = await signedIn();
  later(4);
  expect((await setUp(alice, 'CONFIGURE_OTP')).heading).toBe(titles.CONFIGURE_OTP);
  later(2);
  const asked = await setUp(alice, 'CONFIGURE_OTP');
  expect(asked.heading).toBe('Sign in');
  expect(asked.text).toContain('Cancel and go back to your account');
  expect((await alice.fill(asked, { username: 'alice', password: PASSWORD })).heading).toBe(titles.CONFIGURE_OTP);
});

test('what an application’s sign-in sets up is shown for ten minutes after the last proof, and taken no longer', async () => {
  const alice = createPerson(server.baseUrl);
  const page = await alice.open(authorizePath(realm, 'spa', newVerifier(), { acr_values: '2' }));
  const enrol = await alice.fill(page, { username: 'alice', password: PASSWORD });
  const secret = secretOn(enrol);
  later(9);
  expect((await alice.open(`/realms/${realm}/login`)).text).toContain('secret');
  later(2);
  const shown = await alice.fill(enrol, { code: '123456' });
  expect(shown.heading).toBe('Sign in');
  expect(shown.text).not.toContain(secret.slice(0, 4));
  const again = await alice.fill(shown, { username: 'alice', password: PASSWORD });
  expect(secretOn(again)).not.toBe(secret);
});

test('nor is it shown once the password that it rests on was changed', async () => {
  await server.admin.call(putRequiredActions, {
    params: { realm, userId },
    body: { requiredActions: ['CONFIGURE_OTP'] },
  });
  const alice = createPerson(server.baseUrl);
  const enrol = await alice.fill(await account(alice), { username: 'alice', password: PASSWORD });
  expect(enrol.heading).toBe(titles.CONFIGURE_OTP);
  await server.admin.call(setPassword, { params: { realm, userId }, body: { password: 'four dry parasols' } });
  const shown = await alice.open(`/realms/${realm}/login`);
  expect(shown.heading).toBe('You could not be signed in');
});
