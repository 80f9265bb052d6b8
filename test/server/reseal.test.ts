// The rotation of the master key, as docs/backup.md orders it: over two servers in two restarts, and sealing again beside a running
// server.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sealedColumns } from '../../server/compose/sealed-columns.ts';
import { declaredKinds } from '../../server/contract/declared-kinds.ts';
import { listEvents } from '../../server/contract/events.ts';
import { rotateKeys } from '../../server/contract/keys.ts';
import type { KindOf } from '../../server/contract/kind.ts';
import { registerPushToken } from '../../server/contract/messages.ts';
import { getRealmHealth } from '../../server/contract/realms.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { listUsers } from '../../server/contract/users.ts';
import { newId } from '../../server/crypto/ids.ts';
import { createSeal, type Seal } from '../../server/crypto/seal.ts';
import { sha256 } from '../../server/crypto/tokens.ts';
import { sqlOver } from '../../server/db/sql.ts';
import type { createTransact } from '../../server/db/transact.ts';
import { createReseal } from '../../server/domain/reseal.ts';
import { saltContext } from '../../server/domain/subjects.ts';
import { contentContext } from '../../server/features/configuration/messaging/send.ts';
import { contextAtRest } from '../../server/resource/at-rest.ts';
import { authorizePath, makePeopledRealm, newVerifier, PASSWORD, redeem } from '../support/applications.ts';
import { makeClient, makeRealm, post, SECRET } from '../support/clients.ts';
import { fullRealm } from '../support/full-realm.ts';
import { createPerson } from '../support/person.ts';
import { MASTER_KEY, startTestServer, type TestServer } from '../support/server.ts';

const NEW = Buffer.alloc(32, 9);
const REALM = 'acme';
const USERS = 450;
let server: TestServer;
let sql: ReturnType<typeof sqlOver>;

/** Runs the command as an operator would. */
async function reseal(keyring: readonly Buffer[], ...args: string[]) {
  const main = path.resolve(import.meta.dirname, '../../server/reseal/main.ts');
  const env = {
    ...process.env,
    DATABASE_URL: server.databaseUrl,
    SVC_MASTER_KEY: keyring.map((key) => key.toString('base64')).join(','),
  };
  const run = promisify(execFile)(process.execPath, [main, ...args], { env });
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}
const leftFor = (seal: Seal) =>
  createReseal({ sql, transact: unused, seal, columns: sealedColumns })
    .left()
    .then((left) => left.reduce((sum, { secrets }) => sum + secrets, 0));
const unused: ReturnType<typeof createTransact> = () => Promise.reject(new Error('nothing is written here'));

beforeAll(async () => {
  server = await startTestServer();
  sql = sqlOver(server.pool);
  await makeRealm(server, REALM);
  const params = { realm: REALM };
  const { webhooks } = fullRealm();
  const secret = 'a secret that is stored here';
  const sealed = Object.values<KindOf>(declaredKinds).filter(({ entry }) => entry.secrets.length > 0);
  const declared = sealed.map(({ section, example }) => [section, [example]]);
  const body = {
    webhooks: webhooks?.slice(0, 1).map((one) => ({ ...one, secret })),
    ...Object.fromEntries(declared),
    users: Array.from({ length: USERS }, (_, i) => ({
      username: `person-${i}`,
      credentials: [{ type: 'otp' as const, secret: 'JBSWY3DPEHPK3PXP' }],
    })),
  };
  await server.admin.call(importRealm, { params, query: {}, body });
  const { body: people } = await server.admin.call(listUsers, { params, query: { limit: 1 } });
  const userId = people?.[0]?.id ?? '';
  for (const token of ['one', 'two'])
    await server.admin.call(registerPushToken, { params, body: { userId, platform: 'fcm', token: `device-${token}` } });
  await server.admin.call(rotateKeys, { params, body: { algorithm: 'RSA-OAEP-256' } });
  const seal = createSeal([MASTER_KEY]);
  const id = newId();
  await sql`update realm set subject_salt = ${seal.seal('salt', saltContext(REALM))} where realm_id = ${REALM}`;
  await sql`
    insert into message (realm_id, id, channel, template_key, recipient, content, expires_at, created_at)
    values (${REALM}, ${id}, 'EMAIL', 'x', 'x', ${seal.seal('{}', contentContext(REALM, id))}, now(), now())`;
  // Somebody who came by the identity provider.
  const [link, session, kept] = [newId(), newId(), newId()];
  await sql`
    insert into identity_link (realm_id, id, user_id, provider_id, issuer, subject, subject_digest, created_at)
    select ${REALM}, ${link}, ${userId}, id, 'x', 'x', ${sha256('x')}, now() from identity_provider where realm_id = ${REALM}`;
  await sql`
    insert into session (realm_id, id, user_id, token_hash, started_at, last_seen_at, authenticated_at, expires_at)
    values (${REALM}, ${session}, ${userId}, ${sha256('x')}, now(), now(), now(), now() + interval '1 day')`;
  const idToken = seal.seal('x', contextAtRest('provider-session', { realm: REALM, id: kept }));
  await sql`
    insert into provider_session (realm_id, id, session_id, link_id, id_token)
    values (${REALM}, ${kept}, ${session}, ${link}, ${idToken})`;
  const accessToken = seal.seal('x', contextAtRest('provider-token', { realm: REALM, id: kept }));
  await sql`
    insert into provider_token (realm_id, id, link_id, access_token, expires_at)
    values (${REALM}, ${kept}, ${link}, ${accessToken}, now() + interval '1 day')`;
  // The chain over the log of both realms is begun a moment after their first events.
  await vi.waitFor(async () => expect(await sql`select from event_chain`).toHaveLength(2));
  await makeClient(server, REALM, { clientId: 'job', secret: SECRET, grantTypes: ['client_credentials'] });
  const header = newId();
  const authorization = seal.seal('x', contextAtRest('signal-stream', { realm: REALM, id: header }));
  await sql`
    insert into signal_receiver (realm_id, id, client_id, enabled, events, subjects, start_with, formats, subject_in_events)
    values (${REALM}, ${header}, 'job', true, '{}', 'used', 'none', '{}', false)`;
  await sql`
    insert into signal_stream (realm_id, id, receiver, method, pushed, endpoint_url, authorization_header, format, created_at)
    values (${REALM}, ${header}, ${header}, 'push', true, 'https://receiver.example.com', ${authorization}, 'iss_sub', now())`;
});
afterAll(() => server?.stop());

