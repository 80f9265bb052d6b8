// Owns: scim2-tester, a SCIM client that checks servers: getting it with Python's package manager, and running it.
// Does not own: what it finds (test/server/features/scim.tester.long.test.ts).
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const PACKAGES = ['scim2-tester==0.5.2', 'scim2-client[httpx2]==0.13.2', 'scim2-models==0.12.3'];
const cache = path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'realmkeeper');
const folder = path.join(cache, PACKAGES[0] ?? '');
const python = path.join(folder, 'bin', 'python');

/** @throws where there is no Python of 3.11 or newer, or no registry to get it from */
export async function obtainScimTester(log: (message: string) => void): Promise<void> {
  if (existsSync(python)) return;
  const [major = 0, minor = 0] = await execute('python3', ['--version']).then(
    ({ stdout }) => (/(\d+)\.(\d+)/.exec(stdout) ?? []).slice(1).map(Number),
    () => [],
  );
  if (major < 3 || (major === 3 && minor < 11)) throw new Error('scim2-tester needs Python 3.11 or newer');
  log('scim2-tester: getting it with pip');
  await mkdir(cache, { recursive: true });
  const making = `${folder}.${process.pid}`;
  try {
    await execute('python3', ['-m', 'venv', making], { timeout: 120_000 });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PACKAGES];
    await execute(path.join(making, 'bin', 'python'), pip, { timeout: 240_000 });
    await rename(making, folder);
  } catch (error) {
    await rm(making, { recursive: true, force: true });
    if (!existsSync(python)) throw error;
  }
}

export interface Finding {
  status: string;
  title: string;
  of: string | null;
  reason: string | null;
}

export async function runScimTester(base: string, token: string): Promise<Finding[]> {
  const script = path.join(import.meta.dirname, 'scim-tester.py');
  const { stdout } = await execute(python, [script, base, token], { maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout);
}
