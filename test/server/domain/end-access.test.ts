// Owns: what ends somebody's access, by every door, and that it ends everywhere.
// Does not own: the same rows and events by API and document (users.same-by-both-ways.test.ts), sign-ins at the same moment (sign-in.withdrawn).
// Implements: decisions "Single sign-on and freshness".
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { getAdminSession } from '../../../server/contract/admin-access.ts';
import { type EventType, listEvents } from '../../../server/contract/events.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import * as users from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { createPasswords } from '../../../server/crypto/passwords.ts';
import { signInCli } from '../../support/admin-cli.ts';
import {
  authorizePath,
  CALLBACK,
  getCode,
  newVerifier,
  PASSWORD,
  redeem,
  refresh,
} from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { breakIn, EVERYTHING, makeGuardedRealm, whatHolds } from '../../support/intruder.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

const NEW = 'four dry parasols';
let server: TestServer;
let documents: Importer;
let phc: string;
let made = 0;

beforeAll(async () => {
  const passwords = createPasswords({ threads: 1 });
  phc = await passwords.hash(NEW);
  await passwords.stop();
  server = await startTestServer();
  documents = await importer(server);
});
afterAll(() => server?.stop());

async function realmWith(...usernames: string[]) {
  made += 1;
  const realm = `e${made}`;
  return { realm, id: await makeGuardedRealm(server, realm, usernames) };
}
const put = (realm: string, userId: string, body: users.UserInput) =>
  server.admin.call(users.putUser, { params: { realm, userId }, body });
const told = async (realm: string, type: EventType, name: string) =>
  ((await server.admin.call(listEvents, { params: { realm }, query: { type } })).body ?? [])
    .filter(({ subject }) => subject?.name === name)
    .map(({ actor, data }) => [actor?.name, data.reason]);
const credentialOf = async (realm: string, userId: string, type: string) =>
  (await server.admin.call(users.listCredentials, { params: { realm, userId } })).body?.find((c) => c.type === type)
    ?.id ?? expect.fail(`no credential of type ${type}`);
const documentOf = (fields: object) => ({ users: [{ username: 'alice', ...fields }] });

interface Door {
  reason: string;
  open(realm: string, userId: string): Promise<unknown>;
  /** What might make it live again. */
  close?(realm: string, userId: string): Promise<unknown>;
}

const doors: Record<string, Door> = {
  'an administrator’s new password': {
    reason: 'password-changed',
    open: (realm, userId) =>
      server.admin.call(users.setPassword, { params: { realm, userId }, body: { password: NEW, temporary: true } }),
  },
  'a new password among other changes': {
    reason: 'password-changed',
    open: (realm, userId) => put(realm, userId, { username: 'alice', firstName: 'Alice', password: NEW }),
  },
  'a removed credential': {
    reason: 'credential-removed',
    open: async (realm, userId) =>
      server.admin.call(users.deleteCredential, {
        params: { realm, userId, type: 'password', id: await credentialOf(realm, userId, 'password') },
      }),
  },
  disabling: {
    reason: 'disabled',
    open: (realm, userId) => put(realm, userId, { username: 'alice', enabled: false }),
    close: (realm, userId) => put(realm, userId, { username: 'alice', enabled: true }),
  },
  'disabling by a document': {
    reason: 'disabled',
    open: (realm) => documents.apply(realm, documentOf({ enabled: false })),
    close: (realm) => documents.apply(realm, documentOf({ enabled: true })),
  },
  'a document’s password': {
    reason: 'password-changed',
    async open(realm, userId) {
      // A document replaces none: it was lost otherwise.
      await server.pool.query('delete from credential where realm_id = $1 and user_id = $2', [realm, userId]);
      await documents.apply(realm, documentOf({ credentials: [{ type: 'password', phc }] }));
    },
  },
  deletion: {
    reason: 'deleted',
    open: (realm, userId) => server.admin.call(users.deleteUser, { params: { realm, userId } }),
  },
  'deletion by a document': {
    reason: 'deleted',
    async open(realm) {
      await documents.apply(realm, documentOf({}), { manager: 'hr' });
      await documents.apply(realm, { users: [] }, { manager: 'hr', prune: 'true' });
    },
  },
};

test.each(Object.entries(doors))('%s ends everything that the person had, and nobody else’s', async (_, door) => {
  const { realm, id } = await realmWith('alice', 'bob');
  const [thief, bob] = [await breakIn(server, realm, 'alice'), await breakIn(server, realm, 'bob')];
  await door.open(realm, id('alice'));
  await door.close?.(realm, id('alice'));
  expect(await whatHolds(server, realm, thief)).toEqual([]);
  expect(await whatHolds(server, realm, bob)).toEqual(EVERYTHING);
  const because = ['admin', door.reason];
  expect(await told(realm, 'SESSION_ENDED', 'alice')).toEqual([because, because]);
  expect(await told(realm, 'TOKEN_REVOKED', 'alice')).toEqual([because]);
  expect(await told(realm, 'SESSION_ENDED', 'bob')).toEqual([]);
});

