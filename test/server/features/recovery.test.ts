// Owns: a forgotten password: the link by mail, what it is good for, and that nobody learns who has an account.
// Does not own: the rules of passwords (password-rules.test.ts), messages (messaging*.test.ts).
// Implements: specification 2.6 (reset-password-email); decisions "Single sign-on and freshness".
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { listMessages } from '../../../server/contract/messages.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { getLockout } from '../../../server/contract/user-access.ts';
import { createUser, mailPasswordReset, putUser, setPassword } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { authorizePath, CALLBACK, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { linkIn, type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson, type Person } from '../../support/person.ts';

const NEXT = 'four dry umbrellas';
let site: MailingServer;
let realm = '';
let userId = '';
const { later } = freshRealms('recovery', startMailingServer, async (started, fresh) => {
  site = started;
  realm = fresh;
  await makePeopledRealm(site.server, realm, []);
  const user = { username: 'ada', password: PASSWORD, email: address(), emailVerified: true };
  const { body } = await site.server.admin.call(createUser, { params: { realm }, body: user });
  userId = body?.id ?? '';
  await site.sendsMail(realm);
});

const address = () => `ada@${realm}.example`;
const person = () => createPerson(site.server.baseUrl);
const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);
async function ask(name: string, who: Person = person()) {
  const page = await who.open(`/realms/${realm}/login/forgot`);
  return who.fill(page, { username: name });
}
async function askedLink(name = 'ada'): Promise<string> {
  await ask(name);
  return linkIn(await site.mailTo(address(), 'opening this link'));
}
const choose = async (link: string, password = NEXT, who = person()) =>
  who.fill(await who.open(link), { password, repeated: password });
async function signIn(password: string, who = person()) {
  return who.fill(await who.open(`/realms/${realm}/login`), { username: 'ada', password });
}
const sessions = async () => (await call(listSessions, { params: { realm } })).body ?? [];

test('who forgot their password gets a link, chooses another, is told so, and signs in with it alone', async () => {
  await signIn(PASSWORD);
  expect(await sessions()).toHaveLength(1);
  const link = await askedLink(address().toUpperCase());
  const page = await choose(link);
  expect(page.heading).toBe('Your password is changed');
  expect(await sessions()).toEqual([]);
  expect((await signIn(PASSWORD)).text).toContain('The username or password is wrong');
  expect((await signIn(NEXT)).url).toContain('/account');
  await site.mailTo(address(), 'your password was changed');
  const { body } = await call(listEvents, { params: { realm }, query: { type: 'PASSWORD_CHANGED' } });
  expect(body?.[0]).toMatchObject({ actor: { id: userId, name: 'ada' }, subject: { id: userId } });
});

test('a link works once, for twenty minutes, and opening it uses nothing up', async () => {
  const link = await askedLink();
  const scanner = person();
  for (let times = 0; times < 3; times += 1) expect((await scanner.open(link)).heading).toBe('Choose a new password');
  await choose(link);
  expect(await person().open(link)).toMatchObject({ status: 400, heading: 'This link does not work here' });
  site.mails.length = 0;
  const late = await askedLink();
  const who = person();
  const page = await who.open(late);
  later(20 * 60_000 + 1);
  expect((await who.fill(page, { password: PASSWORD, repeated: PASSWORD })).status).toBe(400);
});

test('of two links the use of one is the end of the other', async () => {
  const first = await askedLink();
  site.mails.length = 0;
  const second = await askedLink();
  expect((await choose(second)).heading).toBe('Your password is changed');
  expect((await choose(first, 'five more umbrellas')).status).toBe(400);
});

test.each([
  ['another password', () => call(setPassword, { params: { realm, userId }, body: { password: 'six old umbrellas' } })],
  [
    'another address',
    () => call(putUser, { params: { realm, userId }, body: { email: 'eve@example.com', emailVerified: true } }),
  ],
  [
    'an address that is no longer confirmed',
    () => call(putUser, { params: { realm, userId }, body: { emailVerified: false } }),
  ],
  ['a disabled account', () => call(putUser, { params: { realm, userId }, body: { enabled: false } })],
])('a link is worth nothing after %s', async (_, change) => {
  const link = await askedLink();
  await change();
  expect((await person().open(link)).status).toBe(400);
});

