import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createFlow, putFlow } from '../../../server/contract/flows.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { putSettings, type SettingsInput } from '../../../server/contract/settings.ts';
import { createUser, type UserInput } from '../../../server/contract/users.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { createPerson } from '../../support/person.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let clock = new Date('2026-05-04T10:00:00Z');
const PASSWORD = 'three wet umbrellas';
const later = (seconds: number) => {
  clock = new Date(clock.getTime() + seconds * 1000);
};
let made = 0;

beforeAll(async () => {
  server = await startTestServer({ now: () => clock });
});
afterAll(() => server.stop());

// Signed in anew each time: the clock runs faster than an administrator's session lasts.
const admin = () => server.signIn({ username: 'admin', password: ADMIN_PASSWORD });

/** A realm of the test's own with one user. */
async function realmWith(settings: SettingsInput = {}, user: Partial<UserInput> = {}): Promise<string> {
  made += 1;
  const realm = `r${made}`;
  await (await admin()).call(createRealm, { body: { realm } });
  await (await admin()).call(putSettings, { params: { realm }, body: settings });
  await (await admin()).call(createUser, {
    params: { realm },
    body: { username: 'alice', password: PASSWORD, ...user },
  });
  return realm;
}
const person = () => createPerson(server.baseUrl);
const events = async (realm: string, type: string) =>
  (await (await admin()).call(listEvents, { params: { realm }, query: { type } })).body ?? [];
const AUTHORIZE = (realm: string) =>
  `/realms/${realm}/oauth2/authorize?response_type=code&client_id=app&scope=openid&redirect_uri=https%3A%2F%2Fapp.example%2Fcb`;
const codeOf = (secret: string) => codeAt(secret, clock.getTime());

test('a person signs in at the realm and lands on the account page', async () => {
  const realm = await realmWith();
  const alice = person();
  const page = await alice.open(`/realms/${realm}/login`);
  expect(page.heading).toBe('Sign in');
  const account = await alice.fill(page, { username: 'Alice', password: PASSWORD });
  expect(account.url).toContain(`/realms/${realm}/account`);
  expect(account.text).toContain('alice');
  const [login] = await events(realm, 'LOGIN_SUCCESS');
  expect(login).toMatchObject({ actor: { name: 'alice' }, data: { levelOfAssurance: 1, methods: ['pwd'] } });
});

test('a form without name and password has both faults, each at its field', async () => {
  const realm = await realmWith();
  const visitor = person();
  const page = await visitor.fill(await visitor.open(`/realms/${realm}/login`), { username: '', password: '' });
  expect(page.text).toContain('id="username-error"><p>Enter your username or e-mail address.');
  expect(page.text).toContain('id="password-error"><p>Enter your password.');
  expect(page.text.match(/role="alert"/g)).toHaveLength(2);
});

test('unknown, wrong and disabled are told in the same words', async () => {
  const realm = await realmWith();
  await (await admin()).call(createUser, {
    params: { realm },
    body: { username: 'gone', password: PASSWORD, enabled: false },
  });
  const said = [];
  for (const [username, password] of [
    ['nobody', PASSWORD],
    ['alice', 'wrong one here'],
    ['gone', PASSWORD],
  ] as const) {
    const visitor = person();
    const refused = await visitor.fill(await visitor.open(`/realms/${realm}/login`), { username, password });
    said.push(/role="alert"[^>]*>(.*?)<\/div>/s.exec(refused.text)?.[1]);
    expect(refused.status).toBe(200);
  }
  expect(new Set(said).size).toBe(1);
  expect(said[0]).toContain('wrong');
  const reasons = (await events(realm, 'LOGIN_FAILURE')).map((e) => e.data.reason);
  expect(reasons).toEqual(['disabled', 'wrong', 'unknown']);
});

test('a name that is cut in the middle of a character is refused like any other', async () => {
  const realm = await realmWith();
  const visitor = person();
  const username = `${'a'.repeat(254)}😀`;
  const refused = await visitor.fill(await visitor.open(`/realms/${realm}/login`), { username, password: PASSWORD });
  expect(refused.status).toBe(200);
  expect(refused.text).toContain('The username or password is wrong');
});

