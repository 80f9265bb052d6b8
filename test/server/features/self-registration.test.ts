// Owns: people who make their own accounts: where that is open, what is asked, what is confirmed, and what nobody learns of others.
// Does not own: clients that register (registration.test.ts), the rest of a sign-in.
// Implements: specification 4.2 (self-registration page).
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { getSettings, putSettings, type SettingsInput } from '../../../server/contract/settings.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { createUser, listUsers } from '../../../server/contract/users.ts';
import { sha256 } from '../../../server/crypto/tokens.ts';
import { authorizePath, CALLBACK, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { codeIn, linkIn, type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson, type ShownPage } from '../../support/person.ts';
import { startReplica, startTestServer } from '../../support/server.ts';

const both = { password: PASSWORD, repeated: PASSWORD };
let site: MailingServer;
let clock = new Date();
let realm = '';
let made = 0;
beforeAll(async () => {
  site = await startMailingServer({ env: { USER_REGISTRATION_ENABLED: 'true' }, now: () => clock });
});
afterAll(() => site?.stop());
beforeEach(async () => {
  made += 1;
  realm = `joining${made}`;
  clock = new Date(clock.getTime() + 61_000);
  await makePeopledRealm(site.server, realm, []);
});

const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);
const address = (name = 'ada') => `${name}@${realm}.example`;
const person = () => createPerson(site.server.baseUrl);
const set = (body: SettingsInput) => call(putSettings, { params: { realm }, body });
const people = async () => (await call(listUsers, { params: { realm } })).body ?? [];
const events = async (type: string) => (await call(listEvents, { params: { realm }, query: { type } })).body ?? [];
async function register(fields: Record<string, string> = {}, who = person()) {
  const page = await who.open(`/realms/${realm}/register`);
  return { who, page, after: await who.fill(page, { email: address(), ...both, ...fields }) };
}
const mailed = (to = address()) => site.mailTo(to, 'enter this code');

test('a person makes an account, confirms the address by a code, and is signed in', async () => {
  await site.sendsMail(realm);
  const { who, page, after } = await register({ firstName: 'Ada' });
  expect([page.heading, new URL(page.url).pathname]).toEqual(['Create an account', `/realms/${realm}/register`]);
  expect(after.heading).toBe('Confirm your e-mail address');
  expect(await people()).toEqual([]);
  const done = await who.fill(after, { code: codeIn(await mailed()) });
  expect(done.url).toContain('/account');
  expect(await people()).toMatchObject([
    { username: address(), email: address(), emailVerified: true, firstName: 'Ada', requiredActions: [] },
  ]);
  expect(await events('USER_CREATED')).toMatchObject([{ actor: { name: address() }, data: { registered: true } }]);
  expect((await call(listSessions, { params: { realm } })).body).toMatchObject([{ username: address() }]);
  const again = person();
  const back = await again.fill(await again.open(`/realms/${realm}/login`), {
    username: address(),
    password: PASSWORD,
  });
  expect(back.url).toContain('/account');
});

test('or by the link, in the same browser; in another one it says where to go', async () => {
  await site.sendsMail(realm);
  const { who } = await register();
  const link = linkIn(await mailed());
  expect((await person().open(link)).status).toBe(400);
  const page = await who.open(link);
  expect(page.heading).toBe('Confirm your e-mail address');
  expect(await people()).toEqual([]);
  expect((await who.post(`/realms/${realm}/login`, { ...page.fields, do: 'next' })).url).toContain('/account');
  expect(await people()).toHaveLength(1);
});

