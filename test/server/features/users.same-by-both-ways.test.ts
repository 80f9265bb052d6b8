// Owns: that the same change of a user by the admin API and by a realm document leaves the same rows and events, by each field.
// Does not own: the same of other kinds (resource/same-by-both-ways.test.ts), who owns an object (transfer.ownership.test.ts).
// Implements: decisions "Import, export, plan", "Single sign-on and freshness".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Event, listEvents } from '../../../server/contract/events.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import * as users from '../../../server/contract/users.ts';
import { createPasswords } from '../../../server/crypto/passwords.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

const [API, DOCUMENT] = ['by-api', 'by-document'];
let server: TestServer;
let documents: Importer;
let phc: string;

beforeAll(async () => {
  const passwords = createPasswords({ threads: 1 });
  phc = await passwords.hash(PASSWORD);
  await passwords.stop();
  server = await startTestServer();
  documents = await importer(server);
  for (const realm of [API, DOCUMENT]) {
    await server.admin.call(createRealm, { body: { realm } });
    const groups = ['/red', '/blue'].map((path) => ({ path }));
    const clients = [{ clientId: 'spa', tokenEndpointAuthMethod: 'none' }];
    await documents.apply(realm, { roles: [{ name: 'reader' }, { name: 'writer' }], groups, clients });
  }
});
afterAll(() => server?.stop());

interface Case {
  /** What changes; it names the object too. */
  change: string;
  before: object;
  /** The body of a PUT; `delete`: it goes. */
  api: object | 'delete';
  /** The object's fields in the document, where they aren't the same. */
  document?: object;
  nothing?: true;
}

const PASSWORD = 'four dry parasols';
const mail = { email: 'ada@example.test', emailVerified: true };

const cases: readonly Case[] = [
  { change: 'nothing', before: mail, api: {}, nothing: true },
  { change: 'username', before: {}, api: { username: 'USERNAME' } },
  { change: 'email', before: mail, api: { email: 'eve@example.test' } },
  { change: 'email-and-verified', before: mail, api: { email: 'eva@example.test', emailVerified: true } },
  { change: 'email-in-another-case', before: mail, api: { email: 'ADA@example.test' } },
  { change: 'first-email', before: {}, api: { email: 'new@example.test' } },
  { change: 'no-email', before: mail, api: { email: null } },
  { change: 'emailVerified', before: { email: 'v@example.test' }, api: { emailVerified: true } },
  { change: 'not-emailVerified', before: mail, api: { emailVerified: false } },
  { change: 'firstName', before: { firstName: 'Ada' }, api: { firstName: 'Eve' } },
  { change: 'no-firstName', before: { firstName: 'Ada' }, api: { firstName: null } },
  { change: 'lastName', before: {}, api: { lastName: 'Lovelace' } },
  { change: 'disabled', before: {}, api: { enabled: false } },
  { change: 'enabled', before: { enabled: false }, api: { enabled: true } },
  {
    change: 'attributes',
    before: { attributes: { a: ['1'], b: ['2'] } },
    api: { attributes: { b: ['3', '2'], 'c/d': ['', 'ü'] } },
  },
  { change: 'no-attributes', before: { attributes: { a: ['1'] } }, api: { attributes: {} } },
  {
    change: 'requiredActions',
    before: { requiredActions: ['CONFIGURE_OTP'] },
    api: { requiredActions: ['UPDATE_PASSWORD', 'CONFIGURE_OTP', 'UPDATE_PASSWORD'] },
  },
  { change: 'no-requiredActions', before: { requiredActions: ['CONFIGURE_OTP'] }, api: { requiredActions: [] } },
  { change: 'roles', before: { roles: ['reader'] }, api: { roles: ['writer', 'writer'] } },
  { change: 'no-roles', before: { roles: ['reader', 'writer'] }, api: { roles: [] } },
  { change: 'groups', before: { groups: ['/red'] }, api: { groups: ['/blue'] } },
  {
    change: 'first-password',
    before: { requiredActions: ['UPDATE_PASSWORD', 'CONFIGURE_OTP'] },
    api: { password: PASSWORD },
    document: { credentials: [{ type: 'password', phc: '' }] },
  },
  {
    change: 'temporary-password',
    before: { requiredActions: ['UPDATE_PASSWORD'] },
    api: { password: PASSWORD, passwordTemporary: true },
    document: { credentials: [{ type: 'password', phc: '', temporary: true }] },
  },
  {
    change: 'password-of-a-disabled-person',
    before: { firstName: 'Ada' },
    api: { password: PASSWORD, enabled: false, firstName: 'Eve' },
    document: { credentials: [{ type: 'password', phc: '' }], enabled: false, firstName: 'Eve' },
  },
  {
    change: 'everything',
    before: { ...mail, roles: ['reader'], groups: ['/red'], attributes: { a: ['1'] } },
    api: {
      email: 'all@example.test',
      firstName: 'Eve',
      lastName: 'Ever',
      enabled: false,
      attributes: { z: ['1'] },
      requiredActions: ['CONFIGURE_OTP'],
      roles: ['writer', 'reader'],
      groups: ['/red', '/blue'],
    },
  },
  { change: 'deleted', before: { ...mail, roles: ['reader'], groups: ['/red'] }, api: 'delete' },
];

