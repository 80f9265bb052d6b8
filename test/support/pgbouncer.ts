// Owns: Debian's PgBouncer before a test's database.
// Does not own: its installation (patroni.ts), what goes through it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from './free-port.ts';
import { obtainPatroni, until } from './patroni.ts';

export interface PgBouncer {
  /** The database's address by way of it. */
  url: string;
  log(): Promise<string>;
  stop(): Promise<void>;
}

/** @param size how many sessions of PostgreSQL it shares between all clients */
export async function startPgBouncer(
  database: string,
  { mode, size = 4, more = '' }: { mode: 'session' | 'transaction' | 'statement'; size?: number; more?: string },
): Promise<PgBouncer> {
  await obtainPatroni();
  const folder = await mkdtemp('/tmp/pgbouncer-');
  const port = await freePort();
  const { hostname, port: behind, pathname, username, password } = new URL(database);
  const name = pathname.slice(1);
  const file = path.join(folder, 'pgbouncer.ini');
  const log = path.join(folder, 'log');
  await writeFile(
    path.join(folder, 'users.txt'),
    `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`,
  );
  await writeFile(
    file,
    `[databases]
${name} = host=${hostname} port=${behind || 5432} dbname=${name}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${path.join(folder, 'users.txt')}
pool_mode = ${mode}
default_pool_size = ${size}
max_client_conn = 200
logfile = ${log}
${more}
`,
  );
  // it refuses to run as root
  const root = process.getuid?.() === 0;
  await chmod(folder, root ? 0o777 : 0o700);
  const child: ChildProcess = spawn('/usr/sbin/pgbouncer', [file], {
    stdio: 'ignore',
    ...(root && { uid: 65_534, gid: 65_534 }),
  });
  const said = () => readFile(log, 'utf8').catch(() => '');
  await until(async () => (await said()).includes('process up')).catch(async (cause) => {
    throw new Error(`pgbouncer: ${await said()}`, { cause });
  });
  const url = new URL(database);
  url.port = String(port);
  url.hostname = '127.0.0.1';
  return {
    url: url.href,
    log: said,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
