// From an environment to a listening server: database (embedded if none is named), migrations, first administrator. The
// quick start and main.ts both use it. Decisions "Where it listens, what it reads".
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { buildApp } from './app.ts';
import { type Config, misspelt, parseConfig } from './config.ts';
import { poolerOf } from './config-database.ts';
import { VERSION } from './contract/version.ts';
import { newId } from './crypto/ids.ts';
import { openKeyring } from './custody/custody.ts';
import { keepPostgres } from './db/embedded-keeper.ts';
import { migrate } from './db/migrate.ts';
import { checkPooler } from './db/pooled.ts';
import { openPool, sqlOver } from './db/sql.ts';
import { insideOf } from './http/network.ts';
import { createLog } from './log.ts';
import { createOutageLog } from './outage-log.ts';
import { startWantedTelemetry } from './telemetry/wanted.ts';

export interface RunningServer {
  config: Config;
  /** The address at which it listens; differs from `config.baseUrl` behind a proxy or with port 0. */
  address: string;
  /** `password` if this start created the administrator with a generated one; `say` has printed it already. */
  administrator: { username: string; password: string | undefined };
  /** Settles when the server can't continue; the message has the reason. */
  failed: Promise<Error>;
  stop(): Promise<void>;
}

/** @throws BadEnvironment, or an Error whose message names the next step */
export async function startServer(
  env: Readonly<Record<string, string | undefined>>,
  say: (line: string) => void,
): Promise<RunningServer> {
  const config = parseConfig(env);
  const outages = createOutageLog();
  let isProxy: ((address: string) => boolean) | undefined;
  const telemetry = await startWantedTelemetry({
    env,
    service: 'realmkeeper',
    believes({ socket }) {
      isProxy ??= insideOf(config.SVC_TRUST_PROXY ?? []);
      return isProxy(socket.remoteAddress ?? '');
    },
  });
  const log = createLog(config.SVC_LOG_LEVEL, { outages, lines: telemetry?.lines });
  for (const { variable, meant } of misspelt(env))
    log.warn(
      { variable },
      `The variable ${variable} is not known and has no effect${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    );
  const releases: (() => Promise<unknown>)[] = telemetry ? [telemetry.stop] : [];
  let stopping = false;
  const stop = async () => {
    stopping = true;
    for (const release of releases.splice(0).reverse())
      await release().catch((err) => log.error({ err }, 'while stopping'));
    log.info('Realmkeeper server has stopped');
  };
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });

  log.info({ version: VERSION, node: process.version }, 'Realmkeeper server starts');
  try {
    const { url, direct, keyBeside } = await database(config, say, releases);
    const pooler = poolerOf(config);
    // in parallel to building the app, which reads nothing from the database
    const migrating = migrate(direct, { log: say });
    migrating.catch(() => {});
    const lost = (err: Error) => {
      if (!stopping) log.warn({ err }, 'a database connection was lost');
    };
    const pool = openPool(url, { max: config.SVC_DATABASE_POOL, lost, pooler });
    releases.push(() => pool.end());
    const unwatch = outages.watch(log, () => pool.query('select 1'));
    releases.push(async () => unwatch());
    const now = () => new Date();
    const keys = await openKeyring(config, {
      sql: sqlOver(pool),
      ready: () => migrating,
      log,
      now,
      otherwise: keyBeside,
    });
    releases.push(keys.stop);
    const strict = config.NODE_ENV !== 'production';
    const app = await buildApp({
      config,
      pool,
      databaseUrl: direct,
      masterKey: keys.masterKey,
      custody: keys.custody,
      log,
      strict,
      now,
      newId,
    });
    telemetry?.measure(app.registry);
    releases.push(app.stop);
    const { applied } = await migrating;
    if (pooler) await checkPooler(pool, pooler);
    if (applied.length > 0) log.info({ applied }, 'migrated');
    const { administrator, first } = await app.start();
    const { username, password } = administrator;
    // at once: it can't be printed again, and the rest may still fail
    if (password) {
      const temporary = strict ? '' : ', to be changed at the first sign-in';
      say(`Administrator of master: ${username} / ${password} (shown this once${temporary})`);
    }
    if (first) say(ONCE);
    const address = await listen(app.http, config);
    const port = await app
      .listenForCertificates()
      .catch((error: unknown) => cannotListen(error, config, 'SVC_MTLS_PORT'));
    log.info({ address, ...(port !== undefined && { mutualTlsPort: port }) }, 'listening');
    // once the caller has said so: to load the queue takes a tenth of a start
    const work = setImmediate(() => {
      app.work().catch((cause: Error) => {
        if (!stopping) fail(new Error(`The job queue could not be started: ${cause.message}`, { cause }));
      });
    });
    releases.push(async () => clearImmediate(work));
    return { config, address, administrator, failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A warning about the specification's default, for operators of the server. */
const ONCE =
  'Nobody is locked out after failed sign-ins (each realm’s lockoutEnabled is false until it is set; guesses are slowed down by address).';

type Address = Pick<Config, 'SVC_HOST' | 'SVC_PORT'>;
type PortVariable = 'SVC_PORT' | 'SVC_MTLS_PORT';

const listen = (http: FastifyInstance, address: Address): Promise<string> =>
  http
    .listen({ host: address.SVC_HOST, port: address.SVC_PORT })
    .catch((error: unknown) => cannotListen(error, address, 'SVC_PORT'));

/**
 * Checks the address before anything is created.
 * @throws errors that {@link startServer} would throw only after it created an administrator and printed the password
 */
export async function checkAddress(address: Address): Promise<void> {
  const probe = createServer();
  const listening = once(probe, 'listening');
  probe.listen({ host: address.SVC_HOST, port: address.SVC_PORT });
  await listening.catch((error: unknown) => cannotListen(error, address, 'SVC_PORT'));
  const closed = once(probe, 'close');
  probe.close();
  await closed;
}

function cannotListen(
  error: unknown,
  { SVC_HOST: host, ...ports }: Pick<Config, 'SVC_HOST'> & Partial<Pick<Config, PortVariable>>,
  variable: PortVariable,
): never {
  if (!(error instanceof Error && 'code' in error)) throw error;
  const port = ports[variable];
  if (error.code === 'EADDRINUSE')
    throw new Error(`Port ${port} of ${host} is in use: stop what listens there, or set ${variable} to another.`);
  if (error.code === 'EACCES')
    throw new Error(`Port ${port} of ${host} is not for this user to listen on: set ${variable} to one above 1023.`);
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    throw new Error(`${host} is not an address of this machine: correct SVC_HOST.`);
  throw error;
}

/** DATABASE_URL, or the embedded PostgreSQL with a key stored beside its data. */
async function database(
  config: Config,
  say: (line: string) => void,
  releases: (() => Promise<unknown>)[],
): Promise<{ url: string; direct: string; keyBeside: () => Promise<readonly Buffer[]> }> {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: direct = url } = config;
  if (url && direct) return { url, direct, keyBeside: async () => [] };
  const dir = path.resolve(config.SVC_DATA_DIR);
  // if root starts it, PostgreSQL's user must pass through this folder; the folders inside are closed
  await mkdir(dir, { recursive: true, mode: 0o755 });
  const postgres = await keepPostgres({ dir: path.join(dir, 'postgres'), log: say });
  releases.push(postgres.stop);
  return { url: postgres.url, direct: postgres.url, keyBeside: async () => [await keyIn(dir)] };
}

/**
 * The key, created once with mode 0600. Without it no encrypted value can be read again, so an unreadable key is an
 * error and is not replaced.
 */
async function keyIn(dir: string): Promise<Buffer> {
  const file = path.join(dir, 'master-key');
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.writeFile(`${randomBytes(32).toString('base64')}\n`);
    await handle.sync();
    await handle.close();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const key = Buffer.from((await readFile(file, 'utf8')).trim(), 'base64');
  if (key.length !== 32)
    throw new Error(
      `${file} does not hold a key of 32 bytes. Restore it from a backup, or remove the data directory to begin anew.`,
    );
  return key;
}