const user = {
  /** Makes somebody who is signed in everywhere. @returns the id */
  async make(realm: string, name: string, before: object): Promise<string> {
    const address = 'email' in before ? { email: `${name}.${before.email}` } : {};
    const body = users.UserInput.parse({ username: name, ...before, ...address });
    const id = (await server.admin.call(users.createUser, { params: { realm }, body })).body?.id ?? '';
    const life = `now(), now(), now() + interval '1 day'`;
    for (const statement of [
      `insert into session (realm_id, id, token_hash, user_id, started_at, last_seen_at, expires_at, authenticated_at)
       values ($1, gen_random_uuid(), sha256($2::uuid::text::bytea), $2, ${life}, now())`,
      `insert into admin_session (realm_id, token_hash, user_id, started_at, last_seen_at, expires_at)
       values ($1, sha256($2::uuid::text::bytea), $2, ${life})`,
      `insert into refresh_family (realm_id, id, client, user_id, grant_data, created_at, expires_at, token_hash)
       select $1, gen_random_uuid(), id, $2, '{}', now(), now() + interval '1 day', '' from client
       where realm_id = $1 and client_id = 'spa'`,
      `insert into lockout (realm_id, user_id, failures, last_failure_at) values ($1, $2, 3, now())`,
      `insert into sign_in (realm_id, id, state, created_at, expires_at)
       values ($1, sha256($2::uuid::text::bytea), jsonb_build_object('user', jsonb_build_object('id', $2::uuid)), now(), now() + interval '1 hour')`,
    ])
      await server.pool.query(statement, [realm, id]);
    return id;
  },
  put: (realm: string, userId: string, name: string, fields: object) => {
    const body = users.UserUpdate.parse({ username: name, ...fields });
    return server.admin.call(users.putUser, { params: { realm, userId }, body });
  },
  remove: (realm: string, userId: string) => server.admin.call(users.deleteUser, { params: { realm, userId } }),
  section(name: string, fields: object) {
    const credentials = 'credentials' in fields && Array.isArray(fields.credentials) ? fields.credentials : undefined;
    const hashed = credentials && { credentials: credentials.map((c) => ({ ...c, phc })) };
    return { users: [{ username: name, ...fields, ...hashed }] };
  },
  /** All that is stored of them, without ids, times and owners. */
  async rows(realm: string, id: string): Promise<unknown> {
    const { rows } = await server.pool.query(
      `select u.username, u.email, u.email_verified, u.first_name, u.last_name, u.enabled, u.attributes, u.required_actions,
        array(select r.name from user_role x join role r on r.realm_id = x.realm_id and r.id = x.role_id
          where x.realm_id = who.realm and x.user_id = who.id order by 1) as roles,
        array(select g.path from group_member x join user_group g on g.realm_id = x.realm_id and g.id = x.group_id
          where x.realm_id = who.realm and x.user_id = who.id order by 1) as groups,
        (select jsonb_agg(jsonb_build_array(type, label, last_used_at, secret - 'phc', left(secret ->> 'phc', 10)) order by type)
          from credential where realm_id = who.realm and user_id = who.id) as credentials,
        (select count(*)::int from lockout where realm_id = who.realm and user_id = who.id) as lockouts,
        (select count(*)::int from session where realm_id = who.realm and user_id = who.id) as sessions,
        (select count(*)::int from admin_session where realm_id = who.realm and user_id = who.id) as administrators,
        (select count(*)::int from sign_in where realm_id = who.realm and state #>> '{user,id}' = who.id::text) as sign_ins,
        (select jsonb_agg(revoked_at is null) from refresh_family where realm_id = who.realm and user_id = who.id) as grants
      from (values ($1::text, $2::uuid)) who (realm, id) left join realm_user u on u.realm_id = who.realm and u.id = who.id`,
      [realm, id],
    );
    return rows;
  },
};

/** Of an import as a whole, beside what it does to each. */
const OF_THE_IMPORT = new Set<string>(['USERS_IMPORTED', 'REALM_IMPORTED']);

/** What was told of it since: without ids and times, which differ, and without the manager, whom the API has none of. */
async function eventsSince(realm: string, known: number): Promise<unknown> {
  const { body = [] } = await server.admin.call(listEvents, { params: { realm }, query: { limit: 1000 } });
  const plain = ({ id: _, occurredAt: __, realmId: ___, data, subject, ...event }: Event) => {
    const { manager: ____, sessionId: _____, ...told } = data;
    return { ...event, subject: subject && { ...subject, id: subject.id === null ? null : 'an id' }, data: told };
  };
  return body
    .slice(0, body.length - known)
    .filter(({ type }) => !OF_THE_IMPORT.has(type))
    .map(plain);
}
const countOf = async (realm: string) =>
  (await server.admin.call(listEvents, { params: { realm }, query: { limit: 1000 } })).body?.length ?? 0;

describe('a user', () => {
  test.each(cases.map((one) => [one.change, one] as const))('%s', async (change, one) => {
    const name = change.toLowerCase();
    async function outcome(realm: string, act: (id: string) => Promise<unknown>) {
      const id = await user.make(realm, name, one.before);
      const [before, known] = [await user.rows(realm, id), await countOf(realm)];
      await act(id);
      return { before, rows: await user.rows(realm, id), events: await eventsSince(realm, known) };
    }
    const { api, document = api } = one;
    const byApi = await outcome(API, (id) => (api === 'delete' ? user.remove(API, id) : user.put(API, id, name, api)));
    const byDocument = await outcome(DOCUMENT, async () => {
      const owner = { manager: `of-${name}` };
      if (document !== 'delete') return documents.apply(DOCUMENT, user.section(name, document), owner);
      await documents.apply(DOCUMENT, user.section(name, {}), owner);
      return documents.apply(DOCUMENT, { users: [] }, { ...owner, prune: 'true' });
    });
    expect(byDocument).toEqual(byApi);
    const changes = one.nothing ? expect(byApi.rows) : expect(byApi.rows).not;
    changes.toEqual(byApi.before);
    if (document === 'delete') return;
    const again = await documents.apply(DOCUMENT, user.section(name, document), { manager: `of-${name}` });
    expect(again.inSync).toBe(true);
  });
});