const tokenOf = (at: TestServer, realm: string) =>
  post(at, realm, 'token', { grant_type: 'client_credentials', client_id: 'job', client_secret: SECRET });

test('what is under an old key is told, sealed again once, and readable without the old key', async () => {
  const [before, after] = [createSeal([MASTER_KEY]), createSeal([NEW])];
  const checked = await reseal([NEW, MASTER_KEY], '--check');
  expect([checked.code, checked.stderr]).toEqual([1, '']);
  // Each column that can be sealed is there to be looked at.
  for (const { table } of sealedColumns) expect(checked.stdout).toMatch(new RegExp(`^${table}\\.`, 'm'));
  expect(await leftFor(before)).toBe(0);

  const done = await reseal([NEW, MASTER_KEY]);
  expect(done).toMatchObject({ code: 0, stderr: '' });
  expect(done.stdout).toContain(`credential.secret.sealed: ${USERS} sealed again`);
  expect(done.stdout).toContain('Nothing is left under an older key.');
  expect(await leftFor(after)).toBe(0);
  for (const column of sealedColumns) {
    const { rows } = await server.pool.query(`select * from ${column.table} where ${column.column} is not null`);
    for (const row of rows) {
      const held = column.member ? row[column.column][column.member] : row[column.column];
      if (held === undefined) continue;
      const digest: Buffer | null = column.digest ? row[column.digest.column] : null;
      const at = { realm: row.realm_id, key: column.key ? row[column.key] : row.realm_id, digest };
      const plain = after.open(column.member ? Buffer.from(held, 'base64') : held, column.context(at));
      if (digest) expect(column.digest?.of(after, row.realm_id, plain.toString())).toEqual(digest);
    }
  }
  const again = await reseal([NEW, MASTER_KEY]);
  expect([again.code, again.stdout]).toEqual([0, 'Nothing is left under an older key.\n']);
  const { body: events = [] } = await server.admin.call(listEvents, {
    params: { realm: 'master' },
    query: { type: 'SECRETS_RESEALED' },
  });
  const otp = events.filter(({ data }) => data.column === 'credential.secret.sealed');
  expect(otp.map(({ data }) => data.secrets).toSorted()).toEqual([200, 200, 50]);
});

test('a device that was registered anew meanwhile keeps its newer row', async () => {
  const [old, now] = [createSeal([NEW]), createSeal([MASTER_KEY])];
  const column = sealedColumns.find(({ table }) => table === 'push_token');
  const digest = column?.digest?.of(now, REALM, 'device-one') ?? Buffer.alloc(0);
  const context = column?.context({ realm: REALM, key: '', digest }) ?? '';
  await sql`
    insert into push_token (realm_id, id, user_id, platform, token, token_digest, created_at)
    select realm_id, ${newId()}, user_id, platform, ${now.seal('device-one', context)}, ${digest}, now()
    from push_token where realm_id = ${REALM} and token_digest = ${column?.digest?.of(old, REALM, 'device-one')}`;
  expect(await reseal([MASTER_KEY, NEW])).toMatchObject({ code: 0, stderr: '' });
  const rows = await sql`select from push_token where realm_id = ${REALM}`;
  expect(rows).toHaveLength(2);
});

