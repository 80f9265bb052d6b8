// Owns: a server as a process of its own, from the sources, on a database of its own: what it uses of memory is its own, and it can be
// another's partner.
// Does not own: a server in the test's process (server.ts), one that is killed and comes back (landscape.ts).
// Implements: tests at the level of use.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Client } from '../../server/contract/client.ts';
import { createDatabase } from './database.ts';
import { freePort } from './free-port.ts';
import { ADMIN_PASSWORD } from './server.ts';
import { signedIn } from './signed-in.ts';

const main = path.resolve(import.meta.dirname, '../../server/main.ts');

export interface ServerProcess {
  /** Where it listens, without TLS. */
  inside: string;
  databaseUrl: string;
  admin: Client;
  /** Resident memory, in MiB. */
  memory(): number;
  stop(): Promise<void>;
}

async function listens(child: ChildProcess): Promise<void> {
  let said = '';
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        said = (said + chunk).slice(-4000);
        if (said.includes('listens on')) resolve();
      });
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with ${code}:\n${said}`);
  });
  ended.catch(() => {});
  await Promise.race([ready, ended]);
}

/** @param env more environment, as an operator would set it; its DATABASE_URL in the place of a database of its own */
export async function startServerProcess(env: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
  const { DATABASE_URL: given } = env;
  const database = given === undefined ? await createDatabase() : { url: given, drop: async () => {} };
  const port = await freePort();
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.url,
      SVC_PORT: String(port),
      SVC_LOG_LEVEL: 'error',
      SVC_MASTER_KEY: Buffer.alloc(32, 9).toString('base64'),
      SVC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await database.drop();
  };
  try {
    await listens(child);
    const inside = `http://127.0.0.1:${port}`;
    return {
      inside,
      databaseUrl: database.url,
      admin: await signedIn(inside, { username: 'admin', password: ADMIN_PASSWORD }),
      memory: () => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
