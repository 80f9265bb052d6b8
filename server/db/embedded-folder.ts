// Owns: whose the cluster's folder is, and where it lies when the asked-for place can't be reached.
// Does not own: what is in it (embedded.ts) and which process may use it (embedded-lock.ts).
// Implements: "Embedded database": a run as root, PostgreSQL itself never as root.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** Who PostgreSQL runs as: ourselves unless `ids` says otherwise. */
export interface Owner {
  ids?: { uid: number; gid: number };
  env: NodeJS.ProcessEnv;
}

const nobody = 65534;

/** The user for PostgreSQL, which refuses both root and a user without an entry in /etc/passwd. */
export function owner(): Owner {
  // nothing of our environment: PG* variables would change what the programs do
  const env = { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin' };
  if (process.getuid?.() === 0) return { ids: { uid: nobody, gid: nobody }, env };
  try {
    os.userInfo();
  } catch (cause) {
    const who = `uid ${process.getuid?.()} has no entry in /etc/passwd`;
    const next = 'set DATABASE_URL to a PostgreSQL 15 or newer of your own, or run as a named user';
    throw new Error(`The embedded PostgreSQL can't run here, ${who}: ${next}.`, { cause });
  }
  return { env };
}

/** Creates the cluster's folder; under root, elsewhere if PostgreSQL's user can't get to the asked-for place. */
export async function clusterFolder(dir: string, user: Owner, log: (message: string) => void): Promise<string> {
  if (!user.ids) {
    await fs.mkdir(dir, { recursive: true, mode: 0o700 });
    return fs.realpath(dir);
  }
  const name = `realmkeeper-${createHash('sha256').update(dir).digest('hex').slice(0, 12)}`;
  for (const place of [dir, path.join('/var/lib', name), path.join(os.tmpdir(), name)]) {
    if (!(await reachable(place, user))) continue;
    const made = await create(place, user.ids.uid, user.ids.gid);
    if (!made) continue;
    if (place !== dir) log(`PostgreSQL's user can't reach ${dir}: the data is kept in ${place}`);
    return fs.realpath(place);
  }
  throw new Error(`No folder that PostgreSQL's user (${user.ids.uid}) can reach: put ${dir} outside of private homes.`);
}

async function create(dir: string, uid: number, gid: number): Promise<boolean> {
  try {
    await fs.mkdir(dir, { recursive: true, mode: 0o755 });
    // an attacker's symbolic link in a shared folder must not be given away
    if (!(await fs.lstat(dir)).isDirectory()) return false;
    await fs.chmod(dir, 0o700);
    await fs.chown(dir, uid, gid);
    return true;
  } catch {
    return false;
  }
}

async function reachable(dir: string, user: Owner): Promise<boolean> {
  let existing = path.dirname(dir);
  while (!(await fs.stat(existing).catch(() => undefined))) existing = path.dirname(existing);
  const child = spawn('test', ['-x', existing], { ...user.ids, env: user.env, cwd: '/', stdio: 'ignore' });
  try {
    const [code]: (number | string | null)[] = await once(child, 'close');
    return code === 0;
  } catch (error) {
    throw new Error('Root may not start a program as another user here: set DATABASE_URL.', { cause: error });
  }
}
