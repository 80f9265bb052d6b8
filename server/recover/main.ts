// `npm run recover-admin`: gives master an administrator again, where no user can administer it any more. The person
// who runs it has the database and the master key. The password goes to stdout alone. It reads the environment.
// Docs: administrators.md.
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { BadEnvironment, parseConfig } from '../config.ts';
import { errorWords } from '../contract/error-words.ts';
import { helpOf } from '../contract/program-words.ts';
import { Username } from '../contract/users.ts';
import { newId } from '../crypto/ids.ts';
import { codeOf } from '../db/error-code.ts';
import { openPool } from '../db/sql.ts';

const USAGE = `Gives the realm master an administrator again: makes the user, or resets the one of this name.

Usage: npm run recover-admin [-- --username NAME]

  --username NAME  the user (default SVC_BOOTSTRAP_ADMIN_USERNAME, else admin)

The user is enabled, gets the admin role realm-admin over every realm, and a temporary password, which is printed once and
is changed at the next sign-in. A user who is there loses every other credential, and is signed out everywhere.
The audit log of master has it. Servers may run meanwhile.

Environment: that of the server, with DATABASE_URL and SVC_MASTER_KEY.

Examples
  npm run recover-admin
  npm run recover-admin -- --username ada`;

const UNDEFINED_TABLE = '42P01';

function usernameIn(args: string[]): { help: boolean; username: string | undefined } | undefined {
  try {
    const options = { username: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
    const { help = false, username } = parseArgs({ args, options }).values;
    return username === undefined || Username.safeParse(username).success ? { help, username } : undefined;
  } catch {
    return undefined;
  }
}

async function recover(wanted: string | undefined): Promise<void> {
  const config = parseConfig({ ...process.env, SVC_DRAIN_SECONDS: '0' });
  const { DATABASE_URL: databaseUrl, SVC_MASTER_KEY: masterKey, SVC_BOOTSTRAP_ADMIN_USERNAME: usual } = config;
  if (!databaseUrl || !masterKey)
    throw new Error(
      'DATABASE_URL and SVC_MASTER_KEY must be set, as the server has them. The embedded PostgreSQL is for evaluation: remove its folder to begin anew.',
    );
  const { buildApp } = await import('../app.ts');
  const pool = openPool(databaseUrl, { max: 2 });
  const log = pino({ level: 'warn' }, pino.destination(2));
  const now = () => new Date();
  const app = await buildApp({ config, pool, databaseUrl, masterKey, log, strict: false, now, newId });
  try {
    const { username, password, isNew } = await app.recoverAdministrator(wanted ?? usual);
    console.log(`${isNew ? 'Made' : 'Reset'} the administrator of master: ${username} / ${password}`);
    console.log(`The password is temporary: sign in at ${config.baseUrl}/admin/login and choose another.`);
  } finally {
    await app.stop();
    await pool.end();
  }
}

async function main(): Promise<number> {
  const asked = usernameIn(process.argv.slice(2));
  if (!asked || asked.help) {
    (asked ? console.log : console.error)(helpOf(USAGE, process.argv[1]));
    return asked ? 0 : 2;
  }
  try {
    await recover(asked.username);
    return 0;
  } catch (error) {
    const old = codeOf(error) === UNDEFINED_TABLE ? ' Migrate the database first, or start the server once.' : '';
    console.error(
      error instanceof BadEnvironment ? error.message : `Cannot recover an administrator: ${errorWords(error)}${old}`,
    );
    return 1;
  }
}

process.exitCode = await main();
