// Owns: that nobody learns who has an account: the same answer, by the same work, counted in statements and hashes and not in time.
// Does not own: what the pages do otherwise (sign-in.test.ts, recovery.test.ts, self-registration.test.ts, message-factors.test.ts).
// Implements: specification 8; decisions "Single sign-on and freshness".
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser, putUser } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import type { TestServer } from '../../support/server.ts';
import { headersSeen, watchWork } from '../../support/work-done.ts';

const realm = 'strangers';
/**
 * Statements that ask for, or keep, something of people. Left out is what is done behind it, by whatever is due, and the count of somebody's
 * failures, which is done while the hash is computed that takes far longer.
 */
const OF_PEOPLE =
  /realm_user|credential|identity_link|sign_in|known_device|insert into (?:message|event|password_reset) /;
let server: TestServer;
let site: MailingServer;
let network = 0;
let work: ReturnType<typeof watchWork>;

beforeAll(async () => {
  work = watchWork((statement) => OF_PEOPLE.test(statement) && !statement.startsWith('insert into lockout'));
  site = await startMailingServer({ env: { USER_REGISTRATION_ENABLED: 'true', SVC_TRUST_PROXY: '127.0.0.1' } });
  server = site.server;
  await makePeopledRealm(server, realm, []);
  const { admin } = server;
  await site.sendsMail(realm);
  for (const username of ['ada', 'unconfirmed', 'disabled', 'locked', 'bare']) {
    const email = username === 'bare' ? null : `${username}@${realm}.example`;
    const emailVerified = username !== 'unconfirmed' && email !== null;
    const body = { username, email, emailVerified, password: PASSWORD };
    const userId = (await admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
    if (username === 'disabled') await admin.call(putUser, { params: { realm, userId }, body: { enabled: false } });
  }
  const body = { lockoutEnabled: true, maxLoginFailures: 3, lockoutDurationSeconds: 86_400 };
  await admin.call(putSettings, { params: { realm }, body });
  for (let times = 0; times < 3; times += 1) await signIn('locked');
});
afterAll(async () => {
  work?.stop();
  await site?.stop();
});

/** What somebody who watches sees of it, and what it cost. */
async function seen(path: string, act: (who: Person, page: ShownPage) => Promise<ShownPage>, name: string) {
  // The limits of one address are another test's.
  network += 1;
  const who = createPerson(server.baseUrl, { 'x-forwarded-for': `198.51.100.${network}` });
  const page = await who.open(path);
  const { result, ...cost } = await work.of(() => act(who, page));
  const { status, text, url, headers } = result;
  const words = text.replaceAll(/value="[^"]*"/g, '').replaceAll(name, '');
  return { ...{ status, words, path: new URL(url).pathname, headers: headersSeen(headers) }, ...cost };
}

const signIn = async (username: string) => {
  const who = createPerson(server.baseUrl);
  return who.fill(await who.open(`/realms/${realm}/login`), { username, password: 'not the right one' });
};

test('a wrong password looks the same and costs the same, whosever name it is, or nobody’s', async () => {
  const look = (username: string) =>
    seen(
      `/realms/${realm}/login`,
      (who, page) => who.fill(page, { username, password: 'not the right one' }),
      username,
    );
  await look('nobody-at-all');
  const nobody = await look('somebody-else');
  expect(nobody).toMatchObject({ status: 200, hashes: 1 });
  for (const name of ['ada', 'disabled', 'locked', `ada@${realm}.example`, `nobody@${realm}.example`])
    expect({ name, ...(await look(name)) }).toEqual({ name, ...nobody });
});

test('a forgotten password is asked for by the same statements, whether there is such a person or not', async () => {
  const look = (username: string) =>
    seen(`/realms/${realm}/login/forgot`, (who, page) => who.fill(page, { username }), username);
  await look('nobody-at-all');
  const nobody = await look('somebody-else');
  expect(nobody).toMatchObject({ status: 200, hashes: 0 });
  for (const name of ['ada', 'unconfirmed', 'disabled', 'bare', `ada@${realm}.example`, `nobody@${realm}.example`])
    expect({ name, ...(await look(name)) }).toEqual({ name, ...nobody });
});

test('an account is asked for by the same statements and one hash, whether the address has one already or not', async () => {
  const look = (email: string) =>
    seen(
      `/realms/${realm}/register`,
      (who, page) => who.fill(page, { email, password: PASSWORD, repeated: PASSWORD }),
      email,
    );
  await look('first@example.com');
  const nobody = await look('second@example.com');
  expect(nobody).toMatchObject({ status: 200, hashes: 1 });
  for (const name of ['ada', 'unconfirmed', 'disabled']) {
    const email = `${name}@${realm}.example`;
    expect({ email, ...(await look(email)) }).toEqual({ email, ...nobody });
  }
});
