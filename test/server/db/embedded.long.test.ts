import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { type EmbeddedOptions, type EmbeddedPostgres, startPostgres } from '../../../server/db/embedded.ts';
import { explainFailure } from '../../../server/db/embedded-programs.ts';
import { connectedCluster, testFolder } from '../../support/cluster.ts';

const root = process.getuid?.() === 0;
const programs = await testFolder();
const running: EmbeddedPostgres[] = [];
let dir: string;
const made: string[] = [];

beforeEach(async () => {
  dir = path.join(await fs.mkdtemp(path.join(os.tmpdir(), 'embedded-')), 'postgres');
  await fs.chmod(path.dirname(dir), 0o755);
  made.push(path.dirname(dir));
});

afterEach(async () => {
  for (const postgres of running.splice(0)) await postgres.stop();
});

afterAll(async () => {
  for (const folder of made) await fs.rm(folder, { recursive: true, force: true });
});

async function start(options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedPostgres> {
  const postgres = await startPostgres({ dir, programs, ...options });
  running.push(postgres);
  return postgres;
}

const ids = (url: string) =>
  connectedCluster(url, async (client) =>
    (await client.query<{ id: number }>('select id from kept')).rows.map(({ id }) => id),
  );

const gone = async (pid: number) => {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await sleep(20);
  }
};

/** Writes rows one by one until the connection breaks; each pushed id was acknowledged by the database. */
async function writeUntilBroken(url: string, acknowledged: number[]): Promise<void> {
  await connectedCluster(url, async (client) => {
    client.on('error', () => {});
    await client.query('create table if not exists kept (id int primary key, filling text)');
    for (let id = acknowledged.length; ; id += 1) {
      await client.query('insert into kept values ($1, $2)', [id, 'x'.repeat(1000)]);
      acknowledged.push(id);
    }
  }).catch(() => {});
}

test('the data outlives a stop, and a second stop does nothing', async () => {
  const first = await start();
  await connectedCluster(first.url, (client) => client.query('create table kept as select 7 id'));
  await first.stop();
  await first.stop();
  const second = await start();
  expect(await ids(second.url)).toEqual([7]);
  expect(new URL(second.url).password).toBe(new URL(first.url).password);
});

test('it listens on the loopback address only, with a password, and compares text the same on every system', async () => {
  const { url } = await start();
  const [row] = await connectedCluster(url, async (client) => {
    const settings = "current_setting('listen_addresses') listen, current_setting('data_checksums') checksums";
    return (await client.query(`select ${settings}, lower('ÄÖ') lower, 'Z' < 'a' bytewise`)).rows;
  });
  expect(row).toEqual({ listen: '127.0.0.1', checksums: 'on', lower: 'äö', bytewise: true });
  const wrong = new URL(url);
  wrong.password = 'wrong';
  await expect(connectedCluster(wrong.href, async () => {})).rejects.toThrow('password authentication failed');
});

test('PostgreSQL killed in the middle of writes is noticed, and keeps every acknowledged row', async () => {
  const ends: string[] = [];
  const acknowledged: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    const exit = Promise.withResolvers<void>();
    const onExit = (error: Error) => {
      ends.push(error.message);
      exit.resolve();
    };
    const { url, pid } = await start({ onExit });
    const before = acknowledged.length;
    const writing = writeUntilBroken(url, acknowledged);
    while (acknowledged.length < before + 20) await sleep(10);
    process.kill(pid, 'SIGKILL');
    await writing;
    await exit.promise;
  }
  expect(ends[1]).toContain('The embedded PostgreSQL was killed by SIGKILL');
  const { url } = await start();
  const kept = await ids(url);
  expect(kept).toEqual(expect.arrayContaining(acknowledged));
  // one more may have been on its way when the server was killed
  expect(kept.length - acknowledged.length).toBeLessThanOrEqual(2);
});

test('a stop that was asked for is not reported as an end', async () => {
  const ends: Error[] = [];
  const { stop } = await start({ onExit: (error) => ends.push(error) });
  await stop();
  expect(ends).toEqual([]);
});