test('codes for one address are guessed twenty times an hour at most in a realm, by however many; its link goes on working', async () => {
  await site.sendsMail(realm);
  // Each one's own: a mail may come after the page.
  const mailedOnceThereAre = async (count: number) => {
    await expect.poll(() => site.mails.filter(({ to }) => to.includes(address())).length).toBe(count);
    return mailed();
  };
  const guess = async (stranger: number) => {
    const { who, after } = await register();
    const code = codeIn(await mailedOnceThereAre(stranger));
    let page = after;
    for (let tries = 0; tries < 5; tries += 1)
      page = await who.fill(page, { code: code === '12345678' ? '87654321' : '12345678' });
    return page;
  };
  for (const stranger of [1, 2, 3, 4]) expect((await guess(stranger)).text).toContain('That code is not right.');
  const { who, after } = await register();
  const mail = await mailedOnceThereAre(5);
  expect((await who.fill(after, { code: codeIn(mail) })).text).not.toContain('That code is not right.');
  expect(await people()).toEqual([]);
  const page = await who.open(linkIn(mail));
  expect((await who.post(`/realms/${realm}/login`, { ...page.fields, do: 'next' })).url).toContain('/account');

  // Another realm's codes for the address are as good as ever.
  const email = address();
  made += 1;
  realm = `joining${made}`;
  await makePeopledRealm(site.server, realm, []);
  await site.sendsMail(realm);
  const elsewhere = await register({ email });
  const newest = async () => codeIn(await mailed(email));
  await expect.poll(newest).not.toBe(codeIn(mail));
  expect((await elsewhere.who.fill(elsewhere.after, { code: await newest() })).url).toContain('/account');
});

test('whoever gives an address that has an account sees what all see, and its owner is told', async () => {
  await site.sendsMail(realm);
  await call(createUser, { params: { realm }, body: { username: 'bob', password: PASSWORD, email: address('bob') } });
  const free = await register({ email: address('eve') });
  const taken = await register({ email: address('bob').toUpperCase() });
  const byName = await register({ email: address('bob') });
  const neutral = ({ status, text }: ShownPage) =>
    `${status} ${text.replaceAll(/(?:bob|eve)@|value="[^"]*"/gi, '').toLowerCase()}`;
  expect(neutral(taken.after)).toBe(neutral(free.after));
  expect(neutral(byName.after)).toBe(neutral(free.after));
  const mail = await site.mailTo(address('bob'), 'There is one with it already');
  expect([codeIn(mail), mail.includes('bob')]).toEqual(['', true]);
  expect((await taken.who.fill(taken.after, { code: '12345678' })).text).toContain('That code is not right.');
  expect((await people()).map(({ username }) => username)).toEqual(['bob']);
});

test('where the realm sends no mail, the account is made at once, and nothing counts as confirmed', async () => {
  const { after } = await register();
  expect(after.url).toContain('/account');
  expect(await people()).toMatchObject([{ username: address(), emailVerified: false }]);
  expect((await register()).after.text).toContain('An account with this name or address can’t be created.');
});

test('it is closed unless server and realm both open it: a panel, and nothing is taken', async () => {
  const open = await person().open(`/realms/${realm}/register`);
  await set({ registrationEnabled: false });
  const closed = await person().open(`/realms/${realm}/register`);
  expect([closed.status, closed.heading, closed.fields]).toEqual([200, 'Registration is closed', {}]);
  const sent = await person().post(`/realms/${realm}/register`, { ...open.fields, email: address(), ...both });
  expect([sent.status, sent.heading]).toEqual([403, 'Registration is closed']);
  expect((await person().open(`/realms/${realm}/login`)).text).not.toContain('Create an account');
  const shut = await startTestServer();
  try {
    const page = await createPerson(shut.baseUrl).open('/realms/master/register');
    expect([page.status, page.heading]).toEqual([200, 'Registration is closed']);
  } finally {
    await shut.stop();
  }
});

test('a form that was open when registration closed makes no account', async () => {
  const who = person();
  const page = await who.open(`/realms/${realm}/register`);
  await set({ registrationEnabled: false });
  await who.fill(page, { email: address(), ...both });
  await who.post(`/realms/${realm}/login`, { ...page.fields, do: 'next', email: address(), ...both });
  expect(await people()).toEqual([]);
});

