// `npm run recover-admin`: gives master an administrator again, if no user can administer it any more. The person who
// runs it has the database and the master key. The password goes only to stdout. It reads the environment. Docs:
// administrators.md.
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { BadEnvironment, parseConfig } from '../config.ts';
import { directDatabase } from '../config-database.ts';
import { errorWords } from '../contract/error-words.ts';
import { helpOf } from '../contract/program-words.ts';
import { Username } from '../contract/users.ts';
import { newId } from '../crypto/ids.ts';
import { openKeyring } from '../custody/custody.ts';
import { codeOf } from '../db/error-code.ts';
import { openPool, sqlOver } from '../db/sql.ts';

const USAGE = `Gives the realm master an administrator again: makes the user, or resets the one of this name.

Usage: npm run recover-admin [-- [--username NAME] [--reset-flow]]

  --username NAME  the user (default SVC_BOOTSTRAP_ADMIN_USERNAME, else admin)
  --reset-flow     users of master sign in by the built-in flow again, as a fresh realm has it: by a password. For a flow
                   that asks first for what the user no longer has, such as a passkey

The user is enabled, gets the admin role realm-admin over every realm, and a temporary password, which is printed once and
is changed at the next sign-in. A user who is there loses every other credential, and is signed out everywhere.
The audit log of master has it. Servers may run meanwhile.

Environment: that of the server, with DATABASE_URL and SVC_MASTER_KEY, or the custodian of its keys.

Examples
  npm run recover-admin
  npm run recover-admin -- --username ada
  npm run recover-admin -- --reset-flow`;

const UNDEFINED_TABLE = '42P01';

interface Options {
  help: boolean;
  username: string | undefined;
  resetsFlow: boolean;
}
function askedIn(args: string[]): Options | undefined {
  try {
    const known = {
      username: { type: 'string' },
      'reset-flow': { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    } as const;
    const { help = false, username, 'reset-flow': resetsFlow = false } = parseArgs({ args, options: known }).values;
    const isName = username === undefined || Username.safeParse(username).success;
    return isName ? { help, username, resetsFlow } : undefined;
  } catch {
    return undefined;
  }
}

async function recover({ username: wanted, resetsFlow }: Options): Promise<void> {
  const config = parseConfig({ ...process.env, SVC_DRAIN_SECONDS: '0' });
  const databaseUrl = directDatabase(config);
  const { SVC_BOOTSTRAP_ADMIN_USERNAME: usual } = config;
  if (!databaseUrl)
    throw new Error(
      'DATABASE_URL and SVC_MASTER_KEY must be set, as the server has them. The embedded PostgreSQL is for evaluation: remove its folder to begin anew.',
    );
  const { buildApp } = await import('../app.ts');
  const pool = openPool(databaseUrl, { max: 2 });
  const log = pino({ level: 'warn' }, pino.destination(2));
  const now = () => new Date();
  const keys = await openKeyring(config, { sql: sqlOver(pool), log, now });
  const app = await buildApp({ config, pool, databaseUrl, ...keys, log, strict: false, now, newId });
  try {
    const { username, password, isNew } = await app.recoverAdministrator(wanted ?? usual, { resetsFlow });
    console.log(`${isNew ? 'Made' : 'Reset'} the administrator of master: ${username} / ${password}`);
    if (resetsFlow) console.log('Users of master sign in by the built-in flow again.');
    console.log(`The password is temporary: sign in at ${config.baseUrl}/admin/login and choose another.`);
  } finally {
    await app.stop();
    await keys.stop();
    await pool.end();
  }
}

async function main(): Promise<number> {
  const asked = askedIn(process.argv.slice(2));
  if (!asked || asked.help) {
    (asked ? console.log : console.error)(helpOf(USAGE, process.argv[1]));
    return asked ? 0 : 2;
  }
  try {
    await recover(asked);
    return 0;
  } catch (error) {
    const old = codeOf(error) === UNDEFINED_TABLE ? '. Migrate the database first, or start the server once.' : '';
    console.error(
      error instanceof BadEnvironment ? error.message : `Cannot recover an administrator: ${errorWords(error)}${old}`,
    );
    return 1;
  }
}

process.exitCode = await main();
