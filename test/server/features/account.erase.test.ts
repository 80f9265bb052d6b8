// Owns: deleting one's own account.
// Does not own: what an erasure deletes (gdpr.test.ts).
// Implements: specification 4.6.
import { expect, test } from 'vitest';
import { getUser, listUsers } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson, type Person, type Shown } from '../../support/person.ts';
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
const csrfOf = ({ text }: Shown) => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
const erase = (who: Person, page: Shown, more: Record<string, string> = {}) =>
  who.post(`/realms/${realm}/account/erase`, { csrf: csrfOf(page), ...more });
const names = async () =>
  (await server.admin.call(listUsers, { params: { realm } })).body?.map(({ username }) => username).sort();

test('who says so twice is deleted, signed out everywhere, and can’t sign in any more', async () => {
  const elsewhere = await signedIn();
  const { who, page } = await signedIn();
  expect(page.text).toContain('Delete my account');
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
