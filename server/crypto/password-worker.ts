// A worker thread of passwords.ts: hashes one password after another, and answers a few together where more wait.
// Each thread has a heap of its own, so it loads nothing that it can do without.
import os from 'node:os';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { hashPassword, verifyPassword } from './password-hash.ts';
import type { Argon2Parameters } from './phc.ts';

try {
  // On Linux this is the calling thread's. Signing tokens (signing-threads.ts) must not wait for people's passwords.
  if (os.platform() === 'linux') os.setPriority(Math.min(os.getPriority() + 10, os.constants.priority.PRIORITY_LOW));
} catch {
  // not permitted: then at the process's priority
}

/** `phc`: to be checked against; without it a hash is made. */
export interface PasswordTask {
  plain: string;
  phc?: string;
}

const of: Argon2Parameters = workerData;
/** What is answered at once where more people wait: each answer wakes everybody else, and they find the caches empty. */
const TOGETHER = 4;

function answerTo({ plain, phc }: PasswordTask): object {
  try {
    return phc === undefined ? { hash: hashPassword(plain, of) } : verifyPassword(phc, plain, of);
  } catch (error) {
    return { failed: error instanceof Error ? error.message : 'unknown' };
  }
}

if (parentPort) {
  const port = parentPort;
  const following = (): PasswordTask | undefined => receiveMessageOnPort(port)?.message;
  port.on('message', (first: PasswordTask) => {
    const answers: object[] = [];
    for (let task: PasswordTask | undefined = first; task; task = following()) {
      answers.push(answerTo(task));
      if (answers.length === TOGETHER) break;
    }
    port.postMessage(answers);
  });
}
