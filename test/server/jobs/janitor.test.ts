import type pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newId } from '../../../server/crypto/ids.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { openPool, sqlOver } from '../../../server/db/sql.ts';
import { createStaging, stagingTable } from '../../../server/db/staging.ts';
import { createTransact } from '../../../server/db/transact.ts';
import { sealEvents } from '../../../server/events/chain.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { sweep, sweepEvents } from '../../../server/jobs/janitor.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { type Explained, explainAll, hearPlans, rowsRead } from '../../support/plans.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
let database: TestDatabase;
let pool: pg.Pool;

beforeEach(async () => {
  database = await createDatabase();
  pool = openPool(database.url);
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

const at = (hours: number) => new Date(NOW.getTime() + hours * 3_600_000);
const count = async (table: string): Promise<number> =>
  (await pool.query(`select count(*)::int as n from ${table}`)).rows[0].n;

test('what has expired goes, in batches, and what has not stays', async () => {
  await pool.query(`insert into realm (realm_id, created_at) values ('acme', now())`);
  for (const [rows, hours] of [
    [2_500, -1],
    [3, 1],
  ])
    await pool.query(
      `insert into sign_in (realm_id, id, state, created_at, expires_at)
       select 'acme', decode(md5($1::text || n), 'hex'), '{}', now(), $2 from generate_series(1, $1::int) n`,
      [rows, at(Number(hours))],
    );
  await pool.query(`insert into revoked_token (realm_id, jti, expires_at)
    values ('acme', gen_random_uuid(), '${at(-1).toISOString()}'), ('acme', gen_random_uuid(), '${at(1).toISOString()}')`);
  await pool.query(
    `insert into webhook (realm_id, id, name, url, event_types, created_at)
     values ('acme', gen_random_uuid(), 'hook', 'https://x.example', '{*}', now())`,
  );
  await pool.query(
    `insert into webhook_delivery (realm_id, id, webhook_id, event_id, event_type, body, created_at)
     select 'acme', gen_random_uuid(), id, gen_random_uuid(), 'LOGOUT', '{}', unnest(array[$1, $2]::timestamptz[]) from webhook`,
    [at(-31 * 24), at(-29 * 24)],
  );
  expect(await sweep(sqlOver(pool), NOW)).toBe(2_500 + 1 + 1);
  expect([await count('sign_in'), await count('revoked_token'), await count('webhook_delivery')]).toEqual([3, 1, 1]);
});

test('applied plans go above what a realm has come to keep, the oldest first', async () => {
  await pool.query(`insert into realm (realm_id, created_at, settings)
    values ('few', now(), '{"mostAppliedPlans": 2}'), ('none', now(), '{"mostAppliedPlans": 0}'), ('usual', now(), '{}')`);
  await pool.query(`insert into applied_plan (realm_id, revision, applied_at, manager, event_id, counts)
    select r, n, now(), 'm', gen_random_uuid(), '{}' from unnest(array['few', 'none', 'usual']) r, generate_series(1, 4) n`);
  await sweep(sqlOver(pool), NOW);
  const { rows } = await pool.query('select realm_id, revision from applied_plan order by realm_id, revision');
  expect(rows.map(({ realm_id, revision }) => `${realm_id} ${revision}`)).toEqual([
    ...['few 3', 'few 4'],
    ...['usual 1', 'usual 2', 'usual 3', 'usual 4'],
  ]);
});

test('a session stays while a refresh token of it is good, and goes with the last of them', async () => {
  const client = await pool.connect();
  await client.query(`insert into realm (realm_id, created_at) values ('acme', now())`);
  await client.query(
    `insert into realm_user (realm_id, id, username, created_at) values ('acme', '00000000-0000-7000-8000-000000000001', 'u', now())`,
  );
  await client.query(
    `insert into client (realm_id, id, client_id, created_at) values ('acme', '00000000-0000-7000-8000-000000000002', 'c', now())`,
  );
  await client.query(
    `insert into session (realm_id, id, token_hash, user_id, started_at, last_seen_at, expires_at, authenticated_at)
     select 'acme', ('00000000-0000-7000-8000-00000000001' || n)::uuid, decode(md5(n::text), 'hex'),
       '00000000-0000-7000-8000-000000000001', $1, $1, $1, $1 from generate_series(1, 3) n`,
    [at(-2)],
  );
  await client.query(
    `insert into refresh_family (realm_id, id, client, user_id, session_id, grant_data, created_at, expires_at, revoked_at, token_hash)
     select 'acme', gen_random_uuid(), '00000000-0000-7000-8000-000000000002', '00000000-0000-7000-8000-000000000001',
       ('00000000-0000-7000-8000-00000000001' || n)::uuid, '{}', now(), $1, case when n = 2 then $2::timestamptz end, ''
     from generate_series(1, 2) n`,
    [at(1), at(-1)],
  );
  client.release();
  await sweep(sqlOver(pool), NOW);
  expect([await count('session'), await count('refresh_family')]).toEqual([1, 1]);
  await sweep(sqlOver(pool), at(2));
  expect([await count('session'), await count('refresh_family')]).toEqual([0, 0]);
});

test('sessions that a refresh token keeps are looked through so many at a time, and keep no others from going', async () => {
  await pool.query(`insert into realm (realm_id, created_at) values ('acme', now())`);
  await pool.query(
    `insert into realm_user (realm_id, id, username, created_at) values ('acme', '00000000-0000-7000-8000-000000000001', 'u', now())`,
  );
  await pool.query(
    `insert into client (realm_id, id, client_id, created_at) values ('acme', '00000000-0000-7000-8000-000000000002', 'c', now())`,
  );
  // All but the last hundred have one; a thousand end at the same moment.
  await pool.query(
    `insert into session (realm_id, id, token_hash, user_id, started_at, last_seen_at, expires_at, authenticated_at)
     select 'acme', ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, decode(md5(n::text), 'hex'),
       '00000000-0000-7000-8000-000000000001', $1, $1, $1::timestamptz + greatest(n, 2000) * interval '1 microsecond', $1
     from generate_series(1, 3100) n`,
    [at(-2)],
  );
  await pool.query(
    `insert into refresh_family (realm_id, id, client, user_id, session_id, grant_data, created_at, expires_at, token_hash)
     select realm_id, id, '00000000-0000-7000-8000-000000000002', user_id, id, '{}', now(), $1, ''
     from session where id <= '00000000-0000-7000-8000-000000000bb8'`,
    [at(1)],
  );
  await pool.query('analyze session, refresh_family');
  await explainAll(database.url);
  const heard: Explained[] = [];
  const plans = hearPlans((one) => void heard.push(one));
  const explained = openPool(database.url, { max: 1 });
  try {
    expect(await sweep(sqlOver(explained), NOW)).toBe(100);
  } finally {
    plans.stop();
    await explained.end();
  }
  expect(await count('session')).toBe(3_000);
  const read = heard.filter(({ text }) => text.includes('delete from session')).map(({ plan }) => rowsRead(plan));
  expect(read).toHaveLength(4);
  // each session to look at, and its tokens; a thousand and more end at one moment
  for (const rows of read) expect(rows).toBeLessThanOrEqual(4_100);
});

/** Rows of realms that write much, as the server writes them: ids that sort by time. */
const write = async (table: string, columns: string, values: string, from: Date, rows: number, realm: string) =>
  pool.query(
    `insert into ${table} (realm_id, id, ${columns})
     select $1, (lpad(to_hex((extract(epoch from t) * 1000)::bigint), 12, '0') || '7000' || '8' || lpad(n::text, 15, '0'))::uuid, ${values}
     from (select n, $2::timestamptz - n * interval '1 second' as t from generate_series(1, $3::int) n) made`,
    [realm, from, rows],
  );

/** The chain over what is there so far. */
const sealed = () =>
  expect.poll(() => sealEvents({ sql: sqlOver(pool), transact: transact(), seal, now: () => NOW })).toBe('idle');
const seal = createSeal([Buffer.alloc(32, 1)]);
const transact = () =>
  createTransact({
    pool,
    outbox: createOutbox({ now: () => NOW, newId, consumers: [], enqueue: async () => {} }),
    committed: () => {},
    strict: true,
  });
const sweepOld = (eventRetentionDays?: number) =>
  sweepEvents({ transact: transact(), seal }, NOW, { eventRetentionDays });

test('audit events go once they are older than the setting, in every realm, and stay for ever without one', async () => {
  const log = (from: Date, rows: number) =>
    Promise.all(
      ['a', 'b', 'gone'].map((realm) =>
        write('event', 'type, occurred_at, outcome', `'LOGOUT', t, 'success'`, from, rows, realm),
      ),
    );
  await log(at(-10 * 24 - 1), 1_400);
  expect(await sweepOld()).toBe(0);
  // What is not sealed yet stays.
  expect(await sweepOld(10)).toBe(0);
  await sealed();
  await log(at(-1), 10);
  await sealed();
  expect(await sweepOld(10)).toBe(3 * 1_400);
  expect(await count('event')).toBe(30);
  expect(await sweepOld(10)).toBe(0);
});

test('how people signed in is forgotten after 90 days, also of those who never come again', async () => {
  await pool.query(`insert into realm (realm_id, created_at) values ('acme', now())`);
  const user = '00000000-0000-7000-8000-000000000001';
  await pool.query(`insert into realm_user (realm_id, id, username, created_at) values ('acme', $1, 'u', now())`, [
    user,
  ]);
  for (const days of [91, 89])
    await write('sign_in_history', 'user_id, at, success', `'${user}', t, true`, at(-days * 24), 5, 'acme');
  expect(await sweep(sqlOver(pool), NOW)).toBe(5);
  expect(await count('sign_in_history')).toBe(5);
});

test('what an import that died has staged goes after a day, and nothing else that is called like that', async () => {
  const sql = sqlOver(pool);
  const idAt = (hours: number) => {
    const hex = at(hours).getTime().toString(16).padStart(12, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
  };
  await createStaging(sql, 'acme', idAt(-25));
  await createStaging(sql, 'acme', idAt(-23));
  await pool.query('create table import_user_of_mine ()');
  // A server of before the realm stood in the name made this one.
  await pool.query(`create table import_user_${idAt(-26).replaceAll('-', '')} ()`);
  await sweep(sql, NOW);
  const { rows } = await pool.query(
    `select relname from pg_class where relname ~ '^import_user' and relkind = 'r' order by 1`,
  );
  expect(rows.map(({ relname }) => relname)).toEqual([
    'import_user',
    stagingTable('acme', idAt(-23)),
    'import_user_of_mine',
  ]);
});
