import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { migrate } from '../../../server/db/migrate.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { createDatabase, createEmptyDatabase, type TestDatabase } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';

let database: TestDatabase;
let folder: string;

beforeEach(async () => {
  database = await createEmptyDatabase();
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'migrations-'));
});

afterEach(async () => {
  await database.drop();
  await fs.rm(folder, { recursive: true });
});

const write = (name: string, sql: string) => fs.writeFile(path.join(folder, name), sql);
const run = (log: string[] = []) => migrate(database.url, { folder, log: (message) => log.push(message) });
const query = async (sql: string) => (await connectedCluster(database.url, (client) => client.query(sql))).rows;

test('files are applied once, in order, and recorded', async () => {
  await write('0002_more.sql', 'insert into thing values (1), (2);');
  await write('0001_thing.sql', 'create table thing (id int primary key);');
  const log: string[] = [];
  expect(await run(log)).toEqual({ applied: ['0001_thing.sql', '0002_more.sql'] });
  expect(log).toEqual(['created the schema, 2 migrations']);
  expect(await run()).toEqual({ applied: [] });
  expect(await query('select count(*)::int from thing')).toEqual([{ count: 2 }]);
  const [row] = await query('select *, applied_at > now() - interval $$1 min$$ recent from schema_migration limit 1');
  expect(row).toMatchObject({ number: 1, name: '0001_thing.sql', breaking: false, recent: true });
  expect(row.checksum).toMatch(/^[0-9a-f]{64}$/);
});

test('an upgrade tells of each file, a database that is up to date of nothing', async () => {
  await write('0001_thing.sql', 'create table thing (id int primary key);');
  await run();
  await write('0002_more.sql', 'insert into thing values (1);');
  await write('0003_last.sql', 'insert into thing values (2);');
  const log: string[] = [];
  await run(log);
  await run(log);
  expect(log).toEqual(['applied 0002_more.sql', 'applied 0003_last.sql']);
});

test('two replicas that start together apply each file once', async () => {
  await write('0001_thing.sql', 'select pg_sleep(0.3); create table thing (id int primary key);');
  await write('0002_more.sql', 'select pg_sleep(0.1); insert into thing values (1);');
  await write('0003_last.sql', 'insert into thing values (2);');
  const results = await Promise.all([run(), run(), run()]);
  expect(results.flatMap(({ applied }) => applied).sort()).toEqual([
    '0001_thing.sql',
    '0002_more.sql',
    '0003_last.sql',
  ]);
  expect(await query('select id from thing order by id')).toEqual([{ id: 1 }, { id: 2 }]);
});

test('a file that fails leaves nothing behind, keeps the earlier ones, and is named with its line', async () => {
  await write('0001_thing.sql', 'create table thing (id int primary key);');
  await write('0002_wrong.sql', 'create table other (id int);\n\nselect * from nowhere;');
  await expect(run()).rejects.toThrow(
    'Migration 0002_wrong.sql failed and was rolled back: relation "nowhere" does not exist (line 3)',
  );
  expect(await query("select to_regclass('thing') is null thing, to_regclass('other') is null other")).toEqual([
    { thing: false, other: true },
  ]);
  await write('0002_wrong.sql', 'create table other (id int);');
  expect(await run()).toEqual({ applied: ['0002_wrong.sql'] });
});

test('an applied file may not be edited, but its line ends may change', async () => {
  await write('0001_thing.sql', 'create table thing (\nid int);');
  await run();
  await write('0001_thing.sql', 'create table thing (\r\nid int);');
  expect(await run()).toEqual({ applied: [] });
  await write('0001_thing.sql', 'create table thing (\nid bigint);');
  await expect(run()).rejects.toThrow('Migration 0001_thing.sql was edited after it was applied');
});

describe('a database that a newer version has migrated', () => {
  const newer = async (sql: string) => {
    await write('0001_thing.sql', 'create table thing (id int);');
    await write('0002_newer.sql', sql);
    await run();
    await fs.rm(path.join(folder, '0002_newer.sql'));
  };

  test('is accepted when the change does not concern older versions', async () => {
    await newer('alter table thing add column name text;');
    expect(await run()).toEqual({ applied: [] });
  });

  test('is refused when the change was marked as breaking', async () => {
    await newer('-- breaking: the old version reads id\nalter table thing rename column id to key;');
    await expect(run()).rejects.toThrow('changed by a newer version (0002_newer.sql) for which this is too old');
  });
});

