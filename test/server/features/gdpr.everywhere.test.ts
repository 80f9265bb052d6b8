// Owns: after an erasure nothing in the whole database names the person, whatever they were part of.
// Does not own: which events and sessions end with them (gdpr.test.ts), what is told to applications (logout-channels.test.ts).
// Implements: specification 4.6.
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as access from '../../../server/contract/admin-access.ts';
import { createEnrolmentToken } from '../../../server/contract/devices.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import { createInvitation } from '../../../server/contract/invitations.ts';
import { addGroupMember } from '../../../server/contract/memberships.ts';
import { registerPushToken } from '../../../server/contract/messages.ts';
import { putMessagingProvider } from '../../../server/contract/messaging.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { impersonateUser } from '../../../server/contract/user-access.ts';
import { importUsers } from '../../../server/contract/user-import.ts';
import { createUser, getUser, listUsers, putUser, setPassword } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { markDue } from '../../../server/features/operations/scim/provision-store.ts';
import { administrator } from '../../support/administrators.ts';
import { PASSWORD } from '../../support/applications.ts';
import { type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { scimToken, scimWith } from '../../support/scim.ts';

/** Kept for a service that nobody runs. */
const NOBODY_LISTENS = 1;
let site: MailingServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  site = await startMailingServer({
    caFiles: [receiver.caFile],
    env: { USER_REGISTRATION_ENABLED: 'true' },
    // What can't be delivered waits longer than the tests take, and no longer than a code is good for.
    retryDelaysSeconds: [400],
  });
});
afterAll(async () => {
  await site?.stop();
  await receiver?.stop();
});
const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);

/** Rows of every table, the queue's too, that hold one of the texts in whatever case. */
async function rowsWith(texts: readonly string[]): Promise<string[]> {
  const { pool } = site.server;
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname !~ '^pg_|information_schema' or n.nspname = 'pg_temp'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(
      `select t::text as row from ${name} t where t::text ilike any ($1::text[])`,
      [texts.map((text) => `%${text}%`)],
    );
    found.push(...rows.map(({ row }) => `${name}: ${row}`));
  }
  return found;
}

/** Nothing that was begun writes any more; what fails has been given up, or waits for its receiver. */
const idle = () =>
  expect
    .poll(async () => {
      const jobs = `select name from pgboss.job where state < 'completed' and start_after <= now()`;
      return (await site.server.pool.query(jobs)).rows;
    })
    .toEqual([]);