test('the profile that the realm declares is asked for, and checked', async () => {
  await call(putUserProfile, {
    params: { realm },
    body: {
      attributes: [
        { name: 'lastName', required: ['user'] },
        { name: 'team', displayName: 'Team', required: ['user'], validation: { options: ['red', 'blue'] } },
        { name: 'badge', displayName: 'Badge', edit: ['admin'] },
      ],
    },
  });
  const { who, page, after } = await register();
  expect([page.text.includes('Team'), page.text.includes('Badge')]).toEqual([true, false]);
  // all faults at once, each at its field
  expect(after.text).toMatch(
    /id="lastName"[^>]*aria-describedby="lastName-error"[^>]*>\s*<div class="error"[^>]*><p>Last name is required\./,
  );
  expect(after.text).toContain('id="attributes.team-error"><p>Team is required.');
  const strange = await who.fill(after, { email: address(), lastName: 'L', 'attribute.team': 'green', ...both });
  expect(strange.text).toContain('Team must be one of red, blue.');
  expect(strange.fields).toMatchObject({ email: address(), lastName: 'L', password: '' });
  const weak = await who.fill(strange, { 'attribute.team': 'red', password: 'short', repeated: 'short' });
  expect(weak.text).toContain('must have at least 12 characters');
  const forged = { 'attribute.team': 'red', 'attribute.badge': '1', emailVerified: 'true', roles: 'admin' };
  expect((await who.fill(weak, { ...forged, ...both })).url).toContain('/account');
  expect(await people()).toMatchObject([{ lastName: 'L', attributes: { team: ['red'] }, emailVerified: false }]);
});

test('where people choose a username, one that is taken is told, and an address that is none is refused', async () => {
  await set({ registrationEmailAsUsername: false });
  await call(createUser, { params: { realm }, body: { username: 'bob', password: PASSWORD } });
  const { who, after } = await register({ username: 'BOB' });
  expect(after.text).toContain('This username is taken.');
  expect((await who.fill(after, { username: 'ada', email: 'nowhere', ...both })).text).toContain(
    'must be an e-mail address',
  );
  expect((await who.fill(after, { username: 'ada', ...both })).url).toContain('/account');
});

test('what is left empty is told as required, and a name that can’t be one as such, in the page’s language', async () => {
  await set({ registrationEmailAsUsername: false, supportedLocales: ['de'], defaultLocale: 'de' });
  const { who, after } = await register({ username: ' ', email: address() });
  expect(after.text).toContain('Benutzername fehlt.');
  expect((await who.fill(after, { username: 'ada', email: '', ...both })).text).toContain('E-Mail fehlt.');
  const odd = await who.fill(after, { username: 'a\u202eda', ...both });
  expect(odd.text).toContain('Benutzername hat nicht die verlangte Form.');
});

test('an address is nobody’s username but its owner’s: whether another’s has an account is not told', async () => {
  await site.sendsMail(realm);
  await set({ registrationEmailAsUsername: false });
  await call(createUser, { params: { realm }, body: { username: 'bob', password: PASSWORD, email: address('bob') } });
  const as = async (username: string, email = address()) => (await register({ username, email })).after;
  for (const username of [address('bob'), address('eve'), address('eve').replace('@', '＠')])
    expect((await as(username)).text).toContain('This username is taken.');
  for (const name of ['ada', 'bob'])
    expect((await as(address(name), address(name))).heading).toBe('Confirm your e-mail address');
});

test('the terms are accepted on the way, in their version, and not asked for again', async () => {
  await set({ termsUrl: 'https://acme.example/terms', termsVersion: '2' });
  const { who, page, after } = await register();
  expect(page.text).toContain('href="https://acme.example/terms"');
  expect(after.text).toContain('Accept the terms of use to go on.');
  expect((await who.fill(after, { email: address(), terms: 'on', ...both })).url).toContain('/account');
  expect((await events('TERMS_ACCEPTED'))[0]?.data).toEqual({
    termsUrl: 'https://acme.example/terms',
    termsVersion: '2',
  });
});

test('terms that changed while the form lay on the table are not accepted unread', async () => {
  const accepts = { email: address(), terms: 'on', ...both };
  await set({ termsUrl: 'https://acme.example/terms', termsVersion: '2' });
  const who = person();
  const page = await who.open(`/realms/${realm}/register`);
  expect(page.text).toContain('Version 2');
  await set({ termsUrl: 'https://acme.example/new-terms', termsVersion: '3' });
  const changed = await who.fill(page, accepts);
  expect(changed.text).toContain('The terms have changed in the meantime. Read them again.');
  expect(changed.text).toContain('Version 3');
  expect(changed.text).not.toMatch(/id="terms"[^>]* checked/);
  expect((await who.fill(changed, both)).text).toContain('Accept the terms of use to go on.');
  expect(await people()).toEqual([]);
  expect((await who.fill(changed, accepts)).url).toContain('/account');
  expect((await events('TERMS_ACCEPTED')).map(({ data }) => data)).toEqual([
    { termsUrl: 'https://acme.example/new-terms', termsVersion: '3' },
  ]);
});

