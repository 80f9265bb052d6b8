// Owns: the PostgreSQL of a test run and its template database with all migrations applied, and the tables of the queue.
// Does not own: the databases of the single test files (database.ts).
// Implements: tests on a real database: the embedded one, or any server through TEST_DATABASE_URL.
import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, startPostgres } from '../../server/db/embedded.ts';
import { migrate } from '../../server/db/migrate.ts';
import { readMigrations } from '../../server/db/migration-files.ts';
import { createQueue } from '../../server/jobs/queue.ts';

/** The data with which a test makes its own databases; plain, so that it can be passed to the workers. */
export interface TestCluster {
  /** An administrator's URL. */
  url: string;
  /** The migrated database to clone. */
  template: string;
  /** Why there is no template: a broken migration must fail its users, not every test of the run. */
  failure?: string;
  /** Begins the name of each database of this run. */
  prefix: string;
}

/** A running cluster and its end. */
export interface RunningCluster {
  cluster: TestCluster;
  stop(): Promise<void>;
}

/** Starts the run's PostgreSQL, or uses `TEST_DATABASE_URL`, and provides the migrated template. */
export async function startCluster(): Promise<RunningCluster> {
  const external = process.env.TEST_DATABASE_URL;
  const server = external ? { url: external, stop: async () => {} } : await startSlot();
  const run = `${process.pid.toString(36)}${Date.now().toString(36)}`;
  const prefix = `rk_test_${run}_`;
  // in our own cluster the template is kept for the next run; a foreign server is left as it was found
  const template = external ? `rk_template_${run}` : `rk_template_${await fingerprint()}`;
  const cluster: TestCluster = { url: server.url, template, prefix };
  try {
    await connectedCluster(server.url, async (admin) => {
      if (!external) await drop(admin, (name) => name.startsWith('rk_') && name !== template);
      await provide(admin, server.url, template).catch((error: Error) => {
        cluster.failure = error.message;
      });
    });
  } catch (error) {
    await server.stop();
    throw error;
  }
  const stop = async () => {
    const ours = (name: string) => name.startsWith(prefix) || name.startsWith(template);
    if (external) await connectedCluster(server.url, (admin) => drop(admin, ours));
    await server.stop();
  };
  return { cluster, stop };
}

/** Runs `work` with a connection that is closed afterwards. */
export async function connectedCluster<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The same server, another database. */
export function onDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

// Clusters are kept between runs, since a first start takes ten times as long; runs at the same time get one each.
async function startSlot(): Promise<EmbeddedPostgres> {
  const programs = await testFolder();
  const base = (await roomInMemory()) ? await testFolder('/dev/shm') : programs;
  for (let slot = 0; ; slot += 1) {
    try {
      const dir = path.join(base, `slot-${slot}`);
      return await startPostgres({ dir, programs, fast: true, onExit: (error) => console.error(error.message) });
    } catch (error) {
      if (slot === 15 || !(error instanceof Error && error.message.includes('is in use by process'))) throw error;
    }
  }
}

/** The folder of all test clusters of this user, with the programs that they share. */
export async function testFolder(parent: string = os.tmpdir()): Promise<string> {
  const user = process.getuid?.() ?? 0;
  const folder = path.join(parent, `realmkeeper-test-${user}`);
  await fs.mkdir(folder, { mode: 0o755 }).catch(() => {});
  // every user can write to these folders: run no programs that another user has put there
  const { uid } = await fs.lstat(folder);
  if (uid !== user) throw new Error(`${folder} belongs to uid ${uid}: remove it, or set TMPDIR to a folder of yours`);
  await fs.chmod(folder, 0o755);
  return folder;
}

// a clone is hundreds of small files: on a disk that takes up to 20 times as long as in memory
async function roomInMemory(): Promise<boolean> {
  try {
    const { bsize, bavail } = await fs.statfs('/dev/shm');
    await fs.access('/dev/shm', fs.constants.W_OK);
    return bsize * bavail > 2 ** 31;
  } catch {
    return false;
  }
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  for (const { name, checksum } of await readMigrations()) hash.update(`${name} ${checksum}\n`);
  hash.update(await fs.readFile(path.resolve(import.meta.dirname, '../../node_modules/pg-boss/package.json')));
  return hash.digest('hex').slice(0, 12);
}

async function provide(admin: pg.Client, url: string, template: string): Promise<void> {
  const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [template]);
  if (rowCount) return;
  const draft = `${template}_draft`;
  await admin.query(`create database ${draft} template template0`);
  await migrate(onDatabase(url, draft));
  // each server would make its tables at its first start
  const queue = createQueue({ url: onDatabase(url, draft), log: () => {} });
  await queue.start();
  await queue.stop();
  await admin.query(`alter database ${draft} rename to ${template}`);
}

async function drop(admin: pg.Client, unwanted: (name: string) => boolean): Promise<void> {
  const { rows } = await admin.query<{ datname: string }>('select datname from pg_database');
  for (const { datname } of rows) {
    if (unwanted(datname)) await admin.query(`drop database if exists ${datname} with (force)`);
  }
}
