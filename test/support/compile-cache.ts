// Owns: Node's cache of compiled modules: our programs, which tests start by the dozen, load in a third of the time with it.
// Does not own: starting them (landscape.ts, realmctl.ts, server-process.ts).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const mains = ['app', 'start', 'compose/later', 'compose/administration']
  .map((name) => `server/${name}.ts`)
  .concat('operator/start.ts', 'cli/run.ts');

/** The environment with which a program uses the cache. */
export const compileCache = (): NodeJS.ProcessEnv => ({ NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE });

/** Fills the folder if it is not there. A program writes to it when it exits, and most of those in tests are killed. */
export async function fillCompileCache(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  const script = `await Promise.all(${JSON.stringify(mains.map((main) => path.join(root, main)))}.map((main) => import(main)));`;
  const args = ['--input-type=module', '--eval', `${script} process.exit();`];
  await once(
    spawn(process.execPath, args, { env: { ...process.env, NODE_COMPILE_CACHE: folder }, stdio: 'ignore' }),
    'close',
  );
}
