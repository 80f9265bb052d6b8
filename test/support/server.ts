// Owns: a whole server for a test file: its own database, a random port of loopback, a signed-in administrator.
// Does not own: the database (database.ts), browsers (chromium.ts).
// Implements: tests at the level of use: HTTP against the real server, nothing of ours replaced.
import { pino } from 'pino';
import { type App, type AppOptions, buildApp } from '../../server/app.ts';
import { type Config, parseConfig } from '../../server/config.ts';
import type { Client } from '../../server/contract/client.ts';
import { newId } from '../../server/crypto/ids.ts';
import { createPasswords, type Passwords } from '../../server/crypto/passwords.ts';
import { openPool } from '../../server/db/sql.ts';
import { createLog } from '../../server/log.ts';
import { createDatabase } from './database.ts';
import { freePort } from './free-port.ts';
import { preparedKeyPair } from './key-pairs.ts';
import { signedIn } from './signed-in.ts';

export const ADMIN_PASSWORD = 'correct-horse-battery-staple';
export const MASTER_KEY = Buffer.alloc(32, 7);
/**
 * As little as argon2id can do: what a real one costs is no matter of most tests. All servers of the process have the same threads,
 * since to start one takes a third as long as to start a server; a stopped server leaves them to the next.
 */
const cheapPasswords: Passwords = {
  ...createPasswords({ parameters: { memory: 8, passes: 1, lanes: 1 } }),
  stop: async () => {},
};

export interface TestServer {
  app: App;
  config: Config;
  baseUrl: string;
  databaseUrl: string;
  pool: ReturnType<typeof openPool>;
  /** Calls contract routes as the administrator of master, by cookie and CSRF header; throws ServerProblem from 400 up. */
  admin: Client;
  /** Signs another person in at the admin API. */
  signIn(credentials: { username: string; password: string; realm?: string; otp?: string }): Promise<Client>;
  stop(): Promise<void>;
}

/** Another process of the same server on its database, without jobs; its caller stops it. */
export async function startReplica({ config, databaseUrl, pool }: TestServer): Promise<{ app: App; baseUrl: string }> {
  const log = pino({ level: config.SVC_LOG_LEVEL });
  const options = { strict: true, now: () => new Date(), newId, passwords: cheapPasswords };
  const app = await buildApp({ config, pool, databaseUrl, masterKey: [MASTER_KEY], log, ...options });
  await app.start();
  return { app, baseUrl: await app.http.listen({ host: '127.0.0.1', port: 0 }) };
}

/** @param env more environment, as an operator would set it; `now` a clock of the test's own */
export async function startTestServer({
  env = {},
  now = () => new Date(),
  retryDelaysSeconds,
  costly = false,
  jobs = true,
  resolveTxt,
  lines,
  masterKey = [MASTER_KEY],
  custody,
  bodyMs,
  failureMs,
  soonMs,
  connections = 4,
  beside,
}: {
  env?: Record<string, string>;
  now?: () => Date;
  /** Between the tries of a webhook delivery. */
  retryDelaysSeconds?: readonly number[];
  /** Keys that are generated and password hashes at their usual cost, for the tests of these. */
  costly?: boolean;
  /** false: nothing is sealed, and no job runs as long as none is enqueued, for tests that call one themselves or count statements. */
  jobs?: boolean;
  /** The TXT records of domains. */
  resolveTxt?: AppOptions['resolveTxt'];
  /** Gets the lines of the log. */
  lines?: string[];
  masterKey?: AppOptions['masterKey'];
  /** Wraps the keys of a keyring that is given. */
  custody?: AppOptions['custody'];
  /** How long a stranger's body may take, and an administrator's may bring nothing. */
  bodyMs?: number;
  /** How long a failed exchange of a workload's token takes. */
  failureMs?: number;
  /** How soon the server seals and forwards an event. */
  soonMs?: number;
  /** To the database: each costs its process more than most tests, so only tests of what waits for one ask for as many as in production. */
  connections?: number;
  /** Another replica of its installation. */
  beside?: TestServer;
} = {}): Promise<TestServer> {
  const database = beside ? { url: beside.databaseUrl, drop: async () => {} } : await createDatabase();
  const port = await freePort();
  const config = parseConfig({
    SVC_PORT: String(port),
    SVC_LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    DATABASE_URL: database.url,
    SVC_MASTER_KEY: MASTER_KEY.toString('base64'),
    SVC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD,
    SVC_OUTBOUND_ALLOW: '127.0.0.1,localhost',
    ...env,
  });
  const pool = openPool(database.url, { max: connections });
  const log = lines
    ? createLog('info', { to: { write: (line) => void lines.push(line) } })
    : pino({ level: config.SVC_LOG_LEVEL });
  const app = await buildApp({
    config,
    pool,
    databaseUrl: database.url,
    masterKey,
    custody,
    log,
    strict: true,
    now,
    newId,
    ...(!costly && { generateKeyPair: preparedKeyPair, passwords: cheapPasswords }),
    ...(retryDelaysSeconds && { retryDelaysSeconds }),
    ...(resolveTxt && { resolveTxt }),
    ...(bodyMs !== undefined && { bodyMs }),
    ...(failureMs !== undefined && { failureMs }),
    ...(soonMs !== undefined && { soonMs }),
  });
  await app.start();
  await app.http.listen({ host: '127.0.0.1', port });
  await app.listenForCertificates();
  if (jobs) await app.work();
  // Behind https there would be a proxy.
  const baseUrl = config.baseUrl.startsWith('https:') ? `http://127.0.0.1:${port}` : config.baseUrl;
  const signIn = (credentials: object) => signedIn(baseUrl, credentials);
  return {
    app,
    config,
    baseUrl,
    databaseUrl: database.url,
    pool,
    admin: await signIn({ username: 'admin', password: ADMIN_PASSWORD }),
    signIn,
    async stop() {
      await app.stop();
      await pool.end();
      await database.drop();
    },
  };
}
