// Owns: an application in Go, by libraries that we didn't write: building it once, and running it.
// Does not own: what the application does (clients/go), the person in front of it (test/server/features/clients.*.long.test.ts).
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { sha256 } from '../../server/crypto/tokens.ts';
import { converse } from './conversation.ts';

const execute = promisify(execFile);
const source = path.resolve(import.meta.dirname, '../clients/go');
const cache = path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'realmkeeper');
const version = sha256(['main.go', 'go.sum'].map((file) => readFileSync(path.join(source, file))).join(''));
const program = path.join(cache, `go-client-${version.toString('hex').slice(0, 16)}`);

/** @throws where there is no Go of the module's version, or no proxy to get its modules from */
export async function obtainGoClient(log: (message: string) => void): Promise<void> {
  if (existsSync(program)) return;
  await execute('go', ['version']);
  log('a client in Go: building it');
  await mkdir(cache, { recursive: true });
  const making = `${program}.${process.pid}`;
  try {
    const build = ['build', '-mod=readonly', '-modcacherw', '-trimpath', '-o', making, '.'];
    await execute('go', build, { cwd: source, timeout: 240_000 });
    await rename(making, program);
  } catch (error) {
    await rm(making, { force: true });
    throw error;
  }
}

export const runGoClient = (...args: string[]) => converse(program, args);
