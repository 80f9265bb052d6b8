// Owns: deleting one's own account.
// Does not own: what an erasure deletes (gdpr.test.ts).
// Implements: specification 4.6.
import { expect, test } from 'vitest';
import { verifyEvents } from '../../../server/contract/events.ts';
import { createInvitation, listInvitations } from '../../../server/contract/invitations.ts';
import { createUser, getUser, listUsers, putUser } from '../../../server/contract/users.ts';
import { createWebhook } from '../../../server/contract/webhooks.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let userId = '';
const { later } = freshRealms('gone', startTestServer, async (started, fresh) => {
  server = started;
  realm = fresh;
  [userId = ''] = await makePeopledRealm(server, realm, ['ada', 'bob']);
});

const ada = { username: 'ada', password: PASSWORD };
async function signedIn(who = createPerson(server.baseUrl)) {
  return { who, page: await who.fill(await who.open(`/realms/${realm}/login?for=account`), ada) };
}
const csrfOf = ({ text }: ShownPage) => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
const erase = (who: Person, page: ShownPage, more: Record<string, string> = {}) =>
  who.post(`/realms/${realm}/account/erase`, { csrf: csrfOf(page), ...more });
const names = async () =>
  (await server.admin.call(listUsers, { params: { realm } })).body?.map(({ username }) => username).sort();

test('who says so twice is deleted, signed out everywhere, and can’t sign in any more', async () => {
  const elsewhere = await signedIn();
  const { who, page } = await signedIn();
  expect((await who.open(`/realms/${realm}/account?view=data`)).text).toContain('Delete my account');
  const ask = await erase(who, page);
  expect(ask.heading).toBe('Delete your account?');
  expect(await names()).toEqual(['ada', 'bob']);
  const gone = await erase(who, ask, { username: 'ada' });
  expect(gone.heading).toBe('Your account is deleted');
  expect(await names()).toEqual(['bob']);
  expect((await who.open(`/realms/${realm}/account`)).heading).toBe('Sign in');
  expect((await elsewhere.who.open(`/realms/${realm}/account`)).heading).toBe('Sign in');
  expect((await signedIn()).page.text).toContain('The username or password is wrong');
});

test('an invitation to an address goes with whoever has confirmed it, and with nobody who only said it was theirs', async () => {
  const params = { realm };
  const invited = async () =>
    (await server.admin.call(listInvitations, { params, query: {} })).body?.map(({ email }) => email).sort();
  for (const [username, emailVerified] of [
    ['ada', false],
    ['bob', true],
  ] as const) {
    const email = `${username}@friends.example`;
    await server.admin.call(createInvitation, { params, body: { email, mail: false } });
    const { body: found } = await server.admin.call(listUsers, { params, query: { q: username } });
    const at = { params: { realm, userId: found?.[0]?.id ?? '' } };
    await server.admin.call(putUser, { ...at, body: { email, emailVerified } });
    const who = createPerson(server.baseUrl);
    const page = await who.fill(await who.open(`/realms/${realm}/login?for=account`), { username, password: PASSWORD });
    expect((await erase(who, await erase(who, page), { username })).heading).toBe('Your account is deleted');
  }
  expect(await invited()).toEqual(['ada@friends.example']);
});

test.each([
  ['stays with who only said that it is theirs', false],
  ['goes with whoever has confirmed it', true],
])('what was typed with an address %s', async (_, emailVerified) => {
  const params = { realm };
  const url = 'https://nowhere.example.test/';
  const email = 'typed@friends.example';
  await server.admin.call(createWebhook, { params, body: { name: 'all', url, eventTypes: '*', enabled: true } });
  const guess = createPerson(server.baseUrl);
  await guess.fill(await guess.open(`/realms/${realm}/login`), { username: email, password: 'wrong' });
  const typed = async () => {
    const { rows } = await server.pool.query<{ place: string }>(
      `select 'event' as place from event e where realm_id = $1 and e::text like $2
       union select 'sign_in' from sign_in s where realm_id = $1 and s::text like $2
       union select 'delivery' from webhook_delivery where realm_id = $1 and body like $2 order by 1`,
      [realm, `%${email}%`],
    );
    return rows.map(({ place }) => place);
  };
  const others = await told('others', userId);
  await expect.poll(typed).toEqual(['delivery', 'event', 'sign_in']);
  await server.admin.call(putUser, { params: { realm, userId }, body: { email, emailVerified } });
  const { who, page } = await signedIn();
  expect((await erase(who, await erase(who, page), { username: 'ada' })).heading).toBe('Your account is deleted');
  expect(await told('theirs', userId)).toEqual([]);
  if (emailVerified) expect(await typed()).toEqual([]);
  else {
    expect(await typed()).toEqual(['delivery', 'event', 'sign_in']);
    const after = (await told('others', userId)).filter((text) => text.includes(email));
    expect(after.sort()).toEqual(others.filter((text) => text.includes(email)).sort());
  }
});

