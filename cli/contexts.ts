// Owns: the file of signed-in servers: its permissions, its content, and concurrent writes.
// Does not own: the permissions of a session (sessions.ts), signing in (commands/login.ts).
// Implements: docs/cli.md: sessions kept with mode 0600, several servers as contexts.
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Environment } from './command.ts';
import { Refused } from './faults.ts';
import { writeWhole } from './whole-file.ts';

const Session = z.discriminatedUnion('type', [
  /** A session of the authorization code flow; `expiresAt`: when the access token expires, in epoch ms. */
  z.object({ type: z.literal('person'), accessToken: z.string(), refreshToken: z.string(), expiresAt: z.number() }),
  /** A session of a sign-in by username and password. */
  z.object({ type: z.literal('cookie'), cookie: z.string() }),
  /** A client. Its secret is not stored: each run reads it from its file, or from the environment. */
  z.object({ type: z.literal('client'), clientId: z.string(), secretFile: z.string().optional() }),
]);
export type Session = z.infer<typeof Session>;

const Context = z.object({
  server: z.string(),
  /** The realm that the user or the client belongs to. */
  realm: z.string(),
  name: z.string().optional().describe('Who is signed in'),
  defaultRealm: z.string().optional().describe('The realm that commands are about which say no other'),
  session: Session.optional().describe('Absent after signing out'),
});
export type Context = z.infer<typeof Context>;

const Contexts = z.object({
  current: z.string().optional(),
  contexts: z.record(z.string(), Context),
});
export type Contexts = z.infer<typeof Contexts>;

/** When another process may remove the lock: no request under the lock takes so long. */
const LOCK_STALE_MS = 60_000;
const LOCK_WAIT_MS = 45_000;
const LOCK_LOOK_MS = 40;

export interface ContextFile {
  path: string;
  read(): Promise<Contexts>;
  /** Writes the result of `change` under a lock; undefined: writes nothing. */
  update(change: (contexts: Contexts) => Promise<Contexts | undefined>): Promise<void>;
}

export function contextFile(env: Environment, warn: (line: string) => void): ContextFile {
  const home = env.XDG_CONFIG_HOME || path.join(env.HOME || os.homedir(), '.config');
  const file = path.resolve(env.REALMCTL_CONFIG || path.join(home, 'realmctl', 'config.json'));

  async function read(): Promise<Contexts> {
    const text = await readPrivate(file, warn);
    if (text === undefined) return { contexts: {} };
    try {
      return Contexts.parse(JSON.parse(text));
    } catch {
      throw new Refused(`${file} is not a file of realmctl’s contexts`, 'Move it away and sign in again.');
    }
  }

  return {
    path: file,
    read,
    async update(change) {
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      const unlock = await lock(`${file}.lock`);
      try {
        const contexts = await change(await read());
        if (!contexts) return;
        // replaces the target of a symbolic link, not the link
        const target = await realpath(file).catch(() => file);
        await writeWhole(target, [`${JSON.stringify(contexts, null, 2)}\n`], { secret: true });
      } finally {
        await unlock();
      }
    },
  };
}

/** The file's text. If its mode lets other users in, the mode is corrected, with a warning. */
async function readPrivate(file: string, warn: (line: string) => void): Promise<string | undefined> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Refused(`${file} can’t be read: ${error.message}`);
  });
  if (!handle) return undefined;
  try {
    const { mode, uid } = await handle.stat();
    const me = process.getuid?.();
    if (me !== undefined && me !== 0 && uid !== me)
      throw new Refused(
        `${file} belongs to another user of this machine`,
        'Set REALMCTL_CONFIG to a file of your own.',
      );
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      await handle.chmod(0o600);
      warn(`${file} could be read by others (mode ${(mode & 0o777).toString(8)}); it is 600 now.`);
      warn('If others use this computer, sign out and in again.');
    }
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/** Creates the lock file, which only one process can do. A lock of a dead process is removed. */
async function lock(file: string): Promise<() => Promise<void>> {
  const mine = randomBytes(16).toString('hex');
  const until = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    if (await made(file, mine))
      return async () => {
        const holder = await readFile(file, 'utf8').catch(() => '');
        if (holder === mine) await rm(file, { force: true });
      };
    if ((await isStale(file)) && (await takeAway(file))) continue;
    if (Date.now() > until) throw new Refused(`another realmctl holds ${file}`, 'Remove it if none is running.');
    else await sleep(LOCK_LOOK_MS);
  }
}

/** @returns false: the file exists already */
async function made(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function isStale(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > LOCK_STALE_MS;
}

/** Removes an old lock, one process at a time; each checks again under the lock, since another may have been first. */
async function takeAway(file: string): Promise<boolean> {
  const turn = `${file}.stale`;
  if (!(await made(turn, ''))) return false;
  try {
    if (await isStale(file)) await rm(file, { force: true });
    return true;
  } finally {
    await rm(turn, { force: true });
  }
}
