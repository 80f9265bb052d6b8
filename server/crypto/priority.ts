// Which threads go first where they want the same core: the event loop, then those that sign tokens, then those that hash
// passwords, so that no token waits for a password's hash. Only Linux has priorities for single threads.
import os from 'node:os';

const BELOW = { signing: 5, passwords: 10 } as const;

export const threadsHavePriorities = os.platform() === 'linux';

/** So much below the thread that asks, and the process may have been told to go after others itself. */
export const priorityFor = (work: keyof typeof BELOW): number =>
  Math.min(os.getPriority() + BELOW[work], os.constants.priority.PRIORITY_LOW);
