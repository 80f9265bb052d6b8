// Lets the event loop go before the threads that sign, where they want the same core. Otherwise they finish all there is
// to sign while the loop waits for its turn, and then have nothing: a core rests while the loop catches up.
// It owns no thread: signing runs in libuv's pool (jwt.ts); hashing has threads of its own (password-worker.ts).
import { readdir, readFile } from 'node:fs/promises';
import os from 'node:os';
import { priorityFor, threadsHavePriorities } from './priority.ts';

/** A thread of libuv's pool in /proc/self/task/<id>/comm. They all begin with the first that anybody asks of the pool. */
const NAME = 'libuv-worker';

/** Does nothing where threads have no priority of their own or may not be told theirs. */
export async function yieldToEventLoop(): Promise<void> {
  if (!threadsHavePriorities) return;
  try {
    const priority = priorityFor('signing');
    for (const thread of await readdir('/proc/self/task')) {
      const name = await readFile(`/proc/self/task/${thread}/comm`, 'utf8');
      if (name.trim() === NAME) os.setPriority(Number(thread), priority);
    }
  } catch {
    // at the process's priority, then
  }
}