test('a removed second factor ends everything too', async () => {
  const { realm, id } = await realmWith('alice');
  const thief = await breakIn(server, realm, 'alice');
  await server.pool.query(
    `insert into credential (realm_id, id, user_id, type, secret, created_at) values ($1, $2, $3, 'otp', '{}', now())`,
    [realm, newId(), id('alice')],
  );
  const factor = await credentialOf(realm, id('alice'), 'otp');
  const params = { realm, userId: id('alice'), type: 'otp', id: factor };
  await server.admin.call(users.deleteCredential, { params });
  expect(await whatHolds(server, realm, thief)).toEqual([]);
});

describe('who is disabled', () => {
  test.each(['disabling', 'disabling by a document'])(
    'does not go on with a half-finished sign-in when they are enabled again: %s',
    async (way) => {
      const { realm, id } = await realmWith('alice');
      await server.admin.call(putSettings, { params: { realm }, body: { requireMfa: true } });
      const alice = createPerson(server.baseUrl);
      const form = await alice.open(authorizePath(realm, 'spa', newVerifier()));
      const enrolment = await alice.fill(form, { username: 'alice', password: PASSWORD });
      expect(enrolment.heading).toBe('Set up a second factor');
      await doors[way]?.open(realm, id('alice'));
      await doors[way]?.close?.(realm, id('alice'));
      const after = await alice.fill(enrolment, { code: codeAt(secretOn(enrolment)) });
      expect(after.url.startsWith(CALLBACK)).toBe(false);
      const { body } = await server.admin.call(listSessions, { params: { realm } });
      expect(body).toEqual([]);
    },
  );

  test('by a document that says so again loses nothing more, and nobody is told twice', async () => {
    const { realm, id } = await realmWith('alice');
    await breakIn(server, realm, 'alice');
    await documents.apply(realm, documentOf({ enabled: false }));
    const before = await server.admin.call(listEvents, { params: { realm } });
    expect((await documents.apply(realm, documentOf({ enabled: false }))).inSync).toBe(true);
    await put(realm, id('alice'), { username: 'alice', enabled: false });
    expect((await server.admin.call(listEvents, { params: { realm } })).body).toEqual(before.body);
  });
});