test('a file in the middle that has gone, or that came late, is refused', async () => {
  await write('0001_thing.sql', 'create table thing (id int);');
  await write('0003_more.sql', 'insert into thing values (1);');
  await run();
  await write('0002_late.sql', 'insert into thing values (2);');
  await expect(run()).rejects.toThrow('0002_late.sql comes before 0003_more.sql, which is applied');
  await fs.rm(path.join(folder, '0002_late.sql'));
  await fs.rm(path.join(folder, '0001_thing.sql'));
  await expect(run()).rejects.toThrow('Migration 0001_thing.sql was applied, but its file is missing');
});

test.each([
  [['1_short.sql'], 'is not called NNNN_words.sql'],
  [['0001_Upper.sql'], 'is not called NNNN_words.sql'],
  [['0001_one.sql', '0001_two.sql'], '0001_one.sql and 0001_two.sql have the same number'],
])('the names %j are refused', async (names, message) => {
  for (const name of names) await write(name, 'select 1;');
  await expect(run()).rejects.toThrow(message);
});

test('a file that would end its own transaction is refused', async () => {
  await write('0001_thing.sql', 'create table thing (id int);\ncommit;\n');
  await expect(run()).rejects.toThrow('0001_thing.sql ends its own transaction');
});

test('a database that nobody answers for is named as such', async () => {
  const url = 'postgres://nobody@127.0.0.1:1/none';
  await expect(migrate(url, { folder })).rejects.toThrow(
    /^Can't connect to the database \(.*\): check DATABASE_URL\.$/,
  );
});

test('a server older than PostgreSQL 15 is refused', async () => {
  await query('create schema old');
  await query(`create function old.current_setting(name text) returns text language sql
    return case name when 'server_version_num' then '140011' else '14.11' end`);
  // found before the real one
  const { pathname } = new URL(database.url);
  await query(`alter database ${pathname.slice(1)} set search_path = old, pg_catalog`);
  await expect(run()).rejects.toThrow('The database is PostgreSQL 14.11: version 15 or newer is needed.');
});

test('npm run migrate says what it did, and what it lacks', async () => {
  const main = (env: NodeJS.ProcessEnv) =>
    new Promise<[unknown, string]>((resolve) => {
      execFile(
        process.execPath,
        ['server/db/main.ts'],
        { env: { ...process.env, ...env } },
        (error, stdout, stderr) => {
          resolve([error?.code ?? 0, (stdout + stderr).trim()]);
        },
      );
    });
  const env = { DATABASE_URL: database.url };
  expect(await main(env)).toEqual([
    0,
    expect.stringMatching(/^created the schema, (\d+) migrations\n\1 migrations applied\.$/),
  ]);
  expect(await main(env)).toEqual([0, 'The database is up to date.']);
  expect(await main({ DATABASE_URL: '' })).toEqual([2, expect.stringContaining('DATABASE_URL is not set')]);
  const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  expect(await main(nowhere)).toEqual([1, expect.stringContaining("Can't connect to the database")]);
});

test('with --wait it waits for a database that is still starting, and says so once', async () => {
  const real = new URL(database.url);
  const target = { port: Number(real.port), host: real.hostname };
  // what listens there later is the real one
  const gate = createServer((socket) => {
    const onward = connect(target);
    for (const each of [socket, onward]) each.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  const port = await freePort();
  real.port = String(port);
  real.hostname = '127.0.0.1';
  const run = (...args: string[]) => {
    const child = spawn(process.execPath, ['server/db/main.ts', ...args], {
      env: { ...process.env, DATABASE_URL: real.href },
    });
    const said = { text: '' };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said.text += chunk));
    return { said, ended: once(child, 'close').then(([code]) => code) };
  };
  try {
    const impatient = run();
    expect([await impatient.ended, impatient.said.text]).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
    const patient = run('--wait', '60');
    await vi.waitFor(() => expect(patient.said.text).toContain('Trying again for 60 s'), { timeout: 100_000 });
    await new Promise<void>((resolve) => gate.listen(port, '127.0.0.1', resolve));
    expect([await patient.ended, patient.said.text]).toEqual([0, expect.stringMatching(/migrations applied/)]);
    expect(patient.said.text.match(/Trying again/g)).toHaveLength(1);
    const wrong = run('--wait', 'long');
    expect([await wrong.ended, wrong.said.text]).toEqual([2, expect.stringContaining('--wait SECONDS')]);
  } finally {
    gate.close();
  }
});

test('the template that test databases are cloned from is migrated', async () => {
  const clone = await createDatabase();
  try {
    expect(await migrate(clone.url)).toEqual({ applied: [] });
  } finally {
    await clone.drop();
  }
});
