// `npm run reseal`: encrypts values of older keys again by the newest key of SVC_MASTER_KEY, or by the custodian's data key. Servers may
// run meanwhile; if it is stopped half-way, the next run continues. It reads the environment. Docs: backup.md.
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createInfrastructure } from '../compose/infrastructure.ts';
import { sealedColumns } from '../compose/sealed-columns.ts';
import { BadEnvironment, parseConfig } from '../config.ts';
import { directDatabase } from '../config-database.ts';
import { errorWords } from '../contract/error-words.ts';
import { helpOf } from '../contract/program-words.ts';
import { newId } from '../crypto/ids.ts';
import { type Custody, openKeyring } from '../custody/custody.ts';
import { LOOK_MS } from '../custody/data-keys.ts';
import { openPool, sqlOver } from '../db/sql.ts';
import { createReseal, type Reseal } from '../domain/reseal.ts';

const WAIT_MS = LOOK_MS + 5_000;

const USAGE = `Seals again under the newest master key what is still sealed under an older one.

Usage: npm run reseal [-- --check | --leave-custodian]

  --check            only say how much that is (1: there is some)
  --leave-custodian  let the keys of SVC_MASTER_KEY seal again, instead of the custodian's data keys

Environment: that of the server, with DATABASE_URL and the keyring: SVC_MASTER_KEY=new,old. Every server must have this
keyring already. Drop the old key where this has said that nothing is left under it. With SVC_KEY_CUSTODIAN beside the
keyring, the custodian's data key seals from the first run on.

Examples
  npm run reseal
  npm run reseal -- --check
  npm run reseal -- --leave-custodian`;

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

/** Changes which keys seal, and waits until every server has noticed. */
async function change(custody: Custody, leaves: boolean): Promise<void> {
  if (!(await (leaves ? custody.letPlainSeal() : custody.letSeal()))) return;
  console.log(
    `${leaves ? 'The keys of SVC_MASTER_KEY seal' : `The data key of ${custody.status().custodian} seals`} from now on; every server knows it in ${WAIT_MS / 1000} seconds.`,
  );
  await sleep(WAIT_MS);
}

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const [option] = args;
  if (args.length > 1 || (option !== undefined && !['--check', '--leave-custodian'].includes(option))) {
    const help = args.length === 1 && (args[0] === '--help' || args[0] === '-h');
    (help ? console.log : console.error)(helpOf(USAGE, process.argv[1]));
    return help ? 0 : 2;
  }
  try {
    const config = parseConfig(process.env);
    const databaseUrl = directDatabase(config);
    if (!databaseUrl)
      throw new Error(
        'DATABASE_URL and SVC_MASTER_KEY must be set, as the server has them. The embedded PostgreSQL is for evaluation: its key isn’t rotated.',
      );
    const pool = openPool(databaseUrl, { max: 2 });
    const log = pino({ level: 'warn' }, pino.destination(2));
    const now = () => new Date();
    const keys = await openKeyring(config, { sql: sqlOver(pool), log, now });
    const leaves = option === '--leave-custodian';
    if (leaves && !(keys.custody && (config.SVC_MASTER_KEY ?? config.SVC_MASTER_KEY_FILE)))
      throw new Error('--leave-custodian needs SVC_KEY_CUSTODIAN and the keyring that seals after it');
    const infrastructure = createInfrastructure({
      config,
      pool,
      databaseUrl,
      masterKey: keys.masterKey,
      log,
      strict: false,
      now,
      newId,
    });
    try {
      const reseal = createReseal({ ...infrastructure, columns: sealedColumns });
      if (option === '--check') return await check(reseal);
      if (keys.custody) await change(keys.custody, leaves);
      return await run(reseal);
    } finally {
      await infrastructure.queue.stop();
      await infrastructure.outbound.close();
      await keys.stop();
      await pool.end();
    }
  } catch (error) {
    console.error(error instanceof BadEnvironment ? error.message : `Cannot seal again: ${errorWords(error)}`);
    return 1;
  }
}

process.exitCode = await main();
