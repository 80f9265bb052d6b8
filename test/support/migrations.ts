// Owns: a database as a release before a migration left it, for what that migration does to what was stored.
// Does not own: the database (database.ts), migrating (server/db/migrate.ts).
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { migrate } from '../../server/db/migrate.ts';
import { createEmptyDatabase, type TestDatabase } from './database.ts';

const migrations = path.resolve(import.meta.dirname, '../../server/db/migrations');

export interface OlderDatabase extends TestDatabase {
  /** Runs the migration and all after it. */
  migrateOn(): Promise<void>;
}

/** @param words the migration's, without its number: `claims` */
export async function databaseBefore(words: string): Promise<OlderDatabase> {
  const database = await createEmptyDatabase();
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'migrations-'));
  const files = (await fs.readdir(migrations)).sort();
  const at = files.findIndex((name) => name.endsWith(`_${words}.sql`));
  const run = async (some: readonly string[]) => {
    for (const name of some) await fs.copyFile(path.join(migrations, name), path.join(folder, name));
    await migrate(database.url, { folder, log: () => {} });
  };
  await run(files.slice(0, at));
  return {
    url: database.url,
    migrateOn: () => run(files.slice(at)),
    async drop() {
      await database.drop();
      await fs.rm(folder, { recursive: true });
    },
  };
}
