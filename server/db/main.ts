// Owns: `npm run migrate`: migrates DATABASE_URL and prints what it did. `--wait SECONDS` waits for a database that is starting.
// Does not own: the work itself (migrate.ts); a server migrates its database at start, too.
// Implements: "Migrations" for those who run them apart from the server.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { errorWords } from '../contract/error-words.ts';
import { helpOf } from '../contract/program-words.ts';
import { faultOf } from './hosts.ts';
import { migrate } from './migrate.ts';

const USAGE = `Brings the database of DATABASE_URL to this version, and says what it did. A server does so at its start, too.

Usage: npm run migrate [-- --wait SECONDS]

  --wait SECONDS  how long a database that is still starting is waited for (default 0)

Examples
  DATABASE_URL=postgres://user:password@host/database npm run migrate
  DATABASE_URL=postgres://user:password@host/database npm run migrate -- --wait 60`;
/** Errors of a database that is starting: no listener, an unknown name, no answer, or PostgreSQL's "starting up" (57P03). */
const notYet = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', '57P03']);
const PAUSE_MS = 1_000;

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (args.length === 1 && (args[0] === '--help' || args[0] === '-h')) {
    console.log(helpOf(USAGE, process.argv[1]));
    return 0;
  }
  const seconds = waitOf(args);
  if (seconds === undefined) return fault(helpOf(USAGE, process.argv[1]));
  // a migration needs a session of its own, which a pooler doesn't give
  const url = process.env.DATABASE_DIRECT_URL || process.env.DATABASE_URL;
  if (!url || faultOf(url) !== undefined) {
    const what = url ? 'is no address of a database' : 'is not set';
    return fault(`DATABASE_URL ${what}: give it the database to migrate, such as postgres://user:password@host/name`);
  }
  const until = Date.now() + seconds * 1_000;
  for (let tries = 1; ; tries += 1) {
    try {
      const { applied } = await migrate(url, { log: (message) => console.log(message) });
      console.log(applied.length > 0 ? `${applied.length} migrations applied.` : 'The database is up to date.');
      return 0;
    } catch (error) {
      const message = errorWords(error);
      if (!(error instanceof Error && notYet.has(codeOf(error.cause)) && Date.now() < until)) {
        console.error(message);
        return 1;
      }
      if (tries === 1) console.error(`${message} Trying again for ${seconds} s.`);
      await sleep(PAUSE_MS);
    }
  }
}

function fault(message: string): number {
  console.error(message);
  return 2;
}

function waitOf(args: string[]): number | undefined {
  try {
    const { wait = '0' } = parseArgs({ args, options: { wait: { type: 'string' } } }).values;
    return /^\d{1,5}$/.test(wait) ? Number(wait) : undefined;
  } catch {
    return undefined;
  }
}

const codeOf = (cause: unknown): string =>
  typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';

process.exitCode = await main();
