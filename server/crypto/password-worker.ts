// A worker thread of passwords.ts: hashes one password after another, and answers a few together where more wait.
// Each thread has a heap of its own, so it loads nothing that it can do without.
import os from 'node:os';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { hashPassword, verifyPassword } from './password-hash.ts';
import type { Argon2Parameters } from './phc.ts';
import { priorityFor, threadsHavePriorities } from './priority.ts';

try {
  // Of the calling thread, which is this one alone.
  if (threadsHavePriorities) os.setPriority(priorityFor('passwords'));
} catch {
  // not permitted: then at the process's priority
}

/** `phc`: to be checked against; without it a hash is made. `apart`: it may take far longer than a hash of today's. */
export interface PasswordTask {
  plain: string;
  phc?: string;
  apart: boolean;
}

/** `heldMs`: no answer is held back longer for others, but for the hash that is under way. */
export interface PasswordWork {
  parameters: Argon2Parameters;
  heldMs: number;
}
const { parameters, heldMs }: PasswordWork = workerData;
/** What is answered at once at most: each answer wakes everybody else, and they find the caches empty. */
const TOGETHER = 8;

function answerTo({ plain, phc }: PasswordTask): object {
  try {
    return phc === undefined ? { hash: hashPassword(plain, parameters) } : verifyPassword(phc, plain, parameters);
  } catch (error) {
    return { failed: error instanceof Error ? error.message : 'unknown' };
  }
}

/**
 * Takes the next few who are answered together: half of all, so that a few who wait are answered soon and many with few
 * messages. What may take long comes alone.
 */
function takeGroup(waiting: PasswordTask[]): PasswordTask[] {
  const half = Math.min(TOGETHER, Math.ceil(waiting.length / 2));
  const apart = waiting.findIndex((task) => task.apart);
  return waiting.splice(0, apart < 0 ? half : Math.min(half, Math.max(apart, 1)));
}

if (parentPort) {
  const port = parentPort;
  const waiting: PasswordTask[] = [];
  port.on('message', (first: PasswordTask) => {
    waiting.push(first);
    while (waiting.length > 0) {
      for (let more = receiveMessageOnPort(port); more; more = receiveMessageOnPort(port)) waiting.push(more.message);
      const answers: object[] = [];
      let from = performance.now();
      for (const task of takeGroup(waiting)) {
        if (answers.length > 0 && performance.now() - from > heldMs) {
          port.postMessage(answers.splice(0));
          from = performance.now();
        }
        answers.push(answerTo(task));
      }
      port.postMessage(answers);
    }
  });
}