test('after too many failures the right password is refused too, until the lock is over', async () => {
  const realm = await realmWith({ lockoutEnabled: true, maxLoginFailures: 3, lockoutDurationSeconds: 600 });
  const alice = person();
  let page = await alice.open(`/realms/${realm}/login`);
  for (let i = 0; i < 3; i += 1) page = await alice.fill(page, { username: 'alice', password: `wrong ${i}` });
  page = await alice.fill(page, { username: 'alice', password: PASSWORD });
  expect(page.heading).toBe('Sign in');
  expect((await events(realm, 'USER_LOCKED')).length).toBe(1);
  later(601);
  page = await alice.fill(page, { username: 'alice', password: PASSWORD });
  expect(page.url).toContain('/account');
});

test('many guesses at once get no more tries than one after another', async () => {
  const realm = await realmWith({ lockoutEnabled: true, maxLoginFailures: 3 });
  const guessers = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const guesser = person();
      return { guesser, page: await guesser.open(`/realms/${realm}/login`) };
    }),
  );
  await Promise.all(
    guessers.map(({ guesser, page }, i) => guesser.fill(page, { username: 'alice', password: `g ${i}` })),
  );
  const reasons = (await events(realm, 'LOGIN_FAILURE')).map((e) => e.data.reason);
  expect(reasons.filter((r) => r === 'wrong').length).toBe(3);
  expect(reasons.filter((r) => r === 'locked').length).toBe(5);
});

test('where the realm requires a second factor, a person sets one up while signing in, and uses it next time', async () => {
  const realm = await realmWith({ requireMfa: true });
  const alice = person();
  const setUp = await alice.fill(await alice.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
  expect(setUp.heading).toBe('Set up a second factor');
  const secret = secretOn(setUp);
  expect(setUp.text).toContain('<svg');
  // on the phone itself there is nothing to scan with
  const [, address = ''] = /href="(otpauth:[^"]+)"/.exec(setUp.text) ?? [];
  expect(new URL(address.replaceAll('&amp;', '&')).searchParams.get('secret')).toBe(secret);
  // Looking again doesn't make another secret.
  expect(secretOn(await alice.open(`/realms/${realm}/login`))).toBe(secret);
  const wrong = await alice.fill(setUp, { code: '000000' });
  expect(wrong.text).toContain('not right');
  const account = await alice.fill(wrong, { code: codeOf(secret) });
  expect(account.url).toContain('/account');
  expect((await events(realm, 'CREDENTIAL_CREATED')).length).toBe(1);

  const again = person();
  const ask = await again.fill(await again.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
  expect(ask.heading).toBe('Enter your code');
  const used = await again.fill(ask, { code: codeOf(secret) });
  expect(used.text).toContain('used already');
  later(30);
  expect((await again.fill(used, { code: codeOf(secret) })).url).toContain('/account');
  const [login] = await events(realm, 'LOGIN_SUCCESS');
  expect(login?.data).toMatchObject({ levelOfAssurance: 2, methods: ['pwd', 'otp'] });
  expect((await events(realm, 'MFA_CHALLENGE')).length).toBe(2);
});