/** Starts the database in a process of its own, as a server would. */
async function startElsewhere(prelude = '') {
  const module = new URL('../../../server/db/embedded.ts', import.meta.url).href;
  const script = `import { startPostgres } from ${JSON.stringify(module)};
    ${prelude}
    try {
      const { url, pid } = await startPostgres(${JSON.stringify({ dir, programs })});
      console.log(JSON.stringify({ url, pid }));
      setInterval(() => {}, 1000);
    } catch (error) { console.log(JSON.stringify({ error: error.message })); }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line]: string[] = await once(createInterface(child.stdout), 'line');
  const answer: { url: string; pid: number; error?: string } = JSON.parse(line ?? '{}');
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  return { ...answer, end };
}

test('the PostgreSQL of a killed server is stopped at the next start, with every acknowledged row', async () => {
  const elsewhere = await startElsewhere();
  const acknowledged: number[] = [];
  const writing = writeUntilBroken(elsewhere.url, acknowledged);
  while (acknowledged.length < 20) await sleep(10);
  await elsewhere.end('SIGKILL');
  process.kill(elsewhere.pid, 0);
  const log: string[] = [];
  const { url } = await start({ log: (message) => log.push(message) });
  await writing;
  expect(log).toContain(`stopping the PostgreSQL (process ${elsewhere.pid}) that an earlier run left behind`);
  await gone(elsewhere.pid);
  expect(await ids(url)).toEqual(expect.arrayContaining(acknowledged));
});

test('a server that ends without stopping its PostgreSQL takes it along', async () => {
  const elsewhere = await startElsewhere("process.on('SIGTERM', () => process.exit(1));");
  await elsewhere.end('SIGTERM');
  await gone(elsewhere.pid);
});

test('a second owner of the folder is refused, be it another process or this one', async () => {
  const elsewhere = await startElsewhere();
  await expect(start()).rejects.toThrow(/ is in use by process \d+: stop it, or choose another data folder/);
  await elsewhere.end('SIGKILL');
  await start();
  await expect(start()).rejects.toThrow(`is in use by process ${process.pid}`);
});

test('several starters at once leave one owner', async () => {
  await (await start()).stop();
  // what a killed process leaves behind, which each of them finds and may discard
  await fs.writeFile(path.join(dir, 'owner-999999999-abc-1'), '');
  const results = await Promise.allSettled([start(), start(), start(), start()]);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect((await fs.readdir(dir)).filter((name) => /^(owner|claim)-/.test(name))).toHaveLength(2);
});

test("a stale pid file is no reason to touch that pid's new owner", async () => {
  await (await start()).stop();
  const innocent = spawn('sleep', ['60'], root ? { uid: 65534, gid: 65534 } : {});
  await fs.writeFile(path.join(dir, 'data', 'postmaster.pid'), `${innocent.pid}\n${dir}/data\n`);
  await start();
  expect(innocent.exitCode ?? innocent.signalCode).toBe(null);
  innocent.kill('SIGKILL');
});

test('a first start that was cut short begins anew', async () => {
  await fs.mkdir(path.join(dir, 'data.new'), { recursive: true });
  await fs.writeFile(path.join(dir, 'data.new', 'PG_VERSION'), '18\n');
  const { url } = await start({ fast: true });
  expect(await connectedCluster(url, async (client) => (await client.query('select 1 one')).rows)).toEqual([
    { one: 1 },
  ]);
});

test('data of another major version is refused with what to do', async () => {
  await (await start({ fast: true })).stop();
  await fs.writeFile(path.join(dir, 'data', 'PG_VERSION'), '14\n');
  await expect(start()).rejects.toThrow(/^The data was written by another major version of PostgreSQL: move it away/);
  // only a test's cluster may be thrown away
  await start({ fast: true });
});

test.each([
  ['initdb: could not look up effective user ID 1234: user does not exist', 'DATABASE_URL'],
  ['postgres: spawn /x/bin/postgres ENOENT', 'glibc'],
  ['could not extend file: No space left on device', 'free some space'],
  ['something else', 'DATABASE_URL'],
])('the fault %j says what to do next', (output, advice) => {
  expect(explainFailure(output).split('\n')[0]).toContain(advice);
});

// Only root can become the users of these; what a skipped test would say of others is not a lack of theirs.
if (root) {
  test('a uid without a passwd entry is told to bring a DATABASE_URL', async () => {
    const { error } = await startElsewhere('process.setgid(54321); process.setuid(54321);');
    expect(error).toMatch(
      /^The embedded PostgreSQL can't run here, uid 54321 has no entry in \/etc\/passwd: .*DATABASE_URL/,
    );
  });

  test('under a private home, root keeps the data where PostgreSQL can reach it', async () => {
    const home = path.dirname(dir);
    await fs.chmod(home, 0o700);
    const log: string[] = [];
    const { url, stop } = await start({ log: (message) => log.push(message) });
    await connectedCluster(url, (client) => client.query('create table kept as select 7 id'));
    await stop();
    const [, elsewhere = ''] = log[0]?.split(' is kept in ') ?? [];
    made.push(elsewhere);
    expect(log).toEqual([`PostgreSQL's user can't reach ${dir}: the data is kept in ${elsewhere}`]);
    expect(await ids((await start()).url)).toEqual([7]);
  });

  test('a cluster that an ordinary user made stays theirs when root starts it', async () => {
    await (await start()).stop();
    const data = path.join(dir, 'data');
    await chownAll(dir, 1);
    await (await start()).stop();
    expect((await fs.stat(path.join(data, 'PG_VERSION'))).uid).toBe(1);
    expect((await fs.stat(path.join(data, 'postmaster.opts'))).uid).toBe(1);
  });
}

async function chownAll(folder: string, uid: number): Promise<void> {
  await fs.chown(folder, uid, uid);
  for (const entry of await fs.readdir(folder, { recursive: true }))
    await fs.lchown(path.join(folder, entry), uid, uid);
}