test('a form that was left open is refused once something has changed, and the password stays', async () => {
  const who = person();
  const page = await who.open(await askedLink());
  await call(setPassword, { params: { realm, userId }, body: { password: 'six old umbrellas' } });
  expect((await who.fill(page, { password: NEXT, repeated: NEXT })).status).toBe(400);
  expect((await signIn('six old umbrellas')).url).toContain('/account');
});

test('a new password by a link forgives wrong ones, and no guesses of a second factor', async () => {
  await call(putSettings, { params: { realm }, body: { lockoutEnabled: true, maxLoginFailures: 5 } });
  const failures = async () => (await call(getLockout, { params: { realm, userId } })).body?.failures;
  const fail = async () => {
    const who = person();
    await who.fill(await who.open(`/realms/${realm}/login`), { username: 'ada', password: 'wrong wrong' });
  };
  await fail();
  expect(await failures()).toBe(1);
  await choose(await askedLink());
  expect(await failures()).toBe(0);
  await site.server.pool.query(
    `insert into credential (realm_id, id, user_id, type, secret, created_at)
     select realm_id, $2, user_id, 'otp', secret, created_at from credential where user_id = $1 and type = 'password'`,
    [userId, randomUUID()],
  );
  await fail();
  await choose(await askedLink(), `${NEXT} again`);
  expect(await failures()).toBe(1);
});

test('two forms at once change the password once', async () => {
  const who = person();
  const page = await who.open(await askedLink());
  const both = await Promise.all(
    [NEXT, 'five more umbrellas'].map((p) => who.fill(page, { password: p, repeated: p })),
  );
  expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
});

test('the realm’s rules are shown and hold, and what is refused leaves the link as it was', async () => {
  await call(putSettings, { params: { realm }, body: { passwordRequireDigit: true } });
  const link = await askedLink();
  const who = person();
  const page = await who.open(link);
  expect(page.text).toContain('<li>At least 12 characters</li><li>A digit</li>');
  const weak = await who.fill(page, { password: NEXT, repeated: NEXT });
  expect(weak.text).toContain('must have a digit');
  const both = await who.fill(weak, { password: 'short 1', repeated: 'short 2' });
  expect(both.text).toMatch(/id="password-error"><p>[^<]*12 characters/);
  expect(both.text).toContain('id="repeated-error"><p>The two passwords are not the same');
  const same = await who.fill(both, { password: `${NEXT} 1`, repeated: `${NEXT} 2` });
  expect(same.text).toContain('The two passwords are not the same');
  expect((await who.fill(same, { password: `${NEXT} 1`, repeated: `${NEXT} 1` })).heading).toBe(
    'Your password is changed',
  );
});

test('whether there is an account shows in no word, no status, and no mail to anybody else', async () => {
  await call(createUser, {
    params: { realm },
    body: { username: 'unconfirmed', password: PASSWORD, email: 'u@example.com' },
  });
  await call(createUser, { params: { realm }, body: { username: 'bare', password: PASSWORD } });
  const names = ['ada', 'nobody', 'unconfirmed', 'bare', 'u@example.com'];
  const answers = await Promise.all(names.map((name) => ask(name)));
  expect(new Set(answers.map(({ status, heading, text }) => [status, heading, text].join(' '))).size).toBe(1);
  await site.mailTo(address(), 'opening this link');
  const { body } = await call(listMessages, { params: { realm } });
  expect(body?.filter(({ recipient }) => recipient !== null)).toHaveLength(1);
  expect(site.mails.filter(({ to }) => to.includes('u@example.com'))).toEqual([]);
});

test('who goes by a passkey alone is given no password by whoever reads their mail', async () => {
  await site.server.pool.query(`update credential set type = 'webauthn' where realm_id = $1 and user_id = $2`, [
    realm,
    userId,
  ]);
  expect((await ask('ada')).heading).toBe('Check your e-mail');
  const { body } = await call(listEvents, { params: { realm }, query: { type: 'MESSAGE_SUPPRESSED' } });
  expect(body).toHaveLength(1);
});

test('the sign-in page leads there and back to the application', async () => {
  const who = person();
  const page = await who.open(authorizePath(realm, 'spa', newVerifier()));
  const [, path = ''] = /href="([^"]*\/login\/forgot[^"]*)"/.exec(page.text) ?? [];
  const sent = await who.fill(await who.open(path.replaceAll('&amp;', '&')), { username: 'ada' });
  expect(sent.heading).toBe('Check your e-mail');
  // The mail is read in another browser: that one comes to the application, too.
  const other = person();
  const link = linkIn(await site.mailTo(address(), 'opening this link'));
  const done = await choose(link, NEXT, other);
  const [, on = ''] = /class="button full" href="([^"]*)"/.exec(done.text) ?? [];
  const again = await other.open(on.replaceAll('&amp;', '&'));
  expect(again.heading).toBe('Sign in');
  expect((await other.fill(again, { username: 'ada', password: NEXT })).url.startsWith(CALLBACK)).toBe(true);
});