test('codes cannot be guessed without end, although the realm locks nobody', async () => {
  const realm = await realmWith({ requireMfa: true });
  const alice = person();
  const setUp = await alice.fill(await alice.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
  const secret = secretOn(setUp);
  await alice.fill(setUp, { code: codeOf(secret) });
  later(120);
  const thief = person();
  let page = await thief.fill(await thief.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
  for (let i = 0; i < 10; i += 1) page = await thief.fill(page, { code: `00000${i}` });
  expect((await events(realm, 'USER_LOCKED')).length).toBe(1);
  later(60);
  expect((await thief.fill(page, { code: codeOf(secret) })).heading).toBe('Enter your code');
  // Entering the password again does not open the way.
  later(60);
  const again = person();
  page = await again.fill(await again.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
  expect((await again.fill(page, { code: codeOf(secret) })).heading).toBe('Enter your code');
});

test('a temporary password has to be changed before anybody is signed in', async () => {
  const realm = await realmWith({}, { passwordTemporary: true });
  const alice = person();
  let page = await alice.fill(await alice.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
  expect(page.heading).toBe('Choose a new password');
  expect((await alice.open(`/realms/${realm}/account`)).heading).toBe('Choose a new password');
  page = await alice.fill(page, { password: 'short', repeated: 'short' });
  expect(page.text).toContain('at least 12 characters');
  page = await alice.fill(page, { password: PASSWORD, repeated: PASSWORD });
  expect(page.text).toContain('must not be the old one');
  page = await alice.fill(page, { password: 'five dry umbrellas', repeated: 'five dry umbrellas' });
  expect(page.url).toContain('/account');
  const again = person();
  page = await again.fill(await again.open(`/realms/${realm}/login`), {
    username: 'alice',
    password: 'five dry umbrellas',
  });
  expect(page.url).toContain('/account');
});

test('a form of another sign-in, or without its token, is refused', async () => {
  const realm = await realmWith();
  const alice = person();
  const page = await alice.open(`/realms/${realm}/login`);
  const fields = { ...page.fields, do: 'next', username: 'alice', password: PASSWORD };
  expect((await alice.post(`/realms/${realm}/login`, { ...fields, csrf: 'x' })).heading).toBe(
    'This sign-in has expired',
  );
  const other = person();
  await other.open(`/realms/${realm}/login`);
  expect((await other.post(`/realms/${realm}/login`, fields)).status).toBe(400);
  const nobody = person();
  expect((await nobody.post(`/realms/${realm}/login`, fields)).status).toBe(400);
});

test('a sign-in that took too long says what to do', async () => {
  const realm = await realmWith();
  const alice = person();
  const page = await alice.open(`/realms/${realm}/login`);
  later(3600);
  const late = await alice.fill(page, { username: 'alice', password: PASSWORD });
  expect(late.heading).toBe('This sign-in has expired');
  expect(late.text).toContain('Start again');
});

test('a session ends by inactivity, and by the hard cap although it is used', async () => {
  const realm = await realmWith({ ssoSessionIdleTimeoutSeconds: 600, ssoSessionMaxLifetimeSeconds: 1500 });
  const alice = person();
  const enter = async () =>
    alice.fill(await alice.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
  await enter();
  for (let i = 0; i < 2; i += 1) {
    later(590);
    expect((await alice.open(`/realms/${realm}/account`)).url).toContain('/account');
  }
  later(400);
  expect((await alice.open(`/realms/${realm}/account`)).heading).toBe('Sign in');
  await enter();
  later(601);
  expect((await alice.open(`/realms/${realm}/account`)).heading).toBe('Sign in');
});

test('a remembered session lasts longer, where the realm offers it', async () => {
  const realm = await realmWith({ rememberMe: true, rememberMeLifetimeSeconds: 864_000 });
  const alice = person();
  const page = await alice.open(`/realms/${realm}/login`);
  expect(page.text).toContain('Keep me signed in');
  await alice.fill(page, { username: 'alice', password: PASSWORD, remember: 'on' });
  later(800_000);
  expect((await alice.open(`/realms/${realm}/account`)).url).toContain('/account');
  later(70_000);
  expect((await alice.open(`/realms/${realm}/account`)).heading).toBe('Sign in');
});

test('above the limit of sessions the oldest ends', async () => {
  const realm = await realmWith({ maxConcurrentSessions: 2 });
  const people = [];
  for (let i = 0; i < 3; i += 1) {
    const alice = person();
    await alice.fill(await alice.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
    people.push(alice);
    later(1);
  }
  const urls = await Promise.all(people.map(async (p) => (await p.open(`/realms/${realm}/account`)).heading));
  expect(urls).toEqual(['Sign in', 'alice', 'alice']);
  expect((await events(realm, 'SESSION_ENDED')).map((e) => e.data.reason)).toEqual(['limit']);
});

test('a person ends another session of theirs, and signs out', async () => {
  const realm = await realmWith();
  const [phone, desk] = [person(), person()];
  for (const device of [phone, desk])
    await device.fill(await device.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
  const account = await desk.open(`/realms/${realm}/account?view=devices`);
  const action = /action="([^"]*\/sessions\/[^"]*)"/.exec(account.text)?.[1] ?? '';
  await desk.post(action, { csrf: 'forged' });
  expect((await phone.open(`/realms/${realm}/account`)).url).toContain('/account');
  await desk.post(action, { csrf: account.fields.csrf ?? '' });
  expect((await phone.open(`/realms/${realm}/account`)).heading).toBe('Sign in');
  const out = await desk.post(`/realms/${realm}/account/sign-out`, { csrf: account.fields.csrf ?? '' });
  expect(out.heading).toBe('Signed out');
  expect((await (await admin()).call(listSessions, { params: { realm } })).body).toEqual([]);
  expect((await events(realm, 'LOGOUT')).length).toBe(1);
});

test('a new device on a realm with a strict policy needs an old factor, and may not set up a new one', async () => {
  const realm = await realmWith({ riskPolicyEnabled: true, riskMediumThreshold: 30, riskHighThreshold: 90 });
  const known = person();
  const enter = async (who: ReturnType<typeof person>) =>
    who.fill(await who.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
  expect((await enter(known)).url).toContain('/account');
  const refused = await enter(person());
  expect(refused.heading).toBe('A second factor is needed');
  const [failure] = await events(realm, 'LOGIN_FAILURE');
  expect(failure?.data).toMatchObject({
    reason: 'no-second-factor',
    risk: { band: 'medium', action: 'step_up', findings: [{ reason: 'new-device', points: 30 }] },
  });
  await (await admin()).call(putSettings, { params: { realm }, body: { riskMediumAction: 'deny' } });
  expect((await enter(person())).heading).toBe('This sign-in was refused');
  expect((await events(realm, 'LOGIN_FAILURE'))[0]?.data).toMatchObject({ reason: 'risk', risk: { action: 'deny' } });
});

test('a known person on a new device proves an old factor, and the device is known from then on', async () => {
  const realm = await realmWith(
    { riskPolicyEnabled: true, riskMediumThreshold: 30, riskHighThreshold: 90 },
    {
      requiredActions: ['CONFIGURE_OTP'],
    },
  );
  const first = person();
  const enter = async (who: ReturnType<typeof person>) =>
    who.fill(await who.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
  const setUp = await enter(first);
  expect(setUp.heading).toBe('Set up a second factor');
  expect(setUp.text).not.toContain('Lost your phone?');
  const secret = secretOn(setUp);
  expect((await first.fill(setUp, { code: codeOf(secret) })).url).toContain('/account');
  later(60);
  const phone = person();
  const ask = await enter(phone);
  expect(ask.heading).toBe('Enter your code');
  expect(ask.text).toContain('Lost your phone?');
  expect(ask.text).toContain('This page has no other way for you. Ask your administrator or help desk');
  expect((await phone.fill(ask, { code: codeOf(secret) })).url).toContain('/account');
  expect((await events(realm, 'LOGIN_SUCCESS'))[0]?.data).toMatchObject({
    risk: { band: 'medium' },
    levelOfAssurance: 2,
  });
});

test('whoever sends the form twice at once is signed in by either answer, each a sign-in of its own', async () => {
  const realm = await realmWith();
  const alice = person();
  const page = await alice.open(`/realms/${realm}/login`);
  const fields = { username: 'alice', password: PASSWORD };
  await Promise.all([alice.fill(page, fields), alice.fill(page, fields)]);
  expect((await alice.open(`/realms/${realm}/account`)).heading).toBe('alice');
  expect((await events(realm, 'LOGIN_SUCCESS')).length).toBe(2);
});

test('another person in the same browser gets a session of their own, and the one before ends', async () => {
  const realm = await realmWith();
  await (await admin()).call(createUser, { params: { realm }, body: { username: 'bob', password: PASSWORD } });
  await (await admin()).call(createClient, {
    params: { realm },
    body: {
      clientId: 'app',
      requirePkce: false,
      redirectUris: ['https://app.example/cb'],
    },
  });
  const shared = person();
  await shared.fill(await shared.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
  const again = await shared.open(`${AUTHORIZE(realm)}&prompt=login`);
  expect(again.fields.username).toBe('alice');
  expect((await shared.fill(again, { username: 'bob', password: PASSWORD })).url).toContain('https://app.example/cb?');
  expect((await shared.open(`/realms/${realm}/account`)).heading).toBe('bob');
  expect((await events(realm, 'SESSION_ENDED')).map((e) => [e.subject?.name, e.data.reason])).toEqual([
    ['alice', 'reauthentication'],
  ]);
});

test('a client’s own flow is walked instead of the realm’s', async () => {
  const realm = await realmWith();
  await (await admin()).call(createFlow, { params: { realm }, body: { alias: 'strict' } });
  const executions = [
    { authenticatorId: 'username-password', requirement: 'REQUIRED' as const },
    { authenticatorId: 'otp', requirement: 'REQUIRED' as const },
  ];
  await (await admin()).call(putFlow, { params: { realm, alias: 'strict' }, body: { executions } });
  await (await admin()).call(createClient, {
    params: { realm },
    body: {
      clientId: 'app',
      requirePkce: false,
      redirectUris: ['https://app.example/cb'],
      flowOverride: 'strict',
    },
  });
  const alice = person();
  const page = await alice.open(AUTHORIZE(realm));
  expect((await alice.fill(page, { username: 'alice', password: PASSWORD })).heading).toBe('Set up a second factor');
});

test('starting again forgets who it was', async () => {
  const realm = await realmWith({ requireMfa: true });
  const alice = person();
  const setUp = await alice.fill(await alice.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
  expect((await alice.fill(setUp, { do: 'restart' })).heading).toBe('Sign in');
  expect((await alice.open(`/realms/${realm}/account`)).heading).toBe('Sign in');
});

test('failures from one network are slowed down, whoever they try', async () => {
  const realm = await realmWith();
  const visitor = createPerson(server.baseUrl, {});
  let page = await visitor.open(`/realms/${realm}/login`);
  for (let i = 0; i < 25 && !page.text.includes('Too many'); i += 1)
    page = await visitor.fill(page, { username: `nobody${i}`, password: 'guess guess guess' });
  expect(page.text).toContain('Too many failed tries from your network');
  later(61);
  expect((await visitor.fill(page, { username: 'alice', password: PASSWORD })).url).toContain('/account');
});

test('pages carry a strict policy and the realm’s look, escaped', async () => {
  const realm = await realmWith({
    displayName: '<b>Acme</b>',
    welcomeText: '<script>alert(1)</script>',
    primaryColor: '#ffee00',
    customCss: '.card { border: 1px solid red }',
    logoUrl: 'https://cdn.example/logo.svg',
  });
  const page = await person().open(`/realms/${realm}/login`);
  const csp = page.headers.get('content-security-policy') ?? '';
  expect(csp).toContain("default-src 'none'");
  expect(csp).toContain("frame-ancestors 'none'");
  expect(csp).toContain('https://cdn.example');
  expect(csp).not.toContain('unsafe');
  expect(page.text).not.toContain('<script>alert');
  expect(page.text).not.toContain('<b>');
  const theme = /href="([^"]*theme\.css[^"]*)"/.exec(page.text)?.[1] ?? '';
  const css = await fetch(server.baseUrl + theme);
  expect(css.headers.get('content-type')).toContain('text/css');
  const text = await css.text();
  expect(text).toContain('--on-primary:#000000');
  expect(text).toContain('.card { border: 1px solid red }');
});

test('a browser that keeps no cookies is told so, and not sent round for ever', async () => {
  const realm = await realmWith();
  const answer = await fetch(`${server.baseUrl}/realms/${realm}/login`);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('allow cookies for this site');
});
