// Owns: who knew a sign-in's cookie before somebody proved anything in it is left where they were (session fixation).
// Does not own: what a cookie holds and repeats (sign-in.cookie.test.ts), sessions' own cookies (sessions.test.ts).
import { expect, test } from 'vitest';
import { type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { putRequiredActions } from '../../../server/contract/users.ts';
import { createAccountCaller } from '../../support/account-api.ts';
import { authorizePath, CALLBACK, newVerifier, PASSWORD } from '../../support/applications.ts';
import { setUpApp } from '../../support/authenticator-app.ts';
import { addressOn, deviceFor } from '../../support/devices.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const COOKIE = 'SVC_SIGN_IN';
const NEW_PASSWORD = 'Choose a new password';
const ada = { username: 'ada', password: PASSWORD };
let server: TestServer;
let realm = '';
let id = '';
let account: ReturnType<typeof createAccountCaller>;
const { later, seconds } = freshRealms('fix', startTestServer, async (started, fresh) => {
  server = started;
  realm = fresh;
  account = createAccountCaller(server, realm);
  id = await account.make();
});

const settings = (body: { requireMfa?: boolean }) => server.admin.call(putSettings, { params: { realm }, body });
const look = (person: Person) => person.open(`/realms/${realm}/login`);
const chosen = (password: string) => ({ password, repeated: password });
const hasCode = ({ url }: ShownPage) => url.startsWith(`${CALLBACK}?code=`);
async function holdsApp(): Promise<() => string> {
  const code = await setUpApp(await account.byToken(), () => seconds() * 1000);
  later(31_000);
  return code;
}

/** Somebody who knows the cookies of the other's browser as they are now. */
function spyOn(other: Person): Person {
  const spy = createPerson(server.baseUrl);
  for (const [name, value] of other.jar) spy.jar.set(name, value);
  return spy;
}
async function begin(): Promise<{ victim: Person; page: ShownPage; spy: Person }> {
  const victim = createPerson(server.baseUrl);
  const page = await victim.open(authorizePath(realm, 'manager', newVerifier()));
  return { victim, page, spy: spyOn(victim) };
}

test('who knew the cookie sees no page behind the other’s password, and sets no new one', async () => {
  const body = { requiredActions: ['UPDATE_PASSWORD' as const] };
  await server.admin.call(putRequiredActions, { params: { realm, userId: id }, body });
  const { victim, page, spy } = await begin();
  const next = await victim.fill(page, ada);
  expect(next.heading).toBe(NEW_PASSWORD);
  expect((await look(spy)).heading).toBe('Sign in');
  const forged = await spy.post(`/realms/${realm}/login`, {
    ...next.fields,
    do: 'next',
    ...chosen('mine from now on'),
  });
  expect(hasCode(forged)).toBe(false);
  expect(hasCode(await victim.fill(next, chosen('four dry umbrellas')))).toBe(true);
});

test('who knew the cookie sets up no second factor behind the other’s password', async () => {
  await settings({ requireMfa: true });
  const { victim, page, spy } = await begin();
  expect((await victim.fill(page, ada)).heading).toBe('Set up a second factor');
  expect((await look(spy)).heading).toBe('Sign in');
  expect((await look(victim)).heading).toBe('Set up a second factor');
});

test('who knew the cookie guesses no code behind the other’s password, nor goes on behind the code', async () => {
  const code = await holdsApp();
  const flow: ExecutionInput[] = [
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
    { authenticatorId: 'otp', requirement: 'REQUIRED' },
  ];
  await server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions: flow } });
  const body = { requiredActions: ['UPDATE_PASSWORD' as const] };
  await server.admin.call(putRequiredActions, { params: { realm, userId: id }, body });
  const { victim, page, spy } = await begin();
  // A row of its own, as a wrong password makes one: what the spy knows is what counts on.
  const wrong = await victim.fill(page, { ...ada, password: 'wrong' });
  const stored = spyOn(victim);
  const asked = await victim.fill(wrong, ada);
  expect(asked.heading).toBe('Enter your code');
  const behindPassword = spyOn(victim);
  for (const one of [spy, stored]) expect((await look(one)).heading).toBe('Sign in');
  const next = await victim.fill(asked, { code: code() });
  expect(next.heading).toBe(NEW_PASSWORD);
  expect((await look(behindPassword)).heading).toBe('Enter your code');
});

test('who clicks twice on a step between is led on, though nobody reads the first answer', async () => {
  await settings({ requireMfa: true });
  const { victim, page } = await begin();
  const wrong = await victim.fill(page, { ...ada, password: 'wrong' });
  const before = victim.jar.get(COOKIE) ?? '';
  await victim.fill(wrong, ada);
  const first = victim.jar.get(COOKIE);
  victim.jar.set(COOKIE, before);
  expect((await victim.fill(wrong, ada)).heading).toBe('Set up a second factor');
  expect(victim.jar.get(COOKIE)).toBe(first);
});

test('the same form a minute later leads its sender nowhere without a proof of its own', async () => {
  const code = await holdsApp();
  const body = { requiredActions: ['UPDATE_PASSWORD' as const] };
  await server.admin.call(putRequiredActions, { params: { realm, userId: id }, body });
  const { victim, page } = await begin();
  const asked = await victim.fill(page, ada);
  const spy = spyOn(victim);
  const form = { code: code() };
  expect((await victim.fill(asked, form)).heading).toBe(NEW_PASSWORD);
  later(61_000);
  expect((await spy.fill(asked, form)).heading).not.toBe(NEW_PASSWORD);
});

test('the form of a page before leads back to where the sign-in stands', async () => {
  await settings({ requireMfa: true });
  const { victim, page } = await begin();
  await victim.fill(page, ada);
  expect((await victim.fill(page, ada)).heading).toBe('Set up a second factor');
});

test.each([[[]], [['UPDATE_PASSWORD' as const]]])(
  'who knew the cookie is not signed in by what a device confirmed for the other, with %j to be done',
  async (requiredActions) => {
    const flow: ExecutionInput[] = [{ authenticatorId: 'qr', requirement: 'REQUIRED' }];
    await server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions: flow } });
    const device = await deviceFor(server, realm, id, { clock: seconds });
    await server.admin.call(putRequiredActions, { params: { realm, userId: id }, body: { requiredActions } });
    const { victim, page, spy } = await begin();
    expect((await device.confirm(addressOn(page))).status).toBe(204);
    const { csrf = '', step = '' } = page.fields;
    const next = await look(victim);
    expect(hasCode(next) || next.heading === NEW_PASSWORD).toBe(true);
    // All of it follows from the cookie, as it does where the page goes on by itself.
    const forged = await spy.post(`/realms/${realm}/login`, { csrf, step, do: 'next' });
    expect(hasCode(forged)).toBe(false);
    expect((await look(spy)).heading).toBe('Sign in with your device');
  },
);