test('nothing in the whole database names who is erased: no feature’s table, no log, no queue', async () => {
  const realm = 'everywhere';
  const params = { realm };
  const username = 'Trillian.McMillan';
  const email = 'tricia@mcmillan.example';
  const marks = ['Astrophysicist', '+41 79 555 42 42', 'Heart of Gold/1.0', 'TriciaMarie'];
  await call(createRealm, { body: params });
  await site.sendsMail(realm);
  receiver.answer = ({ method }) => (method === 'POST' ? { status: 503 } : { status: 200, body: '{"Resources":[]}' });
  const document = {
    groups: [{ path: '/crew' }],
    roles: [{ name: 'pilot' }],
    clients: [
      { clientId: 'ship', grantTypes: ['client_credentials' as const] },
      { clientId: 'albums', grantTypes: ['client_credentials' as const] },
    ],
    webhooks: [{ name: 'all', url: `${receiver.url}/hook`, eventTypes: '*' }],
    scimTargets: [{ name: 'wiki', url: `${receiver.url}/scim`, secret: 'a token of its own' }],
    users: [
      {
        username,
        email,
        emailVerified: true,
        firstName: marks[3],
        lastName: 'McMillan',
        attributes: { job: [marks[0] ?? ''], phone: [marks[1] ?? ''] },
        groups: ['/crew'],
        roles: ['pilot'],
      },
      { username: 'arthur', email: 'arthur@earth.example' },
    ],
    organizations: [{ name: 'fleet', members: [username] }, { name: 'guild' }],
    agents: [{ name: 'marvin', owner: username, clientId: 'ship' }],
    authorizationServices: [
      {
        clientId: 'albums',
        resources: [{ name: 'hers', owner: username }],
        policies: [{ name: 'she', type: 'user' as const, config: { users: [username] } }],
      },
    ],
  };
  await call(importRealm, { params, query: { manager: 'git' }, body: document });
  const { body: people = [] } = await call(listUsers, { params });
  const userId = people.find((one) => one.username === username)?.id ?? '';
  const arthur = people.find((one) => one.username === 'arthur')?.id ?? '';
  const at = { params: { realm, userId } };

  // What others do with them.
  await call(setPassword, { ...at, body: { password: PASSWORD } });
  await call(createInvitation, { params, body: { email, organization: 'guild' } });
  await call(registerPushToken, {
    params,
    body: { userId, platform: 'fcm', token: 't'.repeat(40), deviceName: 'TriciaMarie’s phone' },
  });
  await call(createEnrolmentToken, at);
  await call(putUser, { ...at, body: { requiredActions: ['UPDATE_PROFILE'] } });
  await call(putUser, { ...at, body: { requiredActions: [] } });
  await call(impersonateUser, at);
  await call(importUsers, { params, body: [{ username: username.toUpperCase() }, { username: 'ford' }] as never });
  const clerk = await administrator(site.server, { home: realm, target: realm, permissions: ['groups:read'] });
  await expect(clerk.call(getUser, at)).rejects.toMatchObject({ status: 403 });
  await expect(clerk.call(addGroupMember, { params: { realm, id: newId(), userId } })).rejects.toMatchObject({
    status: 403,
  });
  const scim = scimWith(site.server, realm, await scimToken(site.server, realm));
  await scim('PATCH', `/Users/${userId}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'externalId', value: 'ext-TriciaMarie' }],
  });
  const sql = (text: string, values: unknown[]) => site.server.pool.query(text, values);
  const client = `(select id from client where realm_id = $1 and client_id = 'albums')`;
  for (const named of [username, email])
    await sql(
      `insert into uma_share (realm_id, id, client, resource, user_id, named, scopes, requested, denied, created_at, updated_at)
       values ($1, $2, ${client}, 'photo', $3, $4, '{}', '{}', '{}', now(), now())`,
      [realm, newId(), arthur, named],
    );

  // What they do: they are an administrator, sign in, fail to, have themselves sent a link.
  await call(access.putUserAdminRoles, { ...at, body: { grants: [{ role: 'user-manager', realm }] } });
  const her = await site.server.signIn({ realm, username, password: PASSWORD });
  await her.call(createUser, { params, body: { username: 'zaphod', email: 'zaphod@earth.example' } });
  await her.call(setPassword, { params: { realm, userId: arthur }, body: { password: PASSWORD } });
  const browser = () => createPerson(site.server.baseUrl, { 'user-agent': marks[2] ?? '' });
  const lost = browser();
  const asking = await lost.open(`/realms/${realm}/login`);
  for (const name of [username, email, username.toUpperCase()])
    await browser().fill(await browser().open(`/realms/${realm}/login`), { username: name, password: 'wrong' });
  await lost.fill(asking, { username: email, password: 'wrong' });
  await lost.open(`/realms/${realm}/login/forgot-password`);
  const inside = browser();
  await inside.fill(await inside.open(`/realms/${realm}/login?for=account`), { username, password: PASSWORD });

  const texts = [username, userId, email, ...marks];
  const before = await rowsWith(texts);
  expect(before.length).toBeGreaterThan(30);
  await idle();
  expect((await call(eraseUser, at)).status).toBe(204);
  await idle();
  // A job that was begun before goes on with the id that it was given.
  const { rows: targets } = await sql('select id from scim_target where realm_id = $1', [realm]);
  expect(targets).toHaveLength(1);
  await markDue(sqlOver(site.server.pool), realm, targets[0].id, new Date(), { users: [userId], groups: [] });
  expect(await rowsWith(texts)).toEqual([]);
  const { body: log = [] } = await call(listEvents, { params, query: { type: 'ACCESS_DENIED' } });
  expect(log.map(({ data }) => data.path)).toContain(`/admin/realms/${realm}/users/${await pseudonym(realm)}`);
});

/** What would still be sent, by whom it goes to, and by what it is. */
async function waiting(realm: string): Promise<string[]> {
  const { rows } = await site.server.pool.query<{ mail: string }>(
    `select concat(template_key, ' ', recipient) as mail from message
     where realm_id = $1 and status = 'retrying' and content is not null order by 1`,
    [realm],
  );
  return rows.map(({ mail }) => mail);
}

test('mails that couldn’t be sent yet go with whom they name, whether the person had an account when they were written or not', async () => {
  const realm = 'unsent';
  const params = { realm };
  const email = 'Zora@hidden.example';
  await call(createRealm, { body: params });
  await call(putSettings, { params, body: { registrationEnabled: true, registrationVerifyEmail: true } });
  const config = { host: '127.0.0.1', port: NOBODY_LISTENS };
  await call(putMessagingProvider, { params, body: { channel: 'EMAIL', driver: 'smtp', config } });

  const browser = createPerson(site.server.baseUrl);
  const both = { password: PASSWORD, repeated: PASSWORD };
  await browser.fill(await browser.open(`/realms/${realm}/register`), { email, ...both });
  await call(createInvitation, { params, body: { email: email.toUpperCase() } });
  const { body: zora } = await call(createUser, { params, body: { username: 'zora', email, password: PASSWORD } });
  const userId = zora?.id ?? '';
  await call(access.putUserAdminRoles, {
    params: { realm, userId },
    body: { grants: [{ role: 'user-manager', realm }] },
  });
  const her = await site.server.signIn({ realm, username: 'zora', password: PASSWORD });
  await her.call(createInvitation, { params, body: { email: 'ford@guide.example' } });
  const boss = await administrator(site.server, { target: realm, permissions: ['users:read', 'users:write'] });
  await boss.call(createInvitation, { params, body: { email: 'roosta@guide.example' } });
  await call(createInvitation, { params, body: { email: 'prosser@council.example' } });

  const ofOthers = ['invitation-email p…@council.example'];
  const ofBoss = ['invitation-email r…@guide.example'];
  const hers = [
    'invitation-email Z…@HIDDEN.EXAMPLE',
    'invitation-email f…@guide.example',
    'verify-email Z…@hidden.example',
  ];
  const all = [...ofOthers, ...ofBoss, ...hers];
  await expect.poll(async () => (await waiting(realm)).toSorted()).toEqual(all.toSorted());
  expect((await call(eraseUser, { params: { realm, userId } })).status).toBe(204);
  expect(await waiting(realm)).toEqual([...ofOthers, ...ofBoss]);

  // Who administers from elsewhere is named here too.
  const { body: me } = await boss.call(access.getAdminSession, {});
  await call(eraseUser, { params: { realm: 'master', userId: me?.id ?? '' } });
  expect(await waiting(realm)).toEqual(ofOthers);
});

const pseudonym = async (realm: string) =>
  (await call(listEvents, { params: { realm }, query: { type: 'USER_ERASED' } })).body?.[0]?.subject?.id;