test('it is offered where the realm wants it and sends mail, and nowhere else', async () => {
  const offered = async (at: string) =>
    (await person().open(`/realms/${at}/login`)).text.includes('Forgot your password?');
  expect(await offered(realm)).toBe(true);
  await call(putSettings, { params: { realm }, body: { passwordRecoveryEnabled: false } });
  expect(await offered(realm)).toBe(false);
  expect((await person().open(`/realms/${realm}/login/forgot`)).status).toBe(404);
  expect((await person().post(`/realms/${realm}/login/forgot`, { username: 'ada' })).status).toBe(404);
  await makePeopledRealm(site.server, `${realm}-silent`);
  expect(await offered(`${realm}-silent`)).toBe(false);
});

test('another site’s form, one without a name, and one too many are refused', async () => {
  const sent = async (headers: Record<string, string>) =>
    (await createPerson(site.server.baseUrl, headers).post(`/realms/${realm}/login/forgot`, { username: ' ' })).status;
  expect(await sent({ origin: 'https://evil.example' })).toBe(403);
  expect(await sent({ origin: 'null', 'sec-fetch-site': 'cross-site' })).toBe(403);
  expect(await sent({ origin: 'null', 'sec-fetch-site': 'same-site' })).toBe(403);
  // as Chromium sends a form of a page that says no referrer
  expect(await sent({ origin: 'null', 'sec-fetch-site': 'same-origin' })).not.toBe(403);
  expect((await ask(' ')).text).toContain('Enter your username or e-mail address.');
  for (let times = 0; times < 10; times += 1) await person().post(`/realms/${realm}/login/forgot`, { username: 'x' });
  const refused = await person().post(`/realms/${realm}/login/forgot`, { username: 'ada' });
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  expect(site.mails.filter(({ to }) => to.includes(address()))).toEqual([]);
});

test('links in mails name the server’s own address, whatever host was asked', async () => {
  const liar = createPerson(site.server.baseUrl, { 'x-forwarded-host': 'evil.example' });
  await liar.post(`/realms/${realm}/login/forgot`, { username: 'ada' });
  const mail = await site.mailTo(address(), 'opening this link');
  expect(mail).toContain(`${site.server.baseUrl}/realms/${realm}/login/reset?token=`);
});

test('an administrator has the link mailed; the password stays until the user chooses another', async () => {
  const mailed = (id = userId) => call(mailPasswordReset, { params: { realm, userId: id } });
  const { status, body } = await mailed();
  expect(status).toBe(202);
  expect(body?.expiresAt).toBeGreaterThan(Date.now());
  const link = linkIn(await site.mailTo(address(), 'opening this link'));
  expect((await signIn(PASSWORD)).url).toContain('/account');
  expect((await choose(link)).heading).toBe('Your password is changed');
  expect((await signIn(NEXT)).url).toContain('/account');
  const { body: events } = await call(listEvents, { params: { realm }, query: { type: 'MESSAGE_QUEUED' } });
  expect(events?.map(({ actor }) => actor?.name)).toContain('admin');
});

test('an administrator learns why no link is mailed', async () => {
  const mailed = (id = userId) => call(mailPasswordReset, { params: { realm, userId: id } });
  const because = (words: RegExp) => ({ status: 409, problem: { detail: expect.stringMatching(words) } });
  await call(putUser, { params: { realm, userId }, body: { emailVerified: false } });
  await expect(mailed()).rejects.toMatchObject(because(/no verified e-mail/));
  await call(putUser, { params: { realm, userId }, body: { emailVerified: true, enabled: false } });
  await expect(mailed()).rejects.toMatchObject(because(/disabled/));
  await expect(mailed(randomUUID())).rejects.toMatchObject({ status: 404 });
  const reader = await administrator(site.server, { target: realm, permissions: ['users:read'] });
  await expect(reader.call(mailPasswordReset, { params: { realm, userId } })).rejects.toMatchObject({ status: 403 });
});
