import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyInto, copyOut, literal, pgArray, startCopyOut } from '../../../server/db/bulk.ts';
import { copyRow } from '../../../server/db/copy.ts';
import { openPool } from '../../../server/db/sql.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let pool: ReturnType<typeof openPool>;

beforeAll(async () => {
  database = await createDatabase();
  pool = openPool(database.url);
  await pool.query('create table bulk (n int primary key, t text, l text[])');
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const TARGET = 'bulk (n, t, l)';
const awkward = [
  '',
  'tab\there',
  'line\nbreak',
  'back\\slash',
  '\\N',
  '\\.',
  '"quoted" {braces}, comma',
  'ünï\u{1F511}',
  '\r',
];

describe('COPY', () => {
  test('brings every text in and out unchanged', async () => {
    const copy = await copyInto(database.url, TARGET);
    for (const [n, text] of awkward.entries()) await copy.write(copyRow([n, text, pgArray([text, 'x'])]));
    await copy.write(copyRow([100, null, undefined]));
    await copy.finish();
    const { rows } = await pool.query('select t, l from bulk where n < 100 order by n');
    expect(rows).toEqual(awkward.map((text) => ({ t: text, l: [text, 'x'] })));
    let out = '';
    for await (const chunk of await copyOut(database.url, `select to_json(t) from bulk where n < ${100} order by n`))
      out += chunk;
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(awkward);
  });

  test('out of a snapshot starts before PostgreSQL has the first row', async () => {
    const LOCK = 4711;
    const holder = await pool.connect();
    try {
      await holder.query('begin isolation level repeatable read');
      const { rows } = await holder.query('select pg_export_snapshot() as snapshot');
      await holder.query('select pg_advisory_xact_lock($1)', [LOCK]);
      const query = `select to_json(n) from (values (1)) v (n), pg_advisory_xact_lock(${LOCK})`;
      const started = await startCopyOut(database.url, query, rows[0].snapshot);
      let there = false;
      void started.rows.then(() => {
        there = true;
      });
      await pool.query('select pg_sleep(0.2)');
      expect(there).toBe(false);
      await holder.query('commit');
      let out = '';
      for await (const chunk of await started.rows) out += chunk;
      expect(out).toBe('1\n');
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });

  test('that is given up, or that fails, leaves nothing behind', async () => {
    const given = await copyInto(database.url, TARGET);
    await given.write(copyRow([200, 'x', null]));
    await given.abort();
    const failing = await copyInto(database.url, TARGET);
    await failing.write(copyRow([201, 'x', null]) + copyRow([201, 'again', null]));
    await expect(failing.finish()).rejects.toThrow(/duplicate key/);
    const { rows } = await pool.query('select from bulk where n >= 200');
    expect(rows).toHaveLength(0);
  });

  test('closes its connection when the stream ends, is left or fails', async () => {
    const connections = async () => {
      const { rows } = await pool.query(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'realmkeeper-bulk'`,
      );
      return rows[0].n;
    };
    for await (const _ of await copyOut(database.url, 'select generate_series(1, 100000)::text')) break;
    await expect(
      copyOut(database.url, 'select 1 / 0').then(async (rows) => {
        for await (const _ of rows);
      }),
    ).rejects.toThrow(/division by zero/);
    await expect(copyInto(database.url, 'nowhere (n)')).rejects.toThrow(/does not exist/);
    await expect.poll(connections).toBe(0);
  });

  test('literals hold any text', async () => {
    for (const text of ["it's", '\\', "\\'; drop table bulk; --"]) {
      const { rows } = await pool.query(`select ${literal(text)} as text`);
      expect(rows).toEqual([{ text }]);
    }
  });
});

// Why postgres.js carries streams alone. When this fails, the fault is repaired: read db/bulk.ts again.
test('postgres.js gives wrong rows to the query after one that failed while it streamed rows', async () => {
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  try {
    await sql`select 10 / (5 - n) as x from generate_series(1, 9) as n`.catch(() => {});
    const rows = await sql`select n from generate_series(1, 5) as n`;
    expect(rows.length).toBeGreaterThan(5);
    expect(rows[0]).toBeUndefined();
  } finally {
    await sql.end();
  }
});

test('a connection that breaks at its first query fails the stream, and leaves no failure behind that would end the process', async () => {
  const QUERIES = ['Q', 'P'];
  const { hostname, port } = new URL(database.url);
  let broken = 0;
  const proxy = net.createServer((client) => {
    const upstream = net.connect(Number(port || 5432), hostname);
    client.on('data', (bytes: Buffer) => {
      if (!QUERIES.includes(String.fromCharCode(bytes[0] ?? 0))) return void upstream.write(bytes);
      broken += 1;
      client.resetAndDestroy();
      upstream.destroy();
    });
    upstream.on('data', (bytes) => void client.write(bytes));
    for (const socket of [client, upstream]) socket.on('error', () => {}).on('close', () => upstream.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = new URL(database.url);
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const unhandled: unknown[] = [];
  const keep = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', keep);
  try {
    await expect(copyInto(url.href, TARGET)).rejects.toThrow();
    await expect(copyOut(url.href, 'select to_json(t) from bulk')).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([broken, unhandled]).toEqual([2, []]);
  } finally {
    process.off('unhandledRejection', keep);
    proxy.close();
  }
});
