// Owns: how often codes can be guessed: of a person, of an address that is nobody's, in a realm as a whole, over all replicas.
// Does not own: single codes and who may use them (message-factors.test.ts, verify-email.test.ts, mfa.test.ts).
// Implements: decisions "Guessed codes".
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { putFlow } from '../../../server/contract/flows.ts';
import { getSettings, putSettings, type SettingsInput } from '../../../server/contract/settings.ts';
import { deleteLockout, getLockout } from '../../../server/contract/user-access.ts';
import { createUser } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

/** Every code is the same one, so that it is known where nobody was sent it. */
const SIX = '424242';
const EIGHT = '00424242';
const DAY_MS = 86_400_000;
const ENV = { USER_REGISTRATION_ENABLED: 'true', SVC_TRUST_PROXY: '127.0.0.1' };

const { randomInt } = crypto;
const replaceRandomInt = (by: unknown) => {
  Object.assign(crypto, { randomInt: by });
  syncBuiltinESMExports();
};

let site: MailingServer;
let server: TestServer;
let replica: TestServer;
let clock = new Date();
let realm = '';
let made = 0;
let addresses = 0;
beforeAll(async () => {
  const now = () => clock;
  replaceRandomInt((least: number, most?: number) => (most === undefined ? Number(SIX) : randomInt(least, most)));
  site = await startMailingServer({ env: ENV, now });
  server = site.server;
  replica = await startTestServer({ env: ENV, now, beside: server, jobs: false });
});
afterAll(async () => {
  replaceRandomInt(randomInt);
  await replica?.stop();
  await site?.stop();
});
beforeEach(async () => {
  clock = new Date();
  server.admin = await administrator();
  made += 1;
  realm = `guessed${made}`;
  await makePeopledRealm(server, realm, []);
  await site.sendsMail(realm);
});
/** Whose session doesn't end by the clock. */
const administrator = () => server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
const asksForCodes = () => {
  const executions = (['username-password', 'email-otp'] as const).map((authenticatorId) => ({
    authenticatorId,
    requirement: 'REQUIRED' as const,
  }));
  return server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
};
const set = (body: SettingsInput) => server.admin.call(putSettings, { params: { realm }, body });
const events = async (type: string) =>
  (await (await administrator()).call(listEvents, { params: { realm }, query: { type, limit: 500 } })).body ?? [];
