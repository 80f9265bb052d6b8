// Owns: a table of its own for the users of each import, from its first user until nobody wants to know what became of them.
// PostgreSQL plans by what a table holds, and where imports shared one, a small one's plan made a large one never end.
// Does not own: what is in it (features/users); its columns are those of the table import_user, which stays empty.
import { Fragment, type Sql } from './sql.ts';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

export function stagingTable(importId: string): string {
  if (!UUID.test(importId)) throw new Error('an import is named by a UUID');
  return `import_user_${importId.replaceAll('-', '')}`;
}

/** The table's name. Its statements are never asked for again, so none of them stays prepared. */
export const staging = (importId: string): Fragment => Fragment.once(stagingTable(importId));

export async function createStaging(sql: Sql, importId: string): Promise<void> {
  await sql`create unlogged table ${staging(importId)} (like import_user including all)`;
}

export async function dropStaging(sql: Sql, importId: string): Promise<void> {
  await sql`drop table if exists ${staging(importId)}`;
}

/** What imports that died have left behind: a UUIDv7 begins with its time. */
export async function dropStagingBefore(sql: Sql, at: Date): Promise<void> {
  const first = `import_user_${at.getTime().toString(16).padStart(12, '0')}`;
  const left = (await tables(sql)).filter((name) => name < first);
  if (left.length > 0) await sql`drop table if exists ${Fragment.once(left.join(', '))}`;
}

/** Whatever is staged of a person, by whichever import. */
export async function eraseStaged(sql: Sql, person: { username: string; email: string | null }): Promise<void> {
  const of = 'using person p where lower(x.username) = p.username or lower(x.email) = p.email';
  const erased = (await tables(sql)).map((name, i) => `, erased_${i} as (delete from ${name} x ${of})`);
  if (erased.length === 0) return;
  await sql`
    with person (username, email) as (values (lower(${person.username}), lower(${person.email}::text)))
    ${Fragment.once(erased.join(''))} select`;
}

async function tables(sql: Sql): Promise<string[]> {
  const rows = await sql<{ relname: string }>`
    select relname from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'
      and relname ~ '^import_user_[0-9a-f]{32}$'`;
  return rows.map(({ relname }) => relname);
}
