// Owns: a table of its own for the users of each import, from its first user until nobody wants to know what became of them.
// PostgreSQL plans by what a table holds, and where imports shared one, a small one's plan made a large one never end.
// Does not own: what is in it (features/people/users); its columns are those of the table import_user, which stays empty.
import { createHash } from 'node:crypto';
import { lacksTable } from './error-code.ts';
import { Fragment, type Sql } from './sql.ts';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The end of the table's name, by which the tables of one realm are found without a look into any other. */
const suffixOf = (realm: string): string => createHash('sha256').update(realm).digest('hex').slice(0, 16);

export function stagingTable(realm: string, importId: string): string {
  if (!UUID.test(importId)) throw new Error('an import is named by a UUID');
  return `import_user_${importId.replaceAll('-', '')}_${suffixOf(realm)}`;
}

/**
 * The table's name. Its statements are never asked for again, so none of them stays prepared. Each of them names the realm
 * too: two realms can have one suffix.
 */
export const staging = (realm: string, importId: string): Fragment => Fragment.once(stagingTable(realm, importId));

export async function createStaging(sql: Sql, realm: string, importId: string): Promise<void> {
  await sql`create unlogged table ${staging(realm, importId)} (like import_user including all)`;
}

export async function dropStaging(sql: Sql, realm: string, importId: string): Promise<void> {
  await sql`drop table if exists ${staging(realm, importId)}`;
}

/** Drops what imports that died have left behind, in all realms: a UUIDv7 begins with its time. */
export async function dropStagingBefore(sql: Sql, at: Date): Promise<void> {
  const first = `import_user_${at.getTime().toString(16).padStart(12, '0')}`;
  // Servers of before the migration 0430 made tables without the realm.
  const left = (await tablesLike(sql, '^import_user_[0-9a-f]{32}(_[0-9a-f]{16})?$')).filter((name) => name < first);
  if (left.length > 0) await sql`drop table if exists ${Fragment.once(left.join(', '))}`;
}

/**
 * Deletes what the realm's imports have staged of a person. Another realm's tables are not touched.
 * @param sql of a transaction: an import that ends meanwhile drops its table, and that must not end the erasure
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
