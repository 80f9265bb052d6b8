// Owns: a bench's folder, and taking away those of benches that were killed.
// Does not own: what lies in it (target.ts, operator/site.ts).
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const NAME = /^realmkeeper-bench-(\d+)-/;

export async function benchFolder(parent = os.tmpdir()): Promise<string> {
  for (const name of await readdir(parent)) {
    const pid = NAME.exec(name)?.[1];
    // Its PostgreSQL, where it still runs, ends soon after its lock file.
    if (pid && !runs(Number(pid))) await rm(path.join(parent, name), { recursive: true, force: true }).catch(() => {});
  }
  const dir = await mkdtemp(path.join(parent, `realmkeeper-bench-${process.pid}-`));
  // PostgreSQL's user has to get through it when root starts it
  await chmod(dir, 0o755);
  return dir;
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // somebody else's (EPERM) runs, too
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
