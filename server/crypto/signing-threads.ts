// Gives the event loop a higher priority than the threads that sign. At equal priority the threads finish all signatures while
// the loop waits for the core, and then a core idles while the loop catches up. This file owns no thread: signing runs in libuv's
// pool (jwt.ts), hashing in threads of its own (password-worker.ts).
import { readdir, readFile } from 'node:fs/promises';
import os from 'node:os';
import { priorityFor, threadsHavePriorities } from './priority.ts';

/** The name of libuv's pool threads in /proc/self/task/<id>/comm. All of them start with the pool's first task. */
const NAME = 'libuv-worker';

/** Does nothing if the system has no thread priorities, or if the process may not set them. */
export async function yieldToEventLoop(): Promise<void> {
  if (!threadsHavePriorities) return;
  try {
    const priority = priorityFor('signing');
    for (const thread of await readdir('/proc/self/task')) {
      const name = await readFile(`/proc/self/task/${thread}/comm`, 'utf8');
      if (name.trim() === NAME) os.setPriority(Number(thread), priority);
    }
  } catch {
    // the threads keep the process's priority
  }
}
