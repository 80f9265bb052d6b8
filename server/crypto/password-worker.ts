// A worker thread of passwords.ts: hashes one password after another, away from the event loop and the libuv pool.
// Each thread has a heap of its own, so it loads nothing that it can do without.
import os from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { hashPassword, verifyPassword } from './password-hash.ts';
import type { Argon2Parameters } from './phc.ts';

try {
  // On Linux this is the calling thread's: signing tokens must not wait for people's passwords.
  if (os.platform() === 'linux') os.setPriority(5);
} catch {
  // not permitted: then at the process's priority
}

const of: Argon2Parameters = workerData;
parentPort?.on('message', ({ plain, phc }: { plain: string; phc?: string }) => {
  try {
    parentPort?.postMessage(phc === undefined ? { hash: hashPassword(plain, of) } : verifyPassword(phc, plain, of));
  } catch (error) {
    parentPort?.postMessage({ failed: error instanceof Error ? error.message : 'unknown' });
  }
});
