// Owns: what a server makes of itself at start.
// Does not own: admin sign-in (admin-access.test.ts), the exchange of workload tokens.
// Implements: decisions "Admin authentication": first start, the operator's first sign-in.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type App, buildApp } from '../../../server/app.ts';
import { parseConfig } from '../../../server/config.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { openPool, type Sql, sqlOver } from '../../../server/db/sql.ts';
import { createLog } from '../../../server/log.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { MASTER_KEY } from '../../support/server.ts';

let database: TestDatabase;
let pool: ReturnType<typeof openPool>;
let sql: Sql;
const SECRET = 'an operator secret of a person';

/** Starts a replica, which makes what is missing, and stops it again. @param lines gets those of its log */
async function start(env: Record<string, string> = {}, lines?: string[]) {
  const own = openPool(database.url);
  const app: App = await buildApp({
    config: parseConfig({ DATABASE_URL: database.url, SVC_MASTER_KEY: MASTER_KEY.toString('base64'), ...env }),
    pool: own,
    databaseUrl: database.url,
    masterKey: [MASTER_KEY],
    log: lines ? createLog('warn', { to: { write: (line) => void lines.push(line) } }) : pino({ level: 'silent' }),
    strict: true,
    now: () => new Date(),
    newId,
  });
  try {
    return (await app.start()).administrator;
  } finally {
    await app.stop();
    await own.end();
  }
}
const events = async () => Number((await sql<{ n: number }>`select count(*) as n from event`)[0]?.n);