const make = async (username: string): Promise<string> => {
  const body = { username, password: PASSWORD, email: `${username}@${realm}.example`, emailVerified: true };
  return (await server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
};
/** Each from an address of its own: what one address may do is another test's. */
const person = (of = server): Person => {
  addresses += 1;
  const address = `2001:db8:${Math.floor(addresses / 65_536)}:${(addresses % 65_536).toString(16)}::1`;
  return createPerson(of.baseUrl, { 'x-forwarded-for': address });
};
const signIn = async (username: string): Promise<{ who: Person; page: ShownPage }> => {
  const who = person();
  return { who, page: await who.fill(await who.open(`/realms/${realm}/login`), { username, password: PASSWORD }) };
};
const isIn = ({ url }: ShownPage) => url.includes('/account');
async function guess(who: Person, page: ShownPage, times: number, wrong: string): Promise<ShownPage> {
  let shown = page;
  for (let tries = 0; tries < times; tries += 1) shown = await who.fill(shown, { code: wrong });
  return shown;
}

test('codes that went to an address are guessed twenty times an hour, by however many, at however many replicas', async () => {
  await set({ registrationEnabled: true, registrationVerifyEmail: true });
  const email = `new@${realm}.example`;
  const register = async (of: TestServer) => {
    const who = person(of);
    const form = await who.open(`/realms/${realm}/register`);
    const page = await who.fill(form, { email, password: PASSWORD, repeated: PASSWORD });
    expect(page.heading).toBe('Confirm your e-mail address');
    return { who, page };
  };
  for (const one of [server, replica, server, replica]) {
    const { who, page } = await register(one);
    expect((await guess(who, page, 5, '99999999')).text).toContain('That code is not right.');
  }
  for (const one of [server, replica]) {
    const { who, page } = await register(one);
    expect(isIn(await who.fill(page, { code: EIGHT }))).toBe(false);
  }
  clock = new Date(clock.getTime() + 3_600_000);
  const { who, page } = await register(replica);
  expect(isIn(await who.fill(page, { code: EIGHT }))).toBe(true);
});

test('a code that a limit kept back is worth nothing, though its page is the same', async () => {
  await set({ maxMessagesPerRecipientPerHour: 1, registrationEnabled: true, registrationVerifyEmail: true });
  const email = `new@${realm}.example`;
  const register = async () => {
    const who = person();
    const form = await who.open(`/realms/${realm}/register`);
    return { who, page: await who.fill(form, { email, password: PASSWORD, repeated: PASSWORD }) };
  };
  const [one, two] = [await register(), await register()];
  expect(two.page.heading).toBe(one.page.heading);
  expect((await two.who.fill(two.page, { code: EIGHT })).text).toContain('That code is not right.');
  expect(isIn(await one.who.fill(one.page, { code: EIGHT }))).toBe(true);

  await asksForCodes();
  await make('ada');
  const [first, second] = [await signIn('ada'), await signIn('ada')];
  expect([second.page.status, second.page.heading]).toEqual([first.page.status, first.page.heading]);
  expect((await events('MESSAGE_SUPPRESSED')).length).toBe(2);
  expect((await second.who.fill(second.page, { code: SIX })).text).toContain('That code is not right.');
  expect(isIn(await first.who.fill(first.page, { code: SIX }))).toBe(true);
});

test('codes of a person are looked at thirty times a day, however short the realm’s lock is', async () => {
  await set({ lockoutEnabled: true, maxLoginFailures: 1000, lockoutDurationSeconds: 60 });
  await asksForCodes();
  const userId = await make('ada');
  const began = clock.getTime();
  for (let sent = 0; sent < 6; sent += 1) {
    const { who, page } = await signIn('ada');
    expect((await guess(who, page, 5, '999999')).text).toContain('That code is not right.');
    clock = new Date(clock.getTime() + 3_600_000);
  }
  const reasons = (await events('LOGIN_FAILURE')).map(({ data }) => data.reason);
  const lookedAt = reasons.filter((reason) => reason === 'email-otp-wrong').length;
  expect(lookedAt).toBe(30);
  // An app's code is right in three of its periods: of a million who are guessed at all day, these are found out.
  expect((lookedAt * 3) / 1e6).toBeLessThanOrEqual(1e-4);
  const [locked] = await events('USER_LOCKED');
  expect(locked?.data).toMatchObject({ failures: 30 });

  const tryRight = async () => {
    const { who, page } = await signIn('ada');
    return isIn(await who.fill(page, { code: SIX }));
  };
  expect(await tryRight()).toBe(false);
  const { body: lockout } = await (await administrator()).call(getLockout, { params: { realm, userId } });
  expect(lockout).toMatchObject({ locked: true, lockedUntil: began + DAY_MS });
  clock = new Date(began + DAY_MS + 1000);
  expect(await tryRight()).toBe(true);
});

test('an administrator opens them again before the day is over', async () => {
  await set({ lockoutEnabled: true, maxLoginFailures: 1000 });
  await asksForCodes();
  const userId = await make('ada');
  for (let sent = 0; sent < 6; sent += 1) {
    const { who, page } = await signIn('ada');
    await guess(who, page, 5, '999999');
  }
  await server.admin.call(deleteLockout, { params: { realm, userId } });
  const { who, page } = await signIn('ada');
  expect(isIn(await who.fill(page, { code: SIX }))).toBe(true);
});

test('a hundred wrong codes in a realm’s hour are told of, and lock nobody whose code was not guessed', async () => {
  await asksForCodes();
  const names = Array.from({ length: 10 }, (_, n) => `person${n}`);
  for (const name of [...names, 'bystander']) await make(name);
  for (const name of names) {
    expect(await events('CODES_GUESSED')).toEqual([]);
    for (let sent = 0; sent < 2; sent += 1) {
      const { who, page } = await signIn(name);
      await guess(who, page, 5, '999999');
    }
  }
  expect((await events('CODES_GUESSED')).map(({ data }) => data)).toMatchObject([{ wrong: 100 }]);
  const metrics = await (await fetch(`${server.baseUrl}/actuator/metrics-text`)).text();
  expect(metrics).toContain(`svc_wrong_codes_total{realm="${realm}"} 100\n`);
  const { who, page } = await signIn('bystander');
  expect(isIn(await who.fill(page, { code: SIX }))).toBe(true);
});

test('the codes that a fresh realm sends in a day let strangers confirm less than one address in a month', async () => {
  const { body: settings } = await server.admin.call(getSettings, { params: { realm } });
  const sentInAnHour = (settings?.maxEmailsPerHour ?? Infinity) + (settings?.maxSmsPerHour ?? Infinity);
  await set({ registrationEnabled: true, registrationVerifyEmail: true });
  const who = person();
  const form = await who.open(`/realms/${realm}/register`);
  const email = `new@${realm}.example`;
  let shown = await who.fill(form, { email, password: PASSWORD, repeated: PASSWORD });
  let tries = 0;
  for (; tries < 50; tries += 1) {
    shown = await who.fill(shown, { code: '99999999' });
    if (!shown.text.includes('That code is not right.')) break;
  }
  expect(tries).toBe(5);
  expect((await who.fill(shown, { code: SIX })).text).toContain('8 digits');
  expect((30 * 24 * sentInAnHour * tries) / 10 ** EIGHT.length).toBeLessThan(1);
});
