// What PostgreSQL or the way to it says by an error's code: a SQLSTATE (PostgreSQL, appendix A), or the operating system's.

/** Empty where it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A lock was not to be had in the time that it was waited for (lock_not_available). */
export const LOCKED = '55P03';

/** Whether what was to be written refers to something that was deleted at the same moment (foreign_key_violation). */
export const refersToNothing = (error: unknown): boolean => codeOf(error) === '23503';