test('another name than one’s own deletes nobody', async () => {
  const { who, page } = await signedIn();
  const wrong = await erase(who, page, { username: 'bob' });
  expect(wrong.text).toContain('That is not your username.');
  expect(await names()).toEqual(['ada', 'bob']);
});

test('who signed in a while ago proves it once more first', async () => {
  const { who, page } = await signedIn();
  later(301_000);
  const proof = await erase(who, page, { username: 'ada' });
  expect(proof.heading).toBe('Sign in');
  expect(await names()).toEqual(['ada', 'bob']);
  const back = await who.fill(proof, ada);
  expect((await erase(who, back, { username: 'ada' })).heading).toBe('Your account is deleted');
});

test('a form of another site deletes nobody, and neither does one without a session', async () => {
  const { who, page } = await signedIn();
  const forged = await who.post(`/realms/${realm}/account/erase`, { username: 'ada', csrf: 'x' });
  expect(forged.status).toBe(403);
  expect((await erase(createPerson(server.baseUrl), page, { username: 'ada' })).heading).toBe('Sign in');
  expect((await server.admin.call(getUser, { params: { realm, userId } })).body?.username).toBe('ada');
});

/** All that the audit log and deliveries say, but of whom it is the doing or who it was done to. */
async function told(of: 'others' | 'theirs', id: string): Promise<string[]> {
  const { rows } = await server.pool.query<{ text: string }>(
    `select e::text as text from event e
     where realm_id = $1 and (coalesce(actor ->> 'id', '') = $2 or coalesce(subject ->> 'id', '') = $2) = $3
     union all select body from webhook_delivery where realm_id = $1 and (position($2 in body) > 0) = $3 order by 1`,
    [realm, id, of === 'theirs'],
  );
  return rows.map(({ text }) => text);
}

test.each(['user', 'system', 'spa', 'update', 'roles'])(
  'who is named %s takes nothing of what is told of others along, and the log is whole',
  async (username) => {
    const { admin } = server;
    const params = { realm };
    const url = 'https://nowhere.example.test/';
    await admin.call(createWebhook, { params, body: { name: 'all', url, eventTypes: '*', enabled: true } });
    const { body: user } = await admin.call(createUser, { params, body: { username, password: PASSWORD } });
    const id = user?.id ?? '';
    await signedIn();
    await createPerson(server.baseUrl).open(`/realms/${realm}/account`);
    const who = createPerson(server.baseUrl);
    const page = await who.fill(await who.open(`/realms/${realm}/login?for=account`), { username, password: PASSWORD });
    const guess = createPerson(server.baseUrl);
    await guess.fill(await guess.open(`/realms/${realm}/login`), { username: 'nobody', password: 'wrong' });
    const before = await told('others', id);
    expect(before.length).toBeGreaterThan(4);
    const own = await told('theirs', id);
    expect(own.length).toBeGreaterThan(3);
    const allSealed = () =>
      expect.poll(async () => (await admin.call(verifyEvents, { params, query: {} })).body?.waiting).toBe(0);
    await allSealed();
    expect((await erase(who, await erase(who, page), { username })).heading).toBe('Your account is deleted');
    expect(await told('theirs', id)).toEqual([]);
    const after = await told('others', id);
    expect(after.filter((text) => before.includes(text))).toEqual(before);
    const theirs = after.filter((text) => !before.includes(text)).join();
    expect(theirs).toContain('"type": "user"');
    expect(theirs).not.toMatch(new RegExp(`"name": "${username}"`));
    await allSealed();
    await expect
      .poll(async () => (await admin.call(verifyEvents, { params, query: {} })).body)
      .toMatchObject({ faults: [], erased: expect.any(Number) });
  },
);

test('one address deletes only so many accounts a minute, by the page and the API together', async () => {
  const people = Array.from({ length: 11 }, (_, i) => ({ username: `p${i}`, password: PASSWORD }));
  const answers: (string | number)[] = [];
  let last = createPerson(server.baseUrl);
  for (const person of people) {
    await server.admin.call(createUser, { params: { realm }, body: person });
    const who = createPerson(server.baseUrl);
    last = who;
    const page = await who.fill(await who.open(`/realms/${realm}/login?for=account`), person);
    answers.push((await erase(who, page, { username: person.username })).status);
  }
  expect(answers).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
  const api = `/realms/${realm}/account`;
  const csrf = (await last.once(`${api}/profile`)).headers.get('x-xsrf-token') ?? '';
  const refused = await last.once(`${api}?username=p10`, { method: 'DELETE', headers: { 'x-xsrf-token': csrf } });
  expect(refused.status).toBe(429);
});
