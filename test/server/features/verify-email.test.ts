// Owns: proving an e-mail address on the way in: by code or link, on another address, and what tells nobody about others.
// Does not own: other required actions (required-actions.test.ts), the account page that begins it (account.test.ts).
import { expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { createUser, getUser, putRequiredActions } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { codeIn, linkIn, type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson } from '../../support/person.ts';

let site: MailingServer;
let realm = '';
let userId = '';
const { later } = freshRealms('verify', startMailingServer, async (started, fresh) => {
  site = started;
  realm = fresh;
  await makePeopledRealm(site.server, realm, []);
  await site.sendsMail(realm);
});

const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);
const address = (name = 'ada') => `${name}@${realm}.example`;
async function make(user: { email?: string; emailVerified?: boolean } = { email: address() }) {
  const body = { username: 'ada', password: PASSWORD, ...user };
  userId = (await call(createUser, { params: { realm }, body })).body?.id ?? '';
  await call(putRequiredActions, { params: { realm, userId }, body: { requiredActions: ['VERIFY_EMAIL'] } });
}
async function enter() {
  const ada = createPerson(site.server.baseUrl);
  const page = await ada.open(`/realms/${realm}/login`);
  return { ada, page: await ada.fill(page, { username: 'ada', password: PASSWORD }) };
}
const stored = async () => (await call(getUser, { params: { realm, userId } })).body;
const mailed = (to = address()) => site.mailTo(to, 'enter this code');

test('an address is confirmed by the code that was sent there', async () => {
  await make();
  const { ada, page } = await enter();
  expect([page.heading, page.text.includes(address())]).toEqual(['Confirm your e-mail address', true]);
  const code = codeIn(await mailed());
  await ada.open(`/realms/${realm}/login`);
  const wrong = await ada.fill(page, { code: code === '00000000' ? '00000001' : '00000000' });
  expect(wrong.text).toContain('That code is not right.');
  expect((await ada.fill(wrong, { code })).url).toContain('/account');
  expect(await stored()).toMatchObject({ emailVerified: true, requiredActions: [] });
  expect(site.mails.filter(({ to }) => to.includes(address()))).toHaveLength(1);
  const { body } = await call(listEvents, { params: { realm }, query: { type: 'USER_UPDATED' } });
  expect(body?.[0]).toMatchObject({ actor: { id: userId }, data: { fields: ['emailVerified', 'requiredActions'] } });
});

test('or by the link, in the browser that asked, and by its button alone', async () => {
  await make();
  const { ada } = await enter();
  const link = linkIn(await mailed());
  const elsewhere = createPerson(site.server.baseUrl);
  expect((await elsewhere.open(link)).status).toBe(400);
  const page = await ada.open(link);
  expect(page.heading).toBe('Confirm your e-mail address');
  expect((await stored())?.emailVerified).toBe(false);
  const done = await ada.post(`/realms/${realm}/login`, { ...page.fields, do: 'next' });
  expect(done.url).toContain('/account');
  expect((await stored())?.emailVerified).toBe(true);
});

test('a code is good for five tries, and a new one is sent after half a minute', async () => {
  await make();
  const { ada, page } = await enter();
  const code = codeIn(await mailed());
  let shown = page;
  for (let tries = 0; tries < 5; tries += 1)
    shown = await ada.fill(shown, { code: code === '00000000' ? '00000001' : '00000000' });
  shown = await ada.fill(shown, { code });
  expect(shown.text).toContain('That code no longer works');
  expect((await ada.fill(shown, { resend: '1', code: '' })).text).toContain('A code was sent just now');
  later(31_000);
  site.mails.length = 0;
  shown = await ada.fill(shown, { resend: '1', code: '' });
  expect((await ada.fill(shown, { code: codeIn(await mailed()) })).url).toContain('/account');
});

test('who has no address, or a wrong one, says which it is, and it counts once it is proven', async () => {
  await make({ email: address('typo') });
  const { ada, page } = await enter();
  const which = await ada.fill(page, { other: '1', code: '' });
  expect(which.heading).toBe('Your e-mail address');
  expect((await ada.fill(which, { email: 'no address' })).text).toContain('must be an e-mail address');
  const waiting = await ada.fill(which, { email: address('right') });
  expect((await stored())?.email).toBe(address('typo'));
  const code = codeIn(await mailed(address('right')));
  expect((await ada.fill(waiting, { code })).url).toContain('/account');
  expect(await stored()).toMatchObject({ email: address('right'), emailVerified: true });
});

test('that an address is somebody else’s is told to them, and to nobody else', async () => {
  await call(createUser, { params: { realm }, body: { username: 'bob', password: PASSWORD, email: address('bob') } });
  await make({});
  const { ada, page } = await enter();
  expect(page.heading).toBe('Your e-mail address');
  const taken = await ada.fill(page, { email: address('bob') });
  const mail = await site.mailTo(address('bob'), 'There is one with it already');
  expect(codeIn(mail)).toBe('');
  const { ada: other, page: again } = await enter();
  const free = await other.fill(again, { email: address('eve') });
  const neutral = (text: string) => text.replaceAll(/\w+@|value="[^"]*"/g, '');
  expect(neutral(taken.text)).toBe(neutral(free.text));
  expect(taken.heading).toBe('Confirm your e-mail address');
  await ada.fill(taken, { code: '12345678' });
  expect((await stored())?.email).toBe(null);
});

test('where the realm lets nobody change an address, none can be given', async () => {
  await call(putUserProfile, { params: { realm }, body: { attributes: [{ name: 'email', edit: ['admin'] }] } });
  await make({});
  const { ada, page } = await enter();
  expect(page.text).toContain('There is no e-mail address in your account');
  await ada.fill(page, { email: address('mine') });
  expect(await stored()).toMatchObject({ email: null, requiredActions: ['VERIFY_EMAIL'] });
});
