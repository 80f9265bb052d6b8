// Owns: the owner of the cluster's folder, and its place if PostgreSQL's user can't reach the configured one.
// Does not own: the folder's content (embedded.ts), which process may use it (embedded-lock.ts).
// Implements: "Embedded database": a run as root, PostgreSQL itself never as root.
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** The user that PostgreSQL runs as: the server's own without `ids`. */
export interface Owner {
  ids?: { uid: number; gid: number };
  env: NodeJS.ProcessEnv;
}

/** The cluster's actual folder, and the user that PostgreSQL runs as. */
export interface ClusterFolder {
  dir: string;
  user: Owner;
}

// without the server's environment, whose PG* variables would change the programs' behaviour
const env = { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin' };
const nobody = { uid: 65534, gid: 65534 };
const instead = 'set DATABASE_URL to a PostgreSQL 15 or newer of your own';

/**
 * Creates the cluster's folder. PostgreSQL refuses to run as root, so under root it gets a user of its own. If that user can't
 * reach `dir`, the folder is made elsewhere and `log` gets its path.
 */
export async function clusterFolder(dir: string, log: (message: string) => void): Promise<ClusterFolder> {
  if (process.getuid?.() !== 0) return { dir: await ownFolder(dir), user: { env } };
  const name = `realmkeeper-${createHash('sha256')
    .update(dir)
    .update(await identity(dir))
    .digest('hex')
    .slice(0, 12)}`;
  for (const place of [dir, path.join('/var/lib', name), path.join(os.tmpdir(), name)]) {
    const user = { ids: await heir(place), env };
    if (!(await isReachable(place, user)) || !(await give(place, user.ids))) continue;
    if (place !== dir) log(`PostgreSQL's user can't reach ${dir}: the data is kept in ${place}`);
    return { dir: await fs.realpath(place), user };
  }
  throw new Error(`No folder that PostgreSQL's user can reach: put ${dir} outside of private homes, or ${instead}.`);
}

/**
 * A random id in a file beside the configured folder. If the cluster lies elsewhere, an operator who removes the data directory
 * removes the id too, so the next start makes a new cluster.
 */
async function identity(dir: string): Promise<string> {
  const file = `${dir}.id`;
  await makeFolder(path.dirname(dir));
  const taken = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  };
  await fs.writeFile(file, `${randomUUID()}\n`, { flag: 'wx', mode: 0o644 }).catch(taken);
  return await fs.readFile(file, 'utf8');
}

/** Whether PostgreSQL's user may go through the nearest existing folder above `file`. */
export async function isReachable(file: string, user: Owner): Promise<boolean> {
  if (!user.ids) return true;
  let existing = path.dirname(file);
  while (!(await fs.stat(existing).catch(() => undefined))) existing = path.dirname(existing);
  try {
    // root without CAP_SETUID makes spawn itself throw
    const child = spawn('test', ['-x', existing], { ...user.ids, env, cwd: '/', stdio: 'ignore' });
    const [code]: (number | string | null)[] = await once(child, 'close');
    return code === 0;
  } catch (cause) {
    throw new Error(`Root may not start a program as another user here: ${instead}.`, { cause });
  }
}

/** Creates a folder. Missing folders above it are created so that every user can pass through them, with any umask. */
export async function makeFolder(dir: string): Promise<void> {
  const first = await fs.mkdir(dir, { recursive: true });
  for (let made = dir; first && made.startsWith(first); made = path.dirname(made)) await fs.chmod(made, 0o755);
}

async function ownFolder(dir: string): Promise<string> {
  try {
    os.userInfo();
  } catch (cause) {
    const who = `uid ${process.getuid?.()} has no entry in /etc/passwd`;
    throw new Error(`The embedded PostgreSQL can't run here, ${who}: run as a named user, or ${instead}.`, { cause });
  }
  try {
    await fs.mkdir(dir, { recursive: true, mode: 0o700 });
    await fs.access(dir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new Error(`The folder ${dir} can't be written: choose another data folder, or ${instead}.`, { cause });
  }
  const data = await fs.stat(path.join(dir, 'data')).catch(() => undefined);
  if (data && data.uid !== process.getuid?.()) {
    const advice = `run as that user, choose another data folder, or ${instead}`;
    throw new Error(`The database in ${dir} belongs to the user with uid ${data.uid}: ${advice}.`);
  }
  return fs.realpath(dir);
}

// a cluster that an ordinary user made still belongs to that user when root starts it
async function heir(dir: string): Promise<{ uid: number; gid: number }> {
  const data = await fs.stat(path.join(dir, 'data')).catch(() => undefined);
  return data && data.uid !== 0 ? { uid: data.uid, gid: data.gid } : nobody;
}

async function give(dir: string, { uid, gid }: { uid: number; gid: number }): Promise<boolean> {
  try {
    await makeFolder(dir);
    const found = await fs.lstat(dir);
    // in a shared folder, another user may have placed a link or a folder under this name
    if (!found.isDirectory() || ![0, uid].includes(found.uid)) return false;
    await fs.chmod(dir, 0o700);
    await fs.chown(dir, uid, gid);
    return true;
  } catch {
    return false;
  }
}
