// Owns: which process may use a cluster's folder, and the end of a PostgreSQL whose process was killed.
// Does not own: starting and stopping in the ordinary way (embedded.ts).
// Implements: "Embedded database": survives kill -9 of the server and of PostgreSQL.
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** Makes this process the owner of the folder, or throws when another living one is. Returns the release. */
export async function claim(dir: string): Promise<() => Promise<void>> {
  const file = path.join(dir, 'owner');
  const mine = `${process.pid} ${(await describe(process.pid))?.started}`;
  const draft = `${file}.${process.pid}.${performance.now()}`;
  await fs.writeFile(draft, mine);
  try {
    await take(file, draft, dir);
  } finally {
    await fs.rm(draft, { force: true });
  }
  return async () => {
    const current = await fs.readFile(file, 'utf8').catch(() => '');
    // a claim that stays behind is harmless: it names a process that is gone
    if (current === mine) await fs.rm(file, { force: true }).catch(() => {});
  };
}

async function take(file: string, draft: string, dir: string): Promise<void> {
  for (;;) {
    try {
      // a link is made whole or not at all, unlike a file that is created and then written
      await fs.link(draft, file);
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const found = await fs.readFile(file, 'utf8').catch(() => undefined);
    if (found === undefined) continue;
    const [pid = ''] = found.split(' ');
    const process = await describe(Number(pid));
    if (process && found === `${pid} ${process.started}`) {
      const next = 'stop it, or choose another data folder, or set DATABASE_URL';
      throw new Error(`The database in ${dir} is in use by process ${pid}: ${next}.`);
    }
    await discard(file, draft, found);
  }
}

// two starters may find the same stale file: the slower one must not remove the faster one's fresh claim
async function discard(file: string, draft: string, stale: string): Promise<void> {
  const aside = `${draft}.stale`;
  const moved = await fs.rename(file, aside).then(
    () => true,
    () => false,
  );
  if (!moved) return;
  if ((await fs.readFile(aside, 'utf8')) !== stale) await fs.link(aside, file).catch(() => {});
  await fs.rm(aside, { force: true });
}

/** Stops the PostgreSQL that a killed process left on this data folder; its pid may by now be somebody else's. */
export async function stopOrphan(data: string, stop: () => Promise<void>, log: (m: string) => void): Promise<void> {
  const file = path.join(data, 'postmaster.pid');
  const [pid = ''] = (await fs.readFile(file, 'utf8').catch(() => '')).split('\n');
  if (!pid) return;
  const process = await describe(Number(pid));
  if (!process) return;
  if (!process.command.includes(data)) return fs.rm(file, { force: true });
  log(`stopping the PostgreSQL (process ${pid}) that an earlier run left behind`);
  await stop();
}

interface Process {
  /** When it began, in the system's own words: tells a process from a later one with the same id. */
  started: string;
  command: string;
}

async function describe(pid: number): Promise<Process | undefined> {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  try {
    if (process.platform === 'linux') return await describeByProc(pid);
    const ps = async (field: string) => (await promisify(execFile)('ps', ['-o', field, '-p', `${pid}`])).stdout.trim();
    return { started: await ps('lstart='), command: await ps('command=') };
  } catch {
    return undefined;
  }
}

async function describeByProc(pid: number): Promise<Process | undefined> {
  const stat = await fs.readFile(`/proc/${pid}/stat`, 'utf8');
  // the name in parentheses may hold spaces and parentheses itself: count from the last one (proc(5): 3 = state, 22 = start)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // a zombie has ended, its parent only hasn't noticed
  if (fields[0] === 'Z') return undefined;
  const boot = await fs.readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  const command = (await fs.readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
  return { started: `${fields[19]} ${boot.trim()}`, command };
}
