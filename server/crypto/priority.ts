// The order of threads that compete for a core: the event loop, then the threads that sign tokens, then the threads that hash
// passwords. No token then waits for a password's hash. Only Linux has priorities for single threads.
import os from 'node:os';

const BELOW = { signing: 5, passwords: 10 } as const;

export const threadsHavePriorities = os.platform() === 'linux';

/** The `nice` value for this work: below the process's own, which an operator may have lowered already. */
export const priorityFor = (work: keyof typeof BELOW): number =>
  Math.min(os.getPriority() + BELOW[work], os.constants.priority.PRIORITY_LOW);
