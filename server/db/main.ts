// Owns: `npm run migrate`: migrates DATABASE_URL and says what it did.
// Does not own: the work itself (migrate.ts); a server migrates its database at start, too.
// Implements: "Migrations" for those who run them apart from the server.
import { migrate } from './migrate.ts';

const url = process.env.DATABASE_URL;
if (url && /^postgres(ql)?:\/\//.test(url)) {
  try {
    const { applied } = await migrate(url, { log: (message) => console.log(message) });
    console.log(applied.length > 0 ? `${applied.length} migrations applied.` : 'The database is up to date.');
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
} else {
  const fault = url ? 'is no address of a database' : 'is not set';
  console.error(`DATABASE_URL ${fault}: give it the database to migrate, such as postgres://user:password@host/name`);
  process.exitCode = 2;
}