beforeAll(async () => {
  database = await createDatabase();
  pool = openPool(database.url);
  sql = sqlOver(pool);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

test('a first administrator’s password that is easy to guess stops the start, and makes nobody', async () => {
  for (const password of ['password1234', 'admin-admin-12', '123456789012'])
    await expect(start({ SVC_BOOTSTRAP_ADMIN_PASSWORD: password })).rejects.toThrow(
      /^SVC_BOOTSTRAP_ADMIN_PASSWORD must not be/,
    );
  expect(await sql`select username from realm_user`).toEqual([]);
});

test('two replicas that start at once make one master with one administrator, whose password only one of them tells', async () => {
  const [a, b] = await Promise.all([start(), start()]);
  expect([a, b].filter(({ password }) => password !== undefined)).toHaveLength(1);
  const users = await sql<{ username: string }>`select username from realm_user`;
  expect(users).toEqual([{ username: 'admin' }]);
  const grants = await sql<{ name: string; target_realm: string }>`
    select r.name, g.target_realm from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id`;
  expect(grants).toEqual([{ name: 'realm-admin', target_realm: '*' }]);
});

test('a second start changes nothing, and a password given later does not replace the first', async () => {
  const before = await events();
  // not read again: it may be one that would be refused today
  await start({ SVC_BOOTSTRAP_ADMIN_PASSWORD: 'password1234' });
  const { password } = await start({ SVC_BOOTSTRAP_ADMIN_PASSWORD: 'another password entirely' });
  expect(password).toBeUndefined();
  expect(await events()).toBe(before);
});

test('the operator’s client is made from its secret once, and follows the secret', async () => {
  await start({ SVC_OPERATOR_CLIENT_SECRET: SECRET });
  const before = await events();
  await start({ SVC_OPERATOR_CLIENT_SECRET: SECRET });
  expect(await events()).toBe(before);
  await start({ SVC_OPERATOR_CLIENT_SECRET: `${SECRET}, rotated` });
  expect(await events()).toBe(before + 1);
  const [row] = await sql<{ grant_types: string[]; target_realm: string }>`
    select c.grant_types, g.target_realm from client c join admin_grant g on g.realm_id = c.realm_id and g.client = c.id
    where c.realm_id = 'master' and c.client_id = 'operator'`;
  expect(row).toEqual({ grant_types: ['client_credentials'], target_realm: '*' });
});

test('the operator’s workload identity is made from issuer, subject and audience, which go together', async () => {
  const identity = {
    SVC_OPERATOR_ISSUER: 'https://kubernetes.default.svc',
    SVC_OPERATOR_SUBJECT: 'system:serviceaccount:realmkeeper:operator',
    SVC_OPERATOR_AUDIENCE: 'realmkeeper',
  };
  await start(identity);
  const before = await events();
  await start(identity);
  expect(await events()).toBe(before);
  const rows = await sql<{ subject: string; client_id: string }>`select subject, client_id from workload_identity`;
  expect(rows).toEqual([{ subject: identity.SVC_OPERATOR_SUBJECT, client_id: 'operator' }]);
  await expect(start({ SVC_OPERATOR_ISSUER: identity.SVC_OPERATOR_ISSUER })).rejects.toThrow(/SVC_OPERATOR_SUBJECT/);
});

test('a client that somebody else made as operator loses their keys and identities before it is trusted', async () => {
  await sql`delete from client where realm_id = 'master' and client_id = 'operator'`;
  await sql`
    insert into client (realm_id, id, client_id, token_endpoint_auth_method, jwks_uri, grant_types, created_at)
    values ('master', ${newId()}, 'operator', 'private_key_jwt', 'https://evil.example.test/jwks', '{authorization_code}', now())`;
  await sql`
    insert into workload_identity (realm_id, id, name, issuer, subject, audience, client_id)
    values ('master', ${newId()}, 'mine', 'https://evil.example.test', 'me', 'x', 'operator')`;
  await start({ SVC_OPERATOR_CLIENT_SECRET: SECRET });
  const [client] = await sql<{ jwks_uri: string | null; grant_types: string[] }>`
    select jwks_uri, grant_types from client where realm_id = 'master' and client_id = 'operator'`;
  expect(client).toEqual({ jwks_uri: null, grant_types: ['client_credentials'] });
  expect(await sql`select id from workload_identity`).toEqual([]);
});

test('built-in admin roles get the permissions of this release at start', async () => {
  await sql`update admin_role set permissions = '{users:read}' where name = 'realm-viewer'`;
  await start();
  const [role] = await sql<{ n: number }>`
    select cardinality(permissions) as n from admin_role where realm_id = 'master' and name = 'realm-viewer'`;
  expect(role?.n).toBeGreaterThan(10);
});

test('realmctl’s client follows the server’s address, and keeps what an administrator did to it', async () => {
  const client = async () =>
    (
      await sql<{ enabled: boolean; allowed_resources: string[] }>`
        select enabled, allowed_resources from client where realm_id = 'master' and client_id = 'realmctl'`
    )[0];
  const SVC_BASE_URL = 'https://iam.example.com';
  await start({ SVC_BASE_URL });
  expect((await client())?.allowed_resources).toEqual([`${SVC_BASE_URL}/admin`]);
  await sql`update client set enabled = false, allowed_resources = '{}' where client_id = 'realmctl'`;
  const before = await events();
  await start();
  expect(await client()).toEqual({ enabled: false, allowed_resources: [] });
  expect(await events()).toBe(before);
});

describe('where no administrator is left', () => {
  const users = () => sql<{ username: string }>`select username from realm_user where realm_id = 'master' order by 1`;
  const said = /No user of master holds realm-admin over every realm.*recover-admin/;

  test('no start makes another one or prints a password: each says in its log what does', async () => {
    const quiet: string[] = [];
    await start({}, quiet);
    expect(quiet.join('')).not.toMatch(said);
    await sql`delete from realm_user where realm_id = 'master'`;
    const lines: string[] = [];
    const started = await Promise.all([start({}, lines), start({ SVC_BOOTSTRAP_ADMIN_USERNAME: 'other' })]);
    expect(started.map(({ password }) => password)).toEqual([undefined, undefined]);
    expect(await users()).toEqual([]);
    expect(lines.join('')).toMatch(said);
  });

  test('the same holds of an installation from before that was remembered, once it is migrated', async () => {
    await sql`drop table first_administrator`;
    const migration = path.resolve(import.meta.dirname, '../../../server/db/migrations/0470_first_administrator.sql');
    const text = await readFile(migration, 'utf8');
    await connectedCluster(database.url, (client) => client.query(text));
    expect((await start()).password).toBeUndefined();
    expect(await users()).toEqual([]);
  });

  test('an administrator that a replica of an older release made counts as the first', async () => {
    await sql`delete from first_administrator`;
    await sql`insert into realm_user (realm_id, id, username, created_at) values ('master', ${newId()}, 'older', now())`;
    await sql`
      insert into admin_grant (realm_id, role_id, user_id, target_realm)
      select u.realm_id, r.id, u.id, '*' from realm_user u join admin_role r on r.realm_id = u.realm_id and r.name = 'realm-admin'`;
    expect((await start()).password).toBeUndefined();
    await sql`delete from realm_user where realm_id = 'master'`;
    expect((await start()).password).toBeUndefined();
    expect(await users()).toEqual([]);
  });
});

test('a password that is generated in production is temporary, and one that is given is not', async () => {
  const temporary = async () => {
    const [row] = await sql<{ temporary: boolean }>`
      select (secret ->> 'temporary')::boolean as temporary from credential where type = 'password'`;
    await sql`delete from realm_user where realm_id = 'master'`;
    await sql`delete from first_administrator`;
    return row?.temporary;
  };
  await sql`delete from first_administrator`;
  expect((await start({ NODE_ENV: 'production' })).password).toHaveLength(24);
  expect(await temporary()).toBe(true);
  await start({ NODE_ENV: 'production', SVC_BOOTSTRAP_ADMIN_PASSWORD: 'a password of one’s own' });
  expect(await temporary()).toBe(false);
  await start();
  expect(await temporary()).toBe(false);
});
