// What each step of a sign-in asks the database: a figure here is a statement that every person's sign-in pays for.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authorizePath, CALLBACK, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let clock = new Date();
const realm = 'cost';
let statements = 0;
const { bind, query } = pg.Connection.prototype;

beforeAll(async () => {
  server = await startTestServer({ now: () => clock, jobs: false });
  await makePeopledRealm(server, realm);
  pg.Connection.prototype.bind = function (...of) {
    statements += 1;
    return bind.apply(this, of);
  };
  pg.Connection.prototype.query = function (...of) {
    statements += 1;
    return query.apply(this, of);
  };
});
afterAll(async () => {
  Object.assign(pg.Connection.prototype, { bind, query });
  await server?.stop();
});

/** Statements of what is done, begin and commit included. */
async function cost<T>(act: () => Promise<T>): Promise<[T, number]> {
  await expect
    .poll(async () => {
      const before = statements;
      await new Promise((resolve) => setTimeout(resolve, 150));
      return statements - before;
    })
    .toBe(0);
  const before = statements;
  const done = await act();
  return [done, statements - before];
}

async function withPassword(): Promise<void> {
  const alice = createPerson(server.baseUrl);
  const page = await alice.open(authorizePath(realm, 'spa', newVerifier()));
  await alice.fill(page, { username: 'alice', password: PASSWORD });
}

test('a sign-in by password, one with a code, and a step up ask the database no more than they need', async () => {
  // What is kept in process is read by the first.
  await withPassword();
  const bob = createPerson(server.baseUrl);
  const [page, shown] = await cost(() => bob.open(authorizePath(realm, 'spa', newVerifier())));
  const [signedIn, byPassword] = await cost(() => bob.fill(page, { username: 'alice', password: PASSWORD }));
  expect(signedIn.url.startsWith(CALLBACK)).toBe(true);
  const [setUp, asked] = await cost(() => bob.open(authorizePath(realm, 'spa', newVerifier(), { acr_values: '2' })));
  const secret = secretOn(setUp);
  const [raised, enrolled] = await cost(() => bob.fill(setUp, { code: codeAt(secret, clock.getTime()) }));
  expect(raised.url.startsWith(CALLBACK)).toBe(true);

  clock = new Date(clock.getTime() + 30_000);
  await withPassword();
  const carol = createPerson(server.baseUrl);
  const again = await carol.open(authorizePath(realm, 'spa', newVerifier()));
  const [codePage, first] = await cost(() => carol.fill(again, { username: 'alice', password: PASSWORD }));
  const [wrong, refused] = await cost(() => carol.fill(codePage, { code: '000000' }));
  const [done, second] = await cost(() => carol.fill(wrong, { code: codeAt(secret, clock.getTime()) }));
  expect(done.url.startsWith(CALLBACK)).toBe(true);
  expect({ shown, byPassword, asked, enrolled, first, refused, second }).toEqual({
    shown: 0,
    byPassword: 8,
    asked: 13,
    // and the mail that tells the person of it
    enrolled: 26,
    first: 8,
    // One of them is the realm's count of wrong codes.
    refused: 13,
    second: 14,
  });
});