describe('a person’s own new password', () => {
  const choose = (realm: string, userId: string) =>
    put(realm, userId, { username: 'alice', requiredActions: ['UPDATE_PASSWORD'] });

  test('ends what a thief has, and keeps the session in which it was set, with its tokens', async () => {
    const { realm, id } = await realmWith('alice', 'bob');
    const [thief, bob] = [await breakIn(server, realm, 'alice'), await breakIn(server, realm, 'bob')];
    const alice = createPerson(server.baseUrl);
    const { body: mine } = await redeem(server, realm, 'spa', await getCode(server, realm, 'spa', { person: alice }));
    await choose(realm, id('alice'));
    const form = await alice.open(authorizePath(realm, 'spa', newVerifier(), { prompt: 'login' }));
    const asked = await alice.fill(form, { username: 'alice', password: PASSWORD });
    expect(asked.heading).toBe('Choose a new password');
    const landed = await alice.fill(asked, { password: NEW, repeated: NEW });
    expect(landed.url.startsWith(CALLBACK)).toBe(true);
    expect(await whatHolds(server, realm, thief)).toEqual([]);
    expect(await whatHolds(server, realm, bob)).toEqual(EVERYTHING);
    expect((await alice.open(`/realms/${realm}/account`)).heading).toBe('alice');
    expect((await refresh(server, realm, 'spa', mine.refresh_token)).status).toBe(200);
    const { body } = await server.admin.call(listSessions, { params: { realm }, query: { userId: id('alice') } });
    expect(body).toHaveLength(1);
    const because = ['alice', 'password-changed'];
    expect(await told(realm, 'SESSION_ENDED', 'alice')).toEqual([because, because]);
  });

  test('ends what a thief has who came before the first sign-in', async () => {
    const { realm, id } = await realmWith('alice');
    const thief = await breakIn(server, realm, 'alice');
    await choose(realm, id('alice'));
    const alice = createPerson(server.baseUrl);
    const form = await alice.open(authorizePath(realm, 'spa', newVerifier()));
    const asked = await alice.fill(form, { username: 'alice', password: PASSWORD });
    expect((await alice.fill(asked, { password: NEW, repeated: NEW })).url.startsWith(CALLBACK)).toBe(true);
    expect(await whatHolds(server, realm, thief)).toEqual([]);
    expect((await alice.open(`/realms/${realm}/account`)).heading).toBe('alice');
  });

  test('set by an administrator for themselves keeps the administrator’s session alone', async () => {
    const { realm, id } = await realmWith('alice');
    const thief = await breakIn(server, realm, 'alice');
    const alice = await server.signIn({ realm, username: 'alice', password: PASSWORD });
    const params = { realm, userId: id('alice') };
    await alice.call(users.setPassword, { params, body: { password: NEW } });
    expect(await whatHolds(server, realm, thief)).toEqual([]);
    expect((await alice.call(getAdminSession)).body).toMatchObject({ name: 'alice' });
    // What isn't a new password ends it as well.
    const id2 = await credentialOf(realm, id('alice'), 'password');
    await alice.call(users.deleteCredential, { params: { ...params, type: 'password', id: id2 } });
    await expect(alice.call(getAdminSession)).rejects.toMatchObject({ status: 401 });
  });

  test('set by realmctl keeps the session that realmctl came by', async () => {
    const whoAmI = async (token: unknown) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${server.baseUrl}/admin/session`, { headers })).status;
    };
    const [mine, other] = [(await signInCli(server)).body, (await signInCli(server)).body];
    const me = String(
      JSON.parse(Buffer.from(String(mine.access_token).split('.')[1] ?? '', 'base64url').toString()).sub,
    );
    const response = await fetch(`${server.baseUrl}/admin/realms/master/users/${me}/password`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${mine.access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ password: NEW }),
    });
    expect(response.status).toBe(204);
    expect([await whoAmI(mine.access_token), await whoAmI(other.access_token)]).toEqual([200, 401]);
    await expect(server.admin.call(getAdminSession)).rejects.toMatchObject({ status: 401 });
    // For the tests that follow.
    server.admin = await server.signIn({ username: 'admin', password: NEW });
    documents = await importer(server, { username: 'admin', password: NEW });
  });
});

describe('of many people at once', () => {
  const named = (count: number) => Array.from({ length: count }, (_, i) => ({ username: `user-${i}` }));
  /** Each has a session, an administrator's session and an offline grant. */
  async function crowd(count: number): Promise<string> {
    made += 1;
    const realm = `crowd${made}`;
    const clients = [{ clientId: 'spa', tokenEndpointAuthMethod: 'none' }];
    await documents.apply(realm, { clients }, { manager: 'applications' });
    await documents.apply(realm, { users: named(count) });
    const life = `now(), now(), now() + interval '1 day'`;
    for (const statement of [
      `insert into session (realm_id, id, token_hash, user_id, started_at, last_seen_at, expires_at, authenticated_at)
       select realm_id, gen_random_uuid(), sha256(id::text::bytea), id, ${life}, now() from realm_user where realm_id = $1`,
      `insert into admin_session (realm_id, token_hash, user_id, started_at, last_seen_at, expires_at)
       select realm_id, sha256(id::text::bytea), id, ${life} from realm_user where realm_id = $1`,
      `insert into refresh_family (realm_id, id, client, user_id, grant_data, created_at, expires_at, token_hash)
       select u.realm_id, gen_random_uuid(), c.id, u.id, '{}', now(), now() + interval '1 day', sha256(u.id::text::bytea)
       from realm_user u join client c on c.realm_id = u.realm_id and c.client_id = 'spa' where u.realm_id = $1`,
    ])
      await server.pool.query(statement, [realm]);
    return realm;
  }
  /** How often PostgreSQL is asked something meanwhile, by whomever. */
  async function questions(work: () => Promise<unknown>): Promise<number> {
    const asked = vi.spyOn(pg.Client.prototype, 'query');
    try {
      await work();
      return asked.mock.calls.length;
    } finally {
      asked.mockRestore();
    }
  }
  const left = async (realm: string) => {
    const { rows } = await server.pool.query(
      `select (select count(*)::int from session where realm_id = $1) as sessions,
        (select count(*)::int from admin_session where realm_id = $1) as administrators,
        (select count(*)::int from refresh_family where realm_id = $1 and revoked_at is null) as grants,
        (select count(*)::int from event where realm_id = $1 and type = 'SESSION_ENDED') as ended,
        (select count(*)::int from event where realm_id = $1 and type = 'TOKEN_REVOKED') as revoked,
        (select count(*)::int from revoked_token where realm_id = $1) as tokens`,
      [realm],
    );
    return rows[0];
  };

  test.each<[string, (count: number) => [object, Record<string, string>?]]>([
    ['disabled', (count) => [{ users: named(count).map((user) => ({ ...user, enabled: false })) }]],
    ['deleted', () => [{ users: [] }, { prune: 'true' }]],
  ])('2,000 who are %s by one document take as many statements as a few', async (_, documentFor) => {
    const [few, many] = [await crowd(20), await crowd(2000)];
    const withFew = await questions(() => documents.apply(few, ...documentFor(20)));
    const withMany = await questions(() => documents.apply(many, ...documentFor(2000)));
    expect(await left(many)).toEqual({
      sessions: 0,
      administrators: 0,
      grants: 0,
      ended: 4000,
      revoked: 2000,
      tokens: 2000,
    });
    // One for each person would be 1,980. Workers ask too meanwhile, each once a second, for as long as it takes.
    expect(withMany - withFew).toBeLessThan(500);
  });
});
