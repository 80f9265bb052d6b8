// Owns: SoftHSM, a PKCS#11 module without hardware, and the native code by which Node speaks to it.
// Does not own: tokens and keys, which the tests make by the commands of docs/keys.md.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { installPackages } from './packages.ts';

const execute = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
export const MODULE = '/usr/lib/softhsm/libsofthsm2.so';

/** Installs Debian's packages where they are missing, and builds pkcs11js once. @throws where that can't be done */
export async function prepareSoftHsm(log: (message: string) => void = () => {}): Promise<void> {
  if (!existsSync(MODULE) || !existsSync('/usr/bin/pkcs11-tool'))
    await installPackages(['softhsm2', 'opensc'], { missing: 'SoftHSM is missing: install softhsm2 and opensc', log });
  const folder = path.join(root, 'node_modules/pkcs11js');
  if (existsSync(path.join(folder, 'build/Release/pkcs11.node'))) return;
  log('pkcs11js: building its native code');
  // npm's own, since npm runs the tests
  const gyp = path.resolve(process.env.npm_execpath ?? '', '../../node_modules/node-gyp/bin/node-gyp.js');
  // Node's own headers: they need no download
  const headers = path.resolve(process.execPath, '../..');
  await execute(process.execPath, [gyp, 'rebuild', `--nodedir=${headers}`], { cwd: folder });
}