test('what no key opens is counted, left alone, and a failure; the rest is done', async () => {
  const lost = createSeal([Buffer.alloc(32, 1)]).seal('salt', saltContext(REALM));
  await sql`update realm set subject_salt = ${lost} where realm_id = ${REALM}`;
  const { code, stderr, stdout } = await reseal([NEW, MASTER_KEY]);
  expect(code).toBe(1);
  expect(stderr).toContain("realm.subject_salt: 1 are under a key that isn't here");
  expect(stdout).toContain('webhook.secret: 1 sealed again');
  expect(await sql`select subject_salt from realm where realm_id = ${REALM}`).toEqual([{ subject_salt: lost }]);
  await sql`update realm set subject_salt = null where realm_id = ${REALM}`;
  for (const args of [['--all'], ['--check', 'x']]) expect((await reseal([NEW], ...args)).code).toBe(2);
  // Back under the key that the server of this test has.
  expect((await reseal([MASTER_KEY, NEW])).code).toBe(0);
  expect((await tokenOf(server, REALM)).status).toBe(200);
});

test('a realm’s health tells how much is still under an older key', async () => {
  const rotating = await startTestServer({ masterKey: [NEW, MASTER_KEY] });
  try {
    const params = { realm: 'master' };
    const masterKey = async () =>
      (await rotating.admin.call(getRealmHealth, { params })).body?.components.masterKey?.details;
    expect(await masterKey()).toEqual({ olderKeys: 1, sealedUnderOlder: 0 });
    const key = await sqlOver(rotating.pool)<{ realm_id: string; key_id: string; private_key: Buffer }>`
      select realm_id, key_id, private_key from realm_key where realm_id = 'master'`;
    const column = sealedColumns.find(({ table }) => table === 'realm_key');
    for (const { realm_id: realm, key_id, private_key } of key) {
      const context = column?.context({ realm, key: key_id, digest: null }) ?? '';
      const old = createSeal([MASTER_KEY]).seal(createSeal([NEW]).open(private_key, context), context);
      await rotating.pool.query('update realm_key set private_key = $1 where key_id = $2', [old, key_id]);
    }
    expect(await masterKey()).toEqual({ olderKeys: 1, sealedUnderOlder: 1 });
    await rotating.admin.call(rotateKeys, { params });
  } finally {
    await rotating.stop();
  }
  const { body } = await server.admin.call(getRealmHealth, { params: { realm: REALM } });
  expect(body?.components.masterKey).toEqual({ status: 'UP', details: { olderKeys: 0, sealedUnderOlder: 0 } });
});

/** What one server seals, the other opens: a realm's signing keys, and a sign-in that begins at one and goes on at the other. */
async function expectShared(one: TestServer, other: TestServer, realm: string): Promise<void> {
  await makePeopledRealm(one, realm);
  await makeClient(one, realm, { clientId: 'job', secret: SECRET, grantTypes: ['client_credentials'] });
  expect((await tokenOf(other, realm)).status).toBe(200);
  const [here, there, verifier] = [createPerson(one.baseUrl), createPerson(other.baseUrl), newVerifier()];
  const page = await here.open(authorizePath(realm, 'spa', verifier));
  for (const [name, value] of here.jar) there.jar.set(name, value);
  const { url } = await there.fill(page, { username: 'alice', password: PASSWORD });
  const code = new URL(url).searchParams.get('code') ?? '';
  expect((await redeem(one, realm, 'spa', { code, verifier })).status).toBe(200);
}

test('two servers change keys in two restarts, and then drop the old one: each opens what the other seals', async () => {
  const OLD = MASTER_KEY;
  const restarted = (...masterKey: Buffer[]) => startTestServer({ beside: server, masterKey });
  const servers = [server, await restarted(OLD, NEW)];
  try {
    const both = async (realm: string) => {
      const [one, other] = servers.slice(-2);
      if (!one || !other) throw new Error('two servers run');
      await expectShared(one, other, `${realm}-one`);
      await expectShared(other, one, `${realm}-other`);
    };
    await both('appended');
    servers.push(await restarted(NEW, OLD));
    await both('first-seals');
    servers.push(await restarted(NEW, OLD));
    await both('both-seal');
    // a server that was left out can't open what the others seal: hence two restarts
    expect((await tokenOf(server, 'both-seal-one')).status).toBeGreaterThanOrEqual(500);
    expect(await reseal([NEW, OLD])).toMatchObject({ code: 0, stderr: '' });
    servers.push(await restarted(NEW));
    await both('dropped');
    for (const realm of [REALM, 'appended-one', 'first-seals-other'])
      expect((await tokenOf(servers.at(-1) ?? server, realm)).status).toBe(200);
  } finally {
    for (const one of servers.slice(1)) await one.stop();
  }
});
