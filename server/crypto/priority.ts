// Which threads go first where they want the same core: the event loop, then those that sign tokens, then those that hash
// passwords, so that nobody's token waits for somebody's password. Only Linux' threads have a priority of their own.
import os from 'node:os';

const BELOW = { signing: 5, passwords: 10 } as const;

export const threadsHavePriorities = os.platform() === 'linux';

/** So much below the thread that asks, and the process may have been told to go after others itself. */
export const priorityFor = (work: keyof typeof BELOW): number =>
  Math.min(os.getPriority() + BELOW[work], os.constants.priority.PRIORITY_LOW);
