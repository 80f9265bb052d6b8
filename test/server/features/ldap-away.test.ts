// Who signs in while their directory can't be asked, where its policy lets in who knows the last password that it took.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createDirectory, deleteDirectory, putDirectory } from '../../../server/contract/user-federation.ts';
import { listUsers, putUser } from '../../../server/contract/users.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { syncedWith } from '../../support/directories.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { BASE, personLdif, READER, READER_PASSWORD, type Slapd, startSlapd } from '../../support/slapd.ts';

const REFUSED = 'The username or password is wrong, or this account cannot sign in at the moment.';
const AWAY = 'can’t be checked at the moment';
const DAY = 86_400_000;
let server: TestServer;
let slapd: Slapd;
let realm = '';
let made = 0;
let offset = 0;
beforeAll(async () => {
  slapd = await startSlapd(['ada', 'bob', 'cleo'].map((uid) => personLdif(uid)).join(''));
  server = await startTestServer({
    env: { SVC_OUTBOUND_ALLOW: '127.0.0.1' },
    now: () => new Date(Date.now() + offset),
  });
});
afterAll(async () => {
  await server?.stop();
  await slapd?.stop();
});
beforeEach(() => {
  offset = 0;
});

const at = () => ({ params: { realm, alias: 'corporate' } });
/** A realm with the directory's people, of whom ada has signed in. */
async function prepare(more: object = { away: 'lastPassword' }): Promise<void> {
  made += 1;
  realm = `away${made}`;
  await makePeopledRealm(server, realm, []);
  const body = {
    alias: 'corporate',
    connection: { urls: [slapd.ldap], bindDn: READER },
    users: { base: `ou=people,${BASE}` },
    secret: READER_PASSWORD,
    ...more,
  };
  await server.admin.call(createDirectory, { params: { realm }, body });
  await syncedWith(server, realm, 'corporate');
  expect(isIn(await signIn('ada'))).toBe(true);
}
async function whileAway(work: () => Promise<void>): Promise<void> {
  await slapd.kill();
  try {
    await work();
  } finally {
    await slapd.start();
  }
}
async function signIn(username: string, password = `password of ${username}`) {
  const who = createPerson(server.baseUrl);
  return who.fill(await who.open(`/realms/${realm}/login?for=account`), { username, password });
}
const isIn = ({ url }: { url: string }) => url.includes('/account');
const kept = async () =>
  (await server.pool.query('select phc from directory_password where realm_id = $1', [realm])).rows;
const reasons = async () =>
  (
    await server.pool.query(
      `select data ->> 'reason' as reason from event where realm_id = $1 and type = 'LOGIN_FAILURE' order by id`,
      [realm],
    )
  ).rows.map(({ reason }) => reason);

test.each(['import', 'live'] as const)(
  'by mode %s: who has signed in before gets in by that password, and nobody by another',
  async (mode) => {
    await prepare({ away: 'lastPassword', mode });
    expect(await kept()).toEqual([{ phc: expect.stringMatching(/^\$argon2id\$/) }]);
    await whileAway(async () => {
      expect(isIn(await signIn('ada'))).toBe(true);
      for (const [name, password] of [
        ['ada', 'wrong'],
        ['bob', undefined],
        ['nobody', 'password of ada'],
      ] as const)
        expect((await signIn(name, password)).text).toContain(AWAY);
    });
    const query = { type: 'LOGIN_SUCCESS' };
    const { body } = await server.admin.call(listEvents, { params: { realm }, query });
    expect(body?.map(({ data }) => data.reason)).toEqual(['away-known', undefined]);
    expect(await reasons()).toEqual(['away', 'away', 'away']);
  },
);

test('without that policy nothing of a password is kept, and giving it up deletes what was', async () => {
  await prepare({});
  expect(await kept()).toEqual([]);
  await server.admin.call(putDirectory, { ...at(), body: { away: 'lastPassword' } });
  await signIn('ada');
  expect(await kept()).toHaveLength(1);
  await server.admin.call(putDirectory, { ...at(), body: { away: 'refuse' } });
  expect(await kept()).toEqual([]);
  await whileAway(async () => expect((await signIn('ada')).text).toContain(AWAY));
});

test('it counts for as long as the policy says, and goes with the directory', async () => {
  await prepare();
  await whileAway(async () => {
    offset = DAY + 60_000;
    expect((await signIn('ada')).text).toContain(AWAY);
    offset = DAY - 3_600_000;
    expect(isIn(await signIn('ada'))).toBe(true);
  });
  offset = 0;
  await server.admin.call(deleteDirectory, at());
  expect(await kept()).toEqual([]);
});

test('it counts no more for whom the directory has disabled or given another password, nor for whom the realm has disabled', async () => {
  await prepare();
  const { body = [] } = await server.admin.call(listUsers, { params: { realm }, query: { q: 'ada' } });
  const said = (what: string) => server.pool.query(`update directory_person set ${what} where realm_id = $1`, [realm]);
  await whileAway(async () => {
    await said(`password_changed = '20261122000000Z'`);
    expect((await signIn('ada')).text).toContain(AWAY);
    await said('password_changed = null, enabled_there = false');
    expect((await signIn('ada')).text).toContain(AWAY);
    await said('enabled_there = true');
    expect(isIn(await signIn('ada'))).toBe(true);
    const params = { realm, userId: body[0]?.id ?? '' };
    await server.admin.call(putUser, { params, body: { enabled: false } });
    expect((await signIn('ada')).text).toContain(REFUSED);
  });
});

test('guesses at it are counted: who is locked out stays out with the right one', async () => {
  await prepare();
  await server.admin.call(putSettings, { params: { realm }, body: { lockoutEnabled: true, maxLoginFailures: 2 } });
  await whileAway(async () => {
    for (const _ of [1, 2]) expect((await signIn('ada', 'wrong')).text).toContain(AWAY);
    expect(isIn(await signIn('ada'))).toBe(false);
    expect(await reasons()).toEqual(['away', 'away', 'locked']);
  });
});
