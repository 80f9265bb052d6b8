// Owns: which process may use a cluster's folder, and the end of a PostgreSQL whose process was killed.
// Does not own: the normal start and stop (embedded.ts).
// Implements: "Embedded database": survives kill -9 of the server and of PostgreSQL.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * Makes the calling process the folder's owner. Each process first writes a claim file under its own name and only then looks
 * for others, so of two at the same time at least one sees the other. A file names its process: if that process has ended, the
 * file is removed, which is always safe.
 * @returns the function that releases the folder @throws Error if another living process owns the folder
 */
export async function claimDataFolder(dir: string): Promise<() => Promise<void>> {
  const me = `${process.pid}-${fingerprint(await describe(process.pid))}-${randomBytes(4).toString('hex')}`;
  const files = { claim: path.join(dir, `claim-${me}`), owner: path.join(dir, `owner-${me}`) };
  const withdraw = async () => {
    // a file that stays is harmless: it names a process that has ended
    for (const file of [files.owner, files.claim]) await fs.rm(file, { force: true }).catch(() => {});
  };
  await fs.writeFile(files.claim, '');
  try {
    for (;;) {
      const others = (await living(dir)).filter(({ who }) => who !== me);
      // of the processes that still try, the first by name wins and the others give way
      const winner = others.find(({ role, who }) => role === 'owner' || who < me);
      if (winner) {
        const next = 'stop it, or choose another data folder (SVC_DATA_DIR), or set DATABASE_URL';
        throw new Error(`The database in ${dir} is in use by process ${parseInt(winner.who, 10)}: ${next}.`);
      }
      if (others.length === 0) break;
      await sleep(10);
    }
    await fs.writeFile(files.owner, '');
  } catch (error) {
    await withdraw();
    throw error;
  }
  return withdraw;
}

interface Mark {
  role: string;
  who: string;
}

async function living(dir: string): Promise<Mark[]> {
  const marks: Mark[] = [];
  for (const name of (await fs.readdir(dir)).sort().reverse()) {
    const [, role, who, pid, print] = /^(owner|claim)-((\d+)-([0-9a-f]+)-[0-9a-f]+)$/.exec(name) ?? [];
    if (role === undefined || who === undefined) continue;
    const process = await describe(Number(pid));
    if (process && fingerprint(process) === print) marks.push({ role, who });
    else await fs.rm(path.join(dir, name), { force: true });
  }
  return marks;
}

function fingerprint(process: Process | undefined): string {
  return createHash('sha256')
    .update(process?.started ?? '')
    .digest('hex')
    .slice(0, 12);
}

/** Stops the PostgreSQL that a killed process left on this data folder. Another process may have its pid by now. */
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
  /** The start time as the operating system prints it: a later process with the same id has another one. */
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
