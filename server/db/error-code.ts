// What PostgreSQL or the way to it says by an error's code: a SQLSTATE (PostgreSQL, appendix A), or the operating system's.

/** Empty where it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** What it broke; empty where it broke none. */
export const constraintOf = (error: unknown): string =>
  error instanceof Error && 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : '';

/** A lock was not to be had in the time that it was waited for (lock_not_available). */
export const LOCKED = '55P03';

/** Foreign keys by which what is named is kept from being deleted, with who names it. */
const keeping = new Map([['application_role_role', 'an application']]);

/** Whether what was to be written is there already, by a key that only one may have (unique_violation). */
export const isTaken = (error: unknown): boolean => codeOf(error) === '23505';

/** Who names what was to be deleted. */
export const neededBy = (error: unknown): string | undefined =>
  codeOf(error) === '23503' ? keeping.get(constraintOf(error)) : undefined;

/** Whether what was to be written refers to something that was deleted at the same moment (foreign_key_violation). */
export const refersToNothing = (error: unknown): boolean => codeOf(error) === '23503';

/** Whether a table that a statement names isn't there: dropped meanwhile, or not made yet (undefined_table). */
export const lacksTable = (error: unknown): boolean => codeOf(error) === '42P01';

/** Makes transact run its work again, as PostgreSQL's serialization_failure does: what it rests on was changed meanwhile. */
export const changedMeanwhile = (what: string): Error => Object.assign(new Error(what), { code: '40001' });
