// Reads the codes of database errors: a SQLSTATE (PostgreSQL, appendix A), or the operating system's code of a lost connection.

/** The error's code; empty if it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** The constraint that the statement violated; empty if it violated none. */
export const constraintOf = (error: unknown): string =>
  error instanceof Error && 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : '';

/** The statement did not get a lock within its lock timeout (lock_not_available). */
export const LOCKED = '55P03';

/** Foreign keys that forbid deleting a row that is in use, with the user of the row in words. */
const keeping = new Map([['application_role_role', 'an application']]);

/** Whether another row has the same unique key (unique_violation). */
export const isTaken = (error: unknown): boolean => codeOf(error) === '23505';

/** The object, in words, that uses the row to be deleted (foreign_key_violation). */
export const neededBy = (error: unknown): string | undefined =>
  codeOf(error) === '23503' ? keeping.get(constraintOf(error)) : undefined;

/** Whether the written row refers to a row that was deleted at the same moment (foreign_key_violation). */
export const refersToNothing = (error: unknown): boolean => codeOf(error) === '23503';

/** Whether a table that a statement names isn't there: dropped meanwhile, or not made yet (undefined_table). */
export const lacksTable = (error: unknown): boolean => codeOf(error) === '42P01';

/** An error that makes transact run its work again, as serialization_failure does: another transaction changed what the work had read. */
export const changedMeanwhile = (what: string): Error => Object.assign(new Error(what), { code: '40001' });
