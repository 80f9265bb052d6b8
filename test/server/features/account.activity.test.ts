// Owns: what happened to a person's account, as they see it on the page and by the API: how far back, in which words.
// Does not own: the audit log (events.test.ts), what each change does (account.test.ts).
// Implements: specification 4.11.
import { expect, test } from 'vitest';
import { createUser, putUser, setPassword } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson, decode, type Person } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

/** What stands there of an account that was just made. */
const MADE = ['PASSWORD_CHANGED', 'USER_CREATED'];
let server: TestServer;
let realm = '';
let userId = '';
const start = (options: { now: () => Date }) => startTestServer({ ...options, jobs: false });
const { later } = freshRealms('lately', start, async (started, fresh) => {
  server = started;
  realm = fresh;
  await makePeopledRealm(server, realm, []);
  const body = { username: 'ada', password: PASSWORD };
  userId = (await server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
});

interface Row {
  type: string;
  field: string | null;
  occurredAt: number;
  firstOccurredAt: number;
  count: number;
  byOther: boolean;
}
const update = async (body: object) => {
  later(1000);
  await server.admin.call(putUser, { params: { realm, userId }, body: { username: 'ada', ...body } });
};
const attempt = async (password: string, person = createPerson(server.baseUrl)) => {
  later(1000);
  const page = await person.open(`/realms/${realm}/login?for=account`);
  await person.fill(page, { username: 'ada', password });
  return person;
};
const signedIn = () => attempt(PASSWORD);
const failed = async (times: number) => {
  for (let time = 0; time < times; time += 1) await attempt('wrong umbrellas');
};
async function read(person: Person, query = '') {
  const answer = await person.once(`/realms/${realm}/account/activity${query}`);
  const next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
  return { status: answer.status, rows: (await answer.json()) as Row[], next: next?.slice(next.indexOf('?')) };
}
/** All pages, of so many rows. */
async function readAll(person: Person, limit: number): Promise<Row[]> {
  const all: Row[] = [];
  for (let query: string | undefined = `?limit=${limit}`; query !== undefined; ) {
    const { rows, next }: Awaited<ReturnType<typeof read>> = await read(person, query);
    expect(rows.length).toBeLessThanOrEqual(limit);
    all.push(...rows);
    query = next;
  }
  return all;
}
const told = (rows: readonly Row[]) => rows.map(({ type, count }) => (count > 1 ? `${type} ${count}` : type));

test('wrong passwords in a row are one row, and push nothing out of sight', async () => {
  await failed(2);
  await server.admin.call(setPassword, { params: { realm, userId }, body: { password: PASSWORD } });
  await failed(3);
  const person = await signedIn();
  const { rows, next } = await read(person, '?limit=6');
  const expected = ['LOGIN_SUCCESS', 'LOGIN_FAILURE 3', 'PASSWORD_CHANGED', 'LOGIN_FAILURE 2', ...MADE];
  expect([told(rows), next]).toEqual([expected, undefined]);
  expect(rows[1]).toMatchObject({ byOther: false });
  expect((rows[1]?.occurredAt ?? 0) - (rows[1]?.firstOccurredAt ?? 0)).toBe(2000);
  const { text } = await person.open(`/realms/${realm}/account?view=activity`);
  expect(text).toContain('Failed sign-ins: 3');
  expect(text).toContain('The password was changed');
});

test('failed tries of different days stand apart', async () => {
  await failed(2);
  later(24 * 3600 * 1000);
  await failed(1);
  expect(told((await read(await signedIn())).rows)).toEqual([
    'LOGIN_SUCCESS',
    'LOGIN_FAILURE',
    'LOGIN_FAILURE 2',
    ...MADE,
  ]);
});

test('pages of any size tell everything once, and no cursor that is made up is taken', async () => {
  await failed(2);
  await update({ firstName: 'Ada' });
  await failed(3);
  await update({ firstName: 'Augusta' });
  await update({ email: 'ada@people.example' });
  const person = await signedIn();
  const whole = await readAll(person, 100);
  expect(told(whole)).toEqual([
    'LOGIN_SUCCESS',
    'USER_UPDATED',
    'USER_UPDATED',
    'LOGIN_FAILURE 3',
    'USER_UPDATED',
    'LOGIN_FAILURE 2',
    ...MADE,
  ]);
  expect(whole.map(({ field }) => field)).toEqual([null, 'email', null, null, null, null, null, null]);
  for (const limit of [1, 2, 3, 8]) expect(await readAll(person, limit)).toEqual(whole);
  for (const query of ['?cursor=made-up', '?limit=0', '?limit=101', '?before=1'])
    expect((await read(person, query)).status, query).toBe(400);
});

test('the page leads to what is older and back to the newest, and to nothing of somebody else', async () => {
  for (let time = 0; time < 20; time += 1) await update({ firstName: `Ada ${time}` });
  const person = await signedIn();
  const first = await person.open(`/realms/${realm}/account?view=activity`);
  expect([first.text.includes('The account was created'), first.text.includes('>Newest<')]).toEqual([false, false]);
  const [, older = ''] = /href="([^"]+)">Older</.exec(first.text) ?? [];
  const second = await person.open(decode(older));
  expect(second.text).toContain('The account was created');
  expect(second.text).not.toContain('>Older<');
  const [, newest = ''] = /href="([^"]+)">Newest</.exec(second.text) ?? [];
  expect((await person.open(decode(newest))).text).toContain('>Older<');
  expect((await person.open(`/realms/${realm}/account?activity=made-up`)).status).toBe(200);

  await server.admin.call(createUser, { params: { realm }, body: { username: 'bob', password: PASSWORD } });
  const bob = createPerson(server.baseUrl);
  await bob.fill(await bob.open(`/realms/${realm}/login?for=account`), { username: 'bob', password: PASSWORD });
  expect((await bob.open(decode(older))).text).not.toContain('The account was changed');
});
