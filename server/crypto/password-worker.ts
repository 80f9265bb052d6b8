// A worker thread of passwords.ts: it hashes one password after another, and answers several tasks in one message when more
// are waiting. Each thread has its own heap, so it imports as little as possible.
import os from 'node:os';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { hashPassword, verifyPassword } from './password-hash.ts';
import type { Argon2Parameters } from './phc.ts';
import { priorityFor, threadsHavePriorities } from './priority.ts';

try {
  // sets the priority of the calling thread only
  if (threadsHavePriorities) os.setPriority(priorityFor('passwords'));
} catch {
  // not permitted: the thread keeps the process's priority
}

/**
 * `phc`: the hash to check the password against; without it the worker makes a hash. `apart`: the check may take far longer
 * than a hash with today's parameters.
 */
export interface PasswordTask {
  plain: string;
  phc?: string;
  apart: boolean;
}

/** `heldMs`: how long an answer may wait for others at most, plus the time of the hash that is being computed. */
export interface PasswordWork {
  parameters: Argon2Parameters;
  heldMs: number;
}
const { parameters, heldMs }: PasswordWork = workerData;
/** The most answers in one message. More messages would wake the other threads more often and empty their CPU caches. */
const TOGETHER = 8;

function answerTo({ plain, phc }: PasswordTask): object {
  try {
    return phc === undefined ? { hash: hashPassword(plain, parameters) } : verifyPassword(phc, plain, parameters);
  } catch (error) {
    return { failed: error instanceof Error ? error.message : 'unknown' };
  }
}

/**
 * Takes the next tasks to answer in one message: half of those that wait. A few are then answered soon, and many need few
 * messages. A task that may take long is answered alone.
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
