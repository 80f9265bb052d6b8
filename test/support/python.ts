// Owns: packages of Python for tests, in an environment of their own in the user's cache, got once.
// Does not own: what they are for.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { sha256 } from '../../server/crypto/tokens.ts';

const execute = promisify(execFile);
const cache = path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'realmkeeper');

/** @param packages each with its version */
export function createVenv(name: string, packages: readonly string[]) {
  // other versions are another environment
  const folder = path.join(cache, `${name}-${sha256(packages.join(' ')).toString('hex').slice(0, 16)}`);
  const python = path.join(folder, 'bin', 'python');
  return {
    python,

    /** @throws where there is no Python of 3.11 or newer, or no registry to get it from */
    async obtain(log: (message: string) => void): Promise<void> {
      if (existsSync(python)) return;
      const [major = 0, minor = 0] = await execute('python3', ['--version']).then(
        ({ stdout }) => (/(\d+)\.(\d+)/.exec(stdout) ?? []).slice(1).map(Number),
        () => [],
      );
      if (major < 3 || (major === 3 && minor < 11)) throw new Error(`${name} needs Python 3.11 or newer`);
      log(`${name}: getting it with pip`);
      await mkdir(cache, { recursive: true });
      const making = `${folder}.${process.pid}`;
      try {
        await execute('python3', ['-m', 'venv', making], { timeout: 120_000 });
        const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages];
        await execute(path.join(making, 'bin', 'python'), pip, { timeout: 240_000 });
        await rename(making, folder);
      } catch (error) {
        await rm(making, { recursive: true, force: true });
        if (!existsSync(python)) throw error;
      }
    },
  };
}
