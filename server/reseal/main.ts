// `npm run reseal`: encrypts values of older keys again by the newest key of SVC_MASTER_KEY. Servers may run meanwhile;
// if it is stopped half-way, the next run continues. It reads the environment. Docs: backup.md.
import { pino } from 'pino';
import { createInfrastructure } from '../compose/infrastructure.ts';
import { sealedColumns } from '../compose/sealed-columns.ts';
import { BadEnvironment, directDatabase, parseConfig } from '../config.ts';
import { errorWords } from '../contract/error-words.ts';
import { helpOf } from '../contract/program-words.ts';
import { newId } from '../crypto/ids.ts';
import { openPool } from '../db/sql.ts';
import { createReseal, type Reseal } from '../domain/reseal.ts';

const USAGE = `Seals again under the newest master key what is still sealed under an older one.

Usage: npm run reseal [-- --check]

  --check  only say how much that is (1: there is some)

Environment: that of the server, with DATABASE_URL and the keyring: SVC_MASTER_KEY=new,old. Every server must have this
keyring already. Drop the old key where this has said that nothing is left under it.

Examples
  npm run reseal
  npm run reseal -- --check`;

async function check(reseal: Reseal): Promise<number> {
  const left = (await reseal.left()).filter(({ secrets }) => secrets > 0);
  for (const { column, secrets } of left) console.log(`${column}: ${secrets === 1000 ? '1000 or more' : secrets}`);
  console.log(left.length > 0 ? 'These are under an older key.' : 'Nothing is left under an older key.');
  return left.length > 0 ? 1 : 0;
}

async function run(reseal: Reseal): Promise<number> {
  let unreadable = 0;
  for await (const done of reseal.run()) {
    if (done.resealed > 0) console.log(`${done.column}: ${done.resealed} sealed again`);
    if (done.unreadable > 0) console.error(`${done.column}: ${done.unreadable} are under a key that isn't here`);
    unreadable += done.unreadable;
  }
  return unreadable > 0 ? 1 : check(reseal);
}

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (args.some((arg) => arg !== '--check')) {
    const help = args.length === 1 && (args[0] === '--help' || args[0] === '-h');
    (help ? console.log : console.error)(helpOf(USAGE, process.argv[1]));
    return help ? 0 : 2;
  }
  try {
    const config = parseConfig(process.env);
    const databaseUrl = directDatabase(config);
    const { SVC_MASTER_KEY: masterKey } = config;
    if (!databaseUrl || !masterKey)
      throw new Error(
        'DATABASE_URL and SVC_MASTER_KEY must be set, as the server has them. The embedded PostgreSQL is for evaluation: its key isn’t rotated.',
      );
    const pool = openPool(databaseUrl, { max: 2 });
    const log = pino({ level: 'warn' }, pino.destination(2));
    const now = () => new Date();
    const infrastructure = createInfrastructure({
      config,
      pool,
      databaseUrl,
      masterKey,
      log,
      strict: false,
      now,
      newId,
    });
    try {
      const reseal = createReseal({ ...infrastructure, columns: sealedColumns });
      return await (args.length > 0 ? check(reseal) : run(reseal));
    } finally {
      await infrastructure.queue.stop();
      await infrastructure.outbound.close();
      await pool.end();
    }
  } catch (error) {
    console.error(error instanceof BadEnvironment ? error.message : `Cannot seal again: ${errorWords(error)}`);
    return 1;
  }
}

process.exitCode = await main();