test('terms that change while the address is being confirmed are accepted by nobody who has not seen them', async () => {
  await site.sendsMail(realm);
  await set({ termsVersion: '2' });
  const { who, after } = await register({ terms: 'on' });
  expect(after.heading).toBe('Confirm your e-mail address');
  await set({ termsVersion: '3' });
  const asked = await who.fill(after, { code: codeIn(await mailed()) });
  const accepted = async () => (await events('TERMS_ACCEPTED')).map(({ data }) => data?.termsVersion).reverse();
  expect([asked.heading, asked.text.includes('Version 3'), await accepted()]).toEqual(['Terms of use', true, ['2']]);
  expect((await who.fill(asked, {})).url).toContain('/account');
  expect(await accepted()).toEqual(['2', '3']);
});

test('it goes on to the application, from the sign-in page and by prompt=create', async () => {
  const who = person();
  const page = await who.open(authorizePath(realm, 'spa', newVerifier()));
  const [, path = ''] = /href="([^"]*\/register[^"]*)"/.exec(page.text) ?? [];
  const form = await who.open(path.replaceAll('&amp;', '&'));
  expect(form.heading).toBe('Create an account');
  expect((await who.fill(form, { email: address(), ...both })).url.startsWith(CALLBACK)).toBe(true);
  // Signed in already: another account all the same.
  const more = await who.open(authorizePath(realm, 'spa', newVerifier(), { prompt: 'create' }));
  expect(more.heading).toBe('Create an account');
  expect((await who.fill(more, { email: address('bea'), ...both })).url.startsWith(CALLBACK)).toBe(true);
  await set({ registrationEnabled: false });
  expect((await person().open(authorizePath(realm, 'spa', newVerifier(), { prompt: 'create' }))).heading).toBe(
    'Sign in',
  );
});

test('a way to sign in from elsewhere leads to no form for an account that lies open', async () => {
  const who = person();
  await call(createUser, { params: { realm }, body: { username: 'bob', password: PASSWORD } });
  for (const form of [`/realms/${realm}/register`, (await register({ email: 'nowhere' }, who)).after.url]) {
    expect((await who.open(form)).heading).toBe('Create an account');
    const page = await who.open(`/realms/${realm}/login?for=account`);
    expect(page.heading).toBe('Sign in');
  }
  const page = await who.open(`/realms/${realm}/login?for=account`);
  expect((await who.fill(page, { username: 'bob', password: PASSWORD })).url).toContain('/account');
});

test('who has an account after all goes back to the sign-in that they came from', async () => {
  await call(createUser, { params: { realm }, body: { username: 'bob', password: PASSWORD } });
  const who = person();
  const form = await who.open(authorizePath(realm, 'spa', newVerifier(), { prompt: 'create' }));
  const back = await who.fill(form, { do: 'restart' });
  expect(back.heading).toBe('Sign in');
  expect((await who.fill(back, { username: 'bob', password: PASSWORD })).url.startsWith(CALLBACK)).toBe(true);
});

const challengeOn = ({ text }: ShownPage) => /data-work="([^"]+)"/.exec(text)?.[1] ?? '';
/** A number that gives so many zeros, and not so many more. */
const worked = (challenge: string, bits = 16, below = 256) => {
  for (let answer = 0; ; answer += 1) {
    const zeros = Math.clz32(sha256(`${challenge}.${answer}`).readUInt32BE(0));
    if (zeros >= bits && zeros < below) return String(answer);
  }
};
const easyWork = { captchaProvider: 'pow', proofOfWorkBits: 16 } as const;

test('a proof of work makes one account, however often its form is sent with the cookies of before', async () => {
  await set(easyWork);
  const who = person();
  const page = await who.open(`/realms/${realm}/register`);
  const work = worked(challengeOn(page));
  const others = ['bea', 'cid'].map((name) => ({ name, browser: person() }));
  for (const { browser } of others) for (const [name, value] of who.jar) browser.jar.set(name, value);
  expect((await who.fill(page, { email: address(), ...both, work })).url).toContain('/account');
  for (const { name, browser } of others) {
    const after = await browser.fill(page, { email: address(name), ...both, work });
    expect(after.url).not.toContain('/account');
  }
  expect((await people()).map(({ email }) => email)).toEqual([address()]);
});

