// Owns: the mail about a sign-in on a new device, and what "this wasn't me" does.
// Does not own: what a device adds to a sign-in's risk (sign-in.test.ts), the page of a new password (recovery.test.ts).
// Implements: specification 2.6 (new-device-email).
import { expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { putMessageTemplate } from '../../../server/contract/message-templates.ts';
import { listMessages } from '../../../server/contract/messages.ts';
import { deleteMessagingProvider } from '../../../server/contract/messaging.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser, getUser, listCredentials, putUser, setPassword } from '../../../server/contract/users.ts';
import { type AccountCall, createAccountCaller } from '../../support/account-api.ts';
import { CALLBACK, makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { codeAt } from '../../support/authenticator-app.ts';
import { makeClient } from '../../support/clients.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { codeIn, linkIn, type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson, type Person } from '../../support/person.ts';

const NEXT = 'four dry umbrellas';
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
let site: MailingServer;
let realm = '';
let userId = '';
const { later, seconds } = freshRealms('newdevice', startMailingServer, async (started, fresh) => {
  site = started;
  realm = fresh;
  await makePeopledRealm(site.server, realm, []);
  const app = { clientId: 'manager', tokenEndpointAuthMethod: 'none' as const, redirectUris: [CALLBACK] };
  await makeClient(site.server, realm, { ...app, optionalClientScopes: ['account'] });
  const user = { username: 'ada', password: PASSWORD, email: address(), emailVerified: true };
  const { body } = await call(createUser, { params: { realm }, body: user });
  userId = body?.id ?? '';
  await site.sendsMail(realm);
});

const address = () => `ada@${realm}.example`;
const browser = (headers: Record<string, string> = {}) => createPerson(site.server.baseUrl, headers);
const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);
const signIn = async (who: Person, password = PASSWORD) =>
  who.fill(await who.open(`/realms/${realm}/login`), { username: 'ada', password });
const notice = () => site.mailTo(address(), 'on a device that we have not seen before');
const notices = async () =>
  ((await call(listMessages, { params: { realm }, query: {} })).body ?? []).filter(
    ({ templateKey }) => templateKey === 'new-device-email',
  );
/** In steps in which the administrator’s session of these tests stays in use. */
async function anHourLater(): Promise<void> {
  for (let times = 0; times < 3; times += 1) {
    later(25 * 60_000);
    await notices();
  }
}
const sessions = async () => (await call(listSessions, { params: { realm } })).body ?? [];
const events = async (type: 'SIGN_IN_REPORTED' | 'SESSION_ENDED') =>
  (await call(listEvents, { params: { realm }, query: { type } })).body ?? [];
const failures = async () =>
  ((await call(listEvents, { params: { realm }, query: { type: 'LOGIN_FAILURE' } })).body ?? []).map(
    ({ data }) => data.reason,
  );
async function enrolOtp(me: AccountCall, label: string): Promise<{ id: string; secret: string }> {
  const { ticket, secret } = Object((await me('POST', 'credentials/otp/start')).body);
  const made = await me('POST', 'credentials/otp', { ticket, code: codeAt(secret, seconds() * 1000), label });
  expect(made.status).toBe(201);
  return { id: Object(made.body).id, secret };
}
async function stranger(): Promise<{ who: Person; link: string }> {
  await signIn(browser());
  later(60_000);
  const who = browser({ 'user-agent': CHROME });
  await signIn(who);
  return { who, link: linkIn(await notice()) };
}

test('a sign-in on a second device is told by mail, with the device, the address and the time; a new account’s first one is not', async () => {
  const home = browser();
  await signIn(home);
  expect(await notices()).toEqual([]);
  await signIn(browser({ 'user-agent': CHROME }));
  const mail = await notice();
  expect(mail).toContain('Chrome on Linux');
  expect(mail).toContain('127.0.0.1');
  expect(mail).toMatch(/[A-Z][a-z]+ \d{1,2}, 20\d\d.* \d\d:\d\d UTC/);
  await home.post(`/realms/${realm}/account/sign-out`, {
    csrf: (await home.open(`/realms/${realm}/account`)).fields.csrf ?? '',
  });
  await signIn(home);
  expect(await notices()).toHaveLength(1);
});

test('the first browser is told of where the account has been there longer, and not on one of just now', async () => {
  await signIn(browser());
  expect(await notices()).toEqual([]);
  const body = { username: 'bea', password: PASSWORD, email: `bea@${realm}.example`, emailVerified: true };
  await call(createUser, { params: { realm }, body });
  await anHourLater();
  const who = browser({ 'user-agent': CHROME });
  await who.fill(await who.open(`/realms/${realm}/login`), { username: 'bea', password: PASSWORD });
  expect(await site.mailTo(body.email, 'on a device that we have not seen before')).toContain('Chrome on Linux');
  expect(await notices()).toHaveLength(1);
});

test('who never agreed that a browser is remembered has none that could be new', async () => {
  await call(putSettings, { params: { realm }, body: { deviceRemembering: 'ask' } });
  await anHourLater();
  for (let times = 0; times < 2; times += 1) expect((await signIn(browser())).url).toContain('/account');
  expect(await notices()).toEqual([]);
});

test('nothing is told, and no device remembered, where the realm does not want it, nor to an address that nobody has confirmed', async () => {
  await call(putSettings, { params: { realm }, body: { newDeviceNoticeEnabled: false } });
  const who = browser();
  await signIn(who);
  expect([...who.jar.keys()].filter((name) => name.includes('DEVICE'))).toEqual([]);
  await call(putSettings, { params: { realm }, body: { newDeviceNoticeEnabled: true } });
  await call(putUser, { params: { realm, userId }, body: { emailVerified: false } });
  for (let times = 0; times < 3; times += 1) expect((await signIn(browser())).url).toContain('/account');
  expect(await notices()).toEqual([]);
});

test('whoever says that it was not them ends every session, and chooses a new password at once', async () => {
  const { who, link } = await stranger();
  const home = browser();
  const page = await home.open(link);
  expect(page).toMatchObject({ status: 200, heading: 'Wasn’t that you?' });
  expect(page.text).toContain('ada');
  const choose = await home.fill(page, {});
  expect(choose.heading).toBe('Choose a new password');
  expect(await sessions()).toEqual([]);
  expect((await who.open(`/realms/${realm}/account`)).heading).toBe('Sign in');
  expect((await signIn(browser(), PASSWORD)).text).toContain('The username or password is wrong');
  expect(await failures()).toEqual(['reported']);
  expect((await call(listCredentials, { params: { realm, userId } })).body).toMatchObject([{ reported: true }]);
  expect((await events('SIGN_IN_REPORTED'))[0]).toMatchObject({ actor: { id: userId }, subject: { id: userId } });
  expect((await events('SESSION_ENDED')).map(({ data }) => data.reason)).toEqual(['reported', 'reported']);
  const again = await home.fill(choose, { password: PASSWORD, repeated: PASSWORD });
  expect(again.text).toContain('must not be the old one');
  expect((await home.fill(again, { password: NEXT, repeated: NEXT })).heading).toBe('Your password is changed');
  expect((await signIn(browser(), PASSWORD)).text).toContain('The username or password is wrong');
  expect((await signIn(browser(), NEXT)).url).toContain('/account');
});

test('opening the link does nothing, however often, and its button works once, for a week', async () => {
  const { link } = await stranger();
  const scanner = browser();
  for (let times = 0; times < 3; times += 1) expect((await scanner.open(link)).status).toBe(200);
  expect(await sessions()).toHaveLength(2);
  const home = browser();
  const page = await home.open(link);
  await home.fill(page, {});
  expect(await home.fill(page, {})).toMatchObject({ status: 400, heading: 'This link does not work here' });
  expect(await scanner.open(link)).toMatchObject({ status: 400, heading: 'This link does not work here' });
  expect(await events('SIGN_IN_REPORTED')).toHaveLength(1);
});

test('a link of a week ago, one that nobody made, and a form from another site do nothing', async () => {
  const { link } = await stranger();
  const who = browser();
  const page = await who.open(link);
  expect((await who.open(link.replace(/token=.*/, 'token=none'))).status).toBe(400);
  expect((await who.post(`/realms/${realm}/login/not-me`, {})).status).toBe(400);
  const elsewhere = browser({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' });
  expect((await elsewhere.post(`/realms/${realm}/login/not-me`, page.fields)).status).toBe(403);
  expect(await events('SIGN_IN_REPORTED')).toEqual([]);
  later(7 * 24 * 3_600_000 + 1);
  expect((await who.fill(page, {})).status).toBe(400);
});

test('two clicks at once report once', async () => {
  const { link } = await stranger();
  const who = browser();
  const page = await who.open(link);
  await Promise.all([who.fill(page, {}), who.fill(page, {})]);
  expect(await events('SIGN_IN_REPORTED')).toHaveLength(1);
});

test('the device of a reported sign-in is a stranger’s again, and a sign-in that was under way there goes no further', async () => {
  const { who, link } = await stranger();
  const half = browser({ 'user-agent': CHROME });
  await call(putUser, { params: { realm, userId }, body: { requiredActions: ['UPDATE_PROFILE'] } });
  const profile = await signIn(half);
  expect(profile.heading).toBe('Your profile');
  const home = browser();
  const choose = await home.fill(await home.open(link), {});
  expect((await half.open(`/realms/${realm}/login`)).heading).not.toBe('Your profile');
  await home.fill(choose, { password: NEXT, repeated: NEXT });
  site.mails.length = 0;
  await call(putUser, { params: { realm, userId }, body: { requiredActions: [] } });
  await signIn(who, NEXT);
  await notice();
});

test('where no password can be set by mail, the page says who gives a new one, and nobody is let in by the old one', async () => {
  await call(putSettings, { params: { realm }, body: { passwordRecoveryEnabled: false } });
  const { link } = await stranger();
  const who = browser();
  const ended = await who.fill(await who.open(link), {});
  expect(ended.heading).toBe('Everybody is signed out');
  expect(ended.text).toContain('The password of your account no longer works');
  expect(await sessions()).toEqual([]);
  expect((await signIn(browser())).text).toContain('The username or password is wrong');
  await call(setPassword, { params: { realm, userId }, body: { password: NEXT } });
  expect((await signIn(browser(), NEXT)).url).toContain('/account');
});

test('whoever has the password and asks first gets no further: neither by the link’s page, nor by a link for a new password', async () => {
  const { link } = await stranger();
  const home = browser();
  await home.fill(await home.open(link), {});
  const thief = browser({ 'user-agent': CHROME });
  for (let times = 0; times < 3; times += 1)
    expect((await signIn(thief)).text).toContain('The username or password is wrong');
  expect((await thief.open(link)).status).toBe(400);
  const forgot = await thief.open(`/realms/${realm}/login/forgot`);
  await thief.fill(forgot, { username: 'ada' });
  // The owner alone reads the mail, and loses nothing by its having been asked for.
  const mailed = linkIn(await site.mailTo(address(), 'opening this link'));
  expect((await home.fill(await home.open(mailed), { password: NEXT, repeated: NEXT })).heading).toBe(
    'Your password is changed',
  );
  expect((await signIn(browser(), NEXT)).url).toContain('/account');
});

test('what was set up since the sign-in goes, and an address that was set since gets no password; what was there before stays', async () => {
  const account = createAccountCaller(site.server, realm);
  const home = browser();
  const before = await enrolOtp(await account.bySession('ada', home), 'Mine');
  later(600_000);
  const thief = browser({ 'user-agent': CHROME });
  const asked = await signIn(thief);
  await thief.fill(asked, { code: codeAt(before.secret, seconds() * 1000) });
  const link = linkIn(await notice());
  const theirs = await account.bySession('ada', thief);
  const after = await enrolOtp(theirs, 'Theirs');
  const stolen = `thief@${realm}.example`;
  const { ticket } = Object((await theirs('POST', 'email', { email: stolen })).body);
  const code = codeIn(await site.mailTo(stolen, 'enter this code'));
  expect((await theirs('PUT', 'email', { ticket, code })).status).toBe(204);
  const report = await home.fill(await home.open(link), {});
  expect(report.heading).toBe('Everybody is signed out');
  const left = (await call(listCredentials, { params: { realm, userId } })).body?.map(({ id }) => id);
  expect(left).toContain(before.id);
  expect(left).not.toContain(after.id);
  expect((await call(getUser, { params: { realm, userId } })).body).toMatchObject({
    email: stolen,
    emailVerified: false,
  });
  site.mails.length = 0;
  await thief.fill(await thief.open(`/realms/${realm}/login/forgot`), { username: 'ada' });
  await call(putUser, { params: { realm, userId }, body: { email: address(), emailVerified: true } });
  await home.fill(await home.open(`/realms/${realm}/login/forgot`), { username: 'ada' });
  await site.mailTo(address(), 'opening this link');
  expect(site.mails.filter(({ to }) => to.includes(stolen))).toEqual([]);
});

test('a sign-in that had shown the password before the report, and its second proof after it, comes to nothing', async () => {
  const account = createAccountCaller(site.server, realm);
  const { secret } = await enrolOtp(await account.bySession('ada', browser()), 'Mine');
  later(600_000);
  const thief = browser({ 'user-agent': CHROME });
  await thief.fill(await signIn(thief), { code: codeAt(secret, seconds() * 1000) });
  const link = linkIn(await notice());
  later(60_000);
  const half = browser({ 'user-agent': CHROME });
  const asked = await signIn(half);
  expect(asked.fields).toHaveProperty('code');
  const home = browser();
  await home.fill(await home.open(link), {});
  await half.fill(asked, { code: codeAt(secret, seconds() * 1000) });
  expect((await half.open(`/realms/${realm}/account`)).heading).toBe('Sign in');
  expect(await sessions()).toEqual([]);
});

test('a realm that sends no mail remembers no browsers for it', async () => {
  await call(deleteMessagingProvider, { params: { realm, channel: 'EMAIL', driver: 'smtp' } });
  const who = browser();
  await signIn(who);
  expect([...who.jar.keys()].filter((name) => name.includes('DEVICE'))).toEqual([]);
});

test('a realm’s own words are sent, and a person’s step to a second proof in their session tells nothing', async () => {
  const template = {
    templateKey: 'new-device-email',
    locale: 'en',
    subject: 'Was it you?',
    body: '{{device}} {{link}}',
  } as const;
  await call(putMessageTemplate, { params: { realm }, body: template });
  await signIn(browser());
  const who = browser();
  await signIn(who);
  await site.mailTo(address(), 'Was it you?');
  const removed = (await who.open(`/realms/${realm}/account`)).fields;
  later(600_000);
  for (const name of who.jar.keys()) if (name.includes('DEVICE')) who.jar.delete(name);
  const again = await who.post(`/realms/${realm}/account/change`, {
    csrf: removed.csrf ?? '',
    action: 'UPDATE_PASSWORD',
  });
  await who.fill(again, { username: 'ada', password: PASSWORD });
  expect(await notices()).toHaveLength(1);
});

test('who has only the mailbox that the mail went to signs everybody out, and sets no password', async () => {
  const { link } = await stranger();
  await call(putUser, { params: { realm, userId }, body: { email: `new@${realm}.example`, emailVerified: true } });
  const former = browser();
  const after = await former.fill(await former.open(link), {});
  expect([after.heading, after.url.includes('reset')]).toEqual(['Everybody is signed out', false]);
  expect(await sessions()).toEqual([]);
});

test('mails that anybody causes keep no notice away, and a header writes no words into one', async () => {
  await signIn(browser());
  const forgot = browser();
  for (let times = 0; times < 11; times += 1)
    await forgot.fill(await forgot.open(`/realms/${realm}/login/forgot`), { username: 'ada' });
  await signIn(browser({ 'user-agent': 'Locked. Go to https://evil.example/x y' }));
  const mail = await notice();
  expect(mail).toContain('127.0.0.1');
  expect(mail).not.toContain('evil.example');
  expect(mail).not.toContain('Locked');
});

test('a realm’s count of mails keeps no notice away, unless it sends none at all', async () => {
  await signIn(browser());
  await call(putSettings, { params: { realm }, body: { maxEmailsPerHour: 1 } });
  const forgot = browser();
  for (let times = 0; times < 3; times += 1)
    await forgot.fill(await forgot.open(`/realms/${realm}/login/forgot`), { username: 'ada' });
  await signIn(browser({ 'user-agent': CHROME }));
  expect(await notice()).toContain('Chrome on Linux');
  await call(putSettings, { params: { realm }, body: { maxEmailsPerHour: 0 } });
  const suppressed = async () =>
    (await call(listEvents, { params: { realm }, query: { type: 'MESSAGE_SUPPRESSED' } })).body?.length ?? 0;
  const before = await suppressed();
  await signIn(browser({ 'user-agent': CHROME }));
  await expect.poll(suppressed).toBeGreaterThan(before);
});

test('a report goes back to the first sign-in that was told of and not reported', async () => {
  const account = createAccountCaller(site.server, realm);
  const home = browser();
  const before = await enrolOtp(await account.bySession('ada', home), 'Mine');
  const strange = async () => {
    later(600_000);
    const who = browser({ 'user-agent': CHROME });
    await who.fill(await signIn(who), { code: codeAt(before.secret, seconds() * 1000) });
    return { who, link: linkIn(await notice()) };
  };
  const monday = await strange();
  const theirs = await enrolOtp(await account.bySession('ada', monday.who), 'Theirs');
  site.mails.length = 0;
  const tuesday = await strange();
  expect(tuesday.link).not.toBe(monday.link);
  await home.fill(await home.open(tuesday.link), {});
  const left = (await call(listCredentials, { params: { realm, userId } })).body?.map(({ id }) => id);
  expect(left).toContain(before.id);
  expect(left).not.toContain(theirs.id);
  expect((await home.open(monday.link)).heading).not.toBe('Wasn’t that you?');
});
