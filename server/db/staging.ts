// Owns: a table of its own for the users of each import, from the first user until the import's outcome is discarded.
// PostgreSQL plans by a table's size. In a shared table, a large import would run with a small one's plan and never end.
// Does not own: the rows (features/people/users). The columns are those of the table import_user, which stays empty.
import { createHash } from 'node:crypto';
import { lacksTable } from './error-code.ts';
import { Fragment, type Sql } from './sql.ts';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The end of the table's name. It finds the tables of one realm without a look into those of others. */
const suffixOf = (realm: string): string => createHash('sha256').update(realm).digest('hex').slice(0, 16);

/** The name of the table that an import stages its rows in. @throws Error if the id is no UUID */
export function stagingTable(realm: string, importId: string): string {
  if (!UUID.test(importId)) throw new Error('an import is named by a UUID');
  return `import_user_${importId.replaceAll('-', '')}_${suffixOf(realm)}`;
}

/**
 * The table's name, for a statement. No such statement runs again, so none stays prepared. Each must name the realm too, since
 * two realms can have the same suffix.
 */
export const staging = (realm: string, importId: string): Fragment => Fragment.once(stagingTable(realm, importId));

/** Creates the import's table, unlogged. */
export async function createStaging(sql: Sql, realm: string, importId: string): Promise<void> {
  await sql`create unlogged table ${staging(realm, importId)} (like import_user including all)`;
}

/** Drops the import's table; no effect if there is none. */
export async function dropStaging(sql: Sql, realm: string, importId: string): Promise<void> {
  await sql`drop table if exists ${staging(realm, importId)}`;
}

/** Drops the tables that killed imports left before `at`, in all realms: a UUIDv7 begins with its time. */
export async function dropStagingBefore(sql: Sql, at: Date): Promise<void> {
  const first = `import_user_${at.getTime().toString(16).padStart(12, '0')}`;
  // Servers older than migration 0430 made tables without the realm in their name.
  const left = (await tablesLike(sql, '^import_user_[0-9a-f]{32}(_[0-9a-f]{16})?$')).filter((name) => name < first);
  if (left.length > 0) await sql`drop table if exists ${Fragment.once(left.join(', '))}`;
}

/**
 * Deletes a person's rows from the realm's import tables; tables of other realms stay as they are.
 * @param sql of a transaction, so that the erasure survives an import that ends and drops its table at the same moment
 */
export async function eraseStaged(
  sql: Sql,
  realm: string,
  { username, email }: { username: string; email: string | null },
): Promise<void> {
  for (const name of await tablesLike(sql, `^import_user_[0-9a-f]{32}_${suffixOf(realm)}$`)) {
    await sql`savepoint staged`;
    try {
      await sql`
        delete from ${Fragment.once(name)} x where x.realm_id = ${realm}
          and (lower(x.username) = lower(${username}) or lower(x.email) = lower(${email}::text))`;
    } catch (error) {
      if (!lacksTable(error)) throw error;
      await sql`rollback to savepoint staged`;
    }
    await sql`release savepoint staged`;
  }
}

async function tablesLike(sql: Sql, pattern: string): Promise<string[]> {
  const rows = await sql<{ relname: string }>`
    select relname from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'
      and relname ~ ${pattern} order by relname`;
  return rows.map(({ relname }) => relname);
}
