import type pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPool, sqlOver } from '../../../server/db/sql.ts';
import { sweep } from '../../../server/jobs/janitor.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

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
