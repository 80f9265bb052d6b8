// Owns: one PostgreSQL server as a child process, for evaluation and tests: first start, recovery, stop.
// Does not own: the schema (migrate.ts), connections (sql.ts); production brings its own DATABASE_URL.
// Implements: "Embedded database": real PostgreSQL from an npm package, nothing to install.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { clusterFolder, isReachable, type Owner } from './embedded-folder.ts';
import { claimDataFolder, stopOrphan } from './embedded-lock.ts';
import { explainFailure, installPrograms, runProgram } from './embedded-programs.ts';

/** Where and how the embedded PostgreSQL runs. */
export interface EmbeddedOptions {
  /** The cluster's own folder: programs, data, password. Nothing else should live in it. */
  dir: string;
  /** Where it is to listen; any free port by default. */
  port?: number;
  /** For tests: no fsync, so a power cut may lose everything; data that can't be started is replaced. */
  fast?: boolean;
  /** Where the private copy of the programs lives, to share one among clusters; `dir` by default. */
  programs?: string;
  /** Receives messages for the user, for example that the data folder had to be moved. */
  log?: (message: string) => void;
  /** Called if PostgreSQL ends without a call of `stop`; the error says what to do. */
  onExit?: (error: Error) => void;
}

/** A running embedded PostgreSQL. */
export interface EmbeddedPostgres {
  /** An administrator's URL on the database `postgres`. */
  url: string;
  /** The postmaster's process id. */
  pid: number;
  /** Ends open sessions and shuts down cleanly; may be called more than once. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL on 127.0.0.1, and creates the cluster on the first start.
 * Root drops to an unprivileged user. A server left behind by a killed process is stopped first.
 */
export async function startPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { fast = false, log = () => {}, onExit = () => {} } = options;
  const { dir, user } = await clusterFolder(path.resolve(options.dir), log);
  const release = await claimDataFolder(dir);
  try {
    const shared = options.programs && (await isReachable(path.join(options.programs, 'bin'), user));
    const programs = await installPrograms(shared && options.programs ? options.programs : dir, user);
    const cluster = { dir, data: path.join(dir, 'data'), programs, user, fast, port: options.port };
    const started = await bringUp(cluster, log).catch(async (error) => {
      if (!fast) throw error;
      // after a power cut, or from another version: nothing in it was promised to last
      await fs.rm(cluster.data, { recursive: true, force: true });
      return bringUp(cluster, log);
    });
    return watch(started, release, onExit);
  } catch (error) {
    await release();
    throw error;
  }
}

async function bringUp(cluster: Cluster, log: (message: string) => void): Promise<Started> {
  const { dir, data, programs, user } = cluster;
  await initialise(cluster);
  await stopOrphan(data, () => runProgram(programs, 'pg_ctl', ['stop', '-D', data, '-m', 'fast', '-w'], user), log);
  const password = (await fs.readFile(path.join(dir, 'password'), 'utf8')).trim();
  const { child, port, tail } = await start(cluster);
  return { child, tail, url: `postgres://svc:${password}@127.0.0.1:${port}/postgres` };
}

function watch({ child, url, tail }: Started, release: () => Promise<void>, onExit: (error: Error) => void) {
  // the last chance when our process ends without calling `stop`, as on an uncaught exception
  const abandon = () => child.kill('SIGINT');
  process.once('exit', abandon);
  let stopping = false;
  const exited = once(child, 'exit').then(async ([code, signal]: (string | number | null)[]) => {
    process.off('exit', abandon);
    await release();
    if (stopping) return;
    const how = signal ? `was killed by ${signal}` : `ended with code ${code}`;
    onExit(new Error(`The embedded PostgreSQL ${how}. Its data recovers by itself.${tail()}`));
  });
  const stop = async () => {
    stopping = true;
    child.ref();
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
    // a session that can't be ended in time is cut off; the next start then recovers from the log
    const impatient = setTimeout(() => child.kill('SIGQUIT'), 20_000);
    await exited.finally(() => clearTimeout(impatient));
  };
  return { url, pid: child.pid ?? 0, stop };
}

interface Cluster {
  dir: string;
  data: string;
  programs: string;
  user: Owner;
  fast: boolean;
  port: number | undefined;
}

async function initialise({ dir, data, programs, user, fast }: Cluster): Promise<void> {
  const exists = await fs.stat(data).catch(() => undefined);
  if (exists) return;
  // initdb writes PG_VERSION early: only a finished cluster gets the name `data`
  const draft = `${data}.new`;
  await fs.rm(draft, { recursive: true, force: true });
  const password = path.join(dir, 'password');
  await fs.writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600 });
  if (user.ids) await fs.chown(password, user.ids.uid, user.ids.gid);
  // each of the thousands of connections of a run derives a key from the password
  const hurry = ['--no-sync', '--wal-segsize=1', '--set', 'scram_iterations=1'];
  const safety = fast ? hurry : ['--data-checksums'];
  const access = ['-U', 'svc', '-A', 'scram-sha-256', '--pwfile', password];
  // the built-in locale needs none of the system's, and sorts the same everywhere
  const locale = ['-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  await runProgram(programs, 'initdb', ['-D', draft, ...access, ...locale, ...safety], user);
  await fs.rename(draft, data);
  const folder = await fs.open(dir);
  await folder.sync().finally(() => folder.close());
}

interface Attempt {
  child: ChildProcess;
  port: number;
  /** The last words of the server that say why it ended, if any. */
  tail(): string;
}

type Started = Omit<Attempt, 'port'> & { url: string };

async function start(cluster: Cluster): Promise<Attempt> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    try {
      return await attempt(cluster);
    } catch (error) {
      // another program took the port, or the sessions of a killed postmaster are still on their way out
      const passing = /could not bind|pre-existing shared memory|lock file "postmaster.pid" already exists/;
      if (!(error instanceof Error) || !passing.test(error.message) || Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

const unsafe = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];
// for a data folder that may lie in memory, and tests that open a pool each
const small = ['min_wal_size=4MB', 'max_wal_size=64MB', 'max_connections=300'];

async function attempt({ programs, data, user, fast, ...wanted }: Cluster): Promise<Attempt> {
  const port = wanted.port ?? (await freePort());
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...(fast ? [...unsafe, ...small] : [])];
  const child = spawn(
    path.join(programs, 'bin', 'postgres'),
    ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    // detached: Ctrl-C reaches us first, so that our queries end before their database
    { ...user.ids, cwd: path.dirname(data), env: user.env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const fail = (text: string) => reject(new Error(explainFailure(text)));
    child.stderr.on('data', (chunk: Buffer) => {
      output = (output + chunk).slice(-8000);
      if (output.includes('ready to accept connections')) resolve();
    });
    child.once('error', (error) => fail(`postgres: ${error.message}`));
    // 'close', not 'exit': the reason is in the output
    child.once('close', (code, signal) => fail(`postgres ended with ${signal ?? code}:\n${output}`));
  });
  child.unref();
  // a pipe counts as a reason to keep Node running, though its type doesn't say so
  if ('unref' in child.stderr && typeof child.stderr.unref === 'function') child.stderr.unref();
  const tail = () => {
    const words = output.split('\n').filter((line) => /(FATAL|PANIC):|terminated by signal/.test(line));
    return words.length > 0 ? ` Its last words: ${words.slice(-3).join(' | ')}` : '';
  };
  return { child, port, tail };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free TCP port on 127.0.0.1');
  return address.port;
}
