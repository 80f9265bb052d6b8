// A worker thread of passwords.ts: hashes one password after another, away from the event loop and the libuv pool.
import os from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { hashPassword, verifyPassword } from './phc.ts';

const Start = z.object({ memory: z.int(), passes: z.int(), lanes: z.int() });
const Task = z.object({ plain: z.string(), phc: z.string().optional() });

try {
  // On Linux this is the calling thread's: signing tokens must not wait for people's passwords.
  if (os.platform() === 'linux') os.setPriority(5);
} catch {
  // not permitted: then at the process's priority
}

const of = Start.parse(workerData);
parentPort?.on('message', (message: unknown) => {
  try {
    const { plain, phc } = Task.parse(message);
    parentPort?.postMessage(phc === undefined ? { hash: hashPassword(plain, of) } : verifyPassword(phc, plain, of));
  } catch (error) {
    parentPort?.postMessage({ failed: error instanceof Error ? error.message : 'unknown' });
  }
});