test('a proof of work makes one account where two replicas get its form at once', async () => {
  await set(easyWork);
  const { app, baseUrl } = await startReplica(site.server);
  try {
    const who = person();
    const other = createPerson(baseUrl);
    const page = await who.open(`/realms/${realm}/register`);
    const work = worked(challengeOn(page));
    for (const [name, value] of who.jar) other.jar.set(name, value);
    const sent = [who, other].map((one, i) => one.fill(page, { email: address(`ada${i}`), ...both, work }));
    const signedIn = (await Promise.all(sent)).filter(({ url }) => url.includes('/account'));
    expect(await people()).toHaveLength(1);
    // none, where the form that came second has put its own state in the place of the first one's
    expect(signedIn.length).toBeLessThanOrEqual(1);
  } finally {
    await app.stop();
  }
});

test('a proof of work is done for each form, and does for one', async () => {
  await set({ ...easyWork, registrationEmailAsUsername: false });
  const who = person();
  const page = await who.open(`/realms/${realm}/register`);
  const fields = { username: 'ada', email: address(), ...both };
  expect((await who.fill(page, { ...fields, work: '' })).text).toContain('had not finished its work');
  const work = worked(challengeOn(page));
  const failed = await who.fill(page, { ...fields, username: ' ', work });
  expect(challengeOn(failed)).not.toBe(challengeOn(page));
  expect((await who.fill(failed, { ...fields, work })).text).toContain('had not finished its work');
  expect(await people()).toEqual([]);
  const other = person();
  const theirs = await other.open(`/realms/${realm}/register`);
  expect((await other.fill(theirs, { ...fields, work })).text).toContain('had not finished its work');
  expect((await who.fill(failed, { ...fields, work: worked(challengeOn(failed)) })).url).toContain('/account');
});

test('a realm says how much work it is: what did for less does no more, from its next form on', async () => {
  for (const proofOfWorkBits of [15, 25]) await expect(set({ proofOfWorkBits })).rejects.toMatchObject({ status: 400 });
  await set({ ...easyWork, proofOfWorkBits: 17 });
  const who = person();
  const page = await who.open(`/realms/${realm}/register`);
  expect(page.text).toContain('data-bits="17"');
  const little = await who.fill(page, { email: address(), ...both, work: worked(challengeOn(page), 16, 17) });
  expect(little.text).toContain('had not finished its work');
  const work = worked(challengeOn(little), 17);
  expect((await who.fill(little, { email: address(), ...both, work })).url).toContain('/account');
});

test('another site’s form, one from no page, and one too many make no account', async () => {
  expect((await person().post(`/realms/${realm}/register`, { email: address(), ...both })).status).toBe(400);
  const who = person();
  let page = await who.open(`/realms/${realm}/register`);
  for (let times = 0; times < 20; times += 1) page = await who.fill(page, { email: 'nowhere', ...both });
  expect((await who.fill(page, { email: address(), ...both })).text).toContain('Too many tries from your network');
  expect(await people()).toEqual([]);
});

test('master is closed until its settings say otherwise, and who joins it then administers nothing', async () => {
  const at = '/realms/master';
  const closed = await person().open(`${at}/register`);
  expect([closed.heading, closed.fields]).toEqual(['Registration is closed', {}]);
  expect((await person().open(`${at}/login`)).text).not.toContain(`${at}/register`);
  const forced = await person().post(`${at}/register`, { email: 'eve@master.example', ...both });
  expect([forced.status, forced.heading]).toEqual([403, 'Registration is closed']);
  const master = { params: { realm: 'master' } };
  const known = async () => (await call(listUsers, master)).body?.map(({ username }) => username);
  expect(await known()).toEqual(['admin']);
  expect((await call(getSettings, master)).body?.registrationEnabled).toBe(false);
  await call(putSettings, { ...master, body: { registrationEnabled: true } });
  const who = person();
  const page = await who.open(`${at}/register`);
  await who.fill(page, { email: 'eve@master.example', ...both });
  expect(await known()).toEqual(['admin', 'eve@master.example']);
  const joined = { username: 'eve@master.example', password: PASSWORD };
  await expect(site.server.signIn(joined)).rejects.toThrow('401');
  await call(putSettings, { ...master, body: { registrationEnabled: false } });
});
