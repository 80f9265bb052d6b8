// `npm run backup`: writes one realm to a file that only the holder of a private key can read, and restores a realm from such a file. It is
// a program with the database and its keys, and no operation of the admin API: what it moves is every hash and key of a realm. It reads
// the environment. Docs: backup.md.
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { Decrypter, Encrypter } from 'age-encryption';
import pg from 'pg';
import { pino } from 'pino';
import { createInfrastructure } from '../compose/infrastructure.ts';
import { sealedColumns } from '../compose/sealed-columns.ts';
import { BadEnvironment, parseConfig } from '../config.ts';
import { directDatabase } from '../config-database.ts';
import { errorWords } from '../contract/error-words.ts';
import { bySystem } from '../contract/events.ts';
import { RealmName } from '../contract/names.ts';
import { helpOf } from '../contract/program-words.ts';
import { MASTER } from '../contract/realms.ts';
import { newId } from '../crypto/ids.ts';
import { openKeyring } from '../custody/custody.ts';
import { connectionTo } from '../db/hosts.ts';
import { openPool, sqlOver } from '../db/sql.ts';
import { readRealm } from './read.ts';
import { createRestore } from './restore.ts';
import { createRowSecrets } from './secrets.ts';

const USAGE = `Writes one realm with its users, hashes, factors and keys to an encrypted file, or restores one from such a file.

Usage: npm run backup -- save REALM --recipient AGE-KEY... --output FILE [--without-sessions] [--without-history]
       npm run backup -- restore FILE --identity FILE [--as REALM]

  --recipient         an age public key (age1…), which alone can read the file; may be given several times
  --output            the file; - is the standard output
  --without-sessions  no sessions and refresh tokens: users sign in again
  --without-history   no audit log, statistics and applied plans
  --identity          a file with the private key (age-keygen -o FILE)
  --as                the name of the realm that is made; by default the name that it had

Environment: that of the server, with DATABASE_URL and SVC_MASTER_KEY, or the custodian of its keys. Restore into a database
of the same release.

Examples
  npm run backup -- save acme --recipient age1… --output acme.age
  npm run backup -- restore acme.age --identity key.txt --as acme-restored`;

type Infrastructure = ReturnType<typeof createInfrastructure>;
const EVERY = 10_000;

const progress = (count: number): void => {
  if (count % EVERY === 0) process.stderr.write(`${count} rows\n`);
};

async function* counted(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const line of lines) {
    yield Buffer.from(`${line}\n`);
    count += 1;
    progress(count);
  }
}

interface Save {
  realm: string;
  recipients: readonly string[];
  output: string;
  choice: { sessions: boolean; history: boolean };
}

async function save(
  { realm, recipients, output, choice }: Save,
  url: string,
  { seal, transact }: Infrastructure,
): Promise<void> {
  if (realm === MASTER) throw new Error(`${MASTER} belongs to its installation: back up the database instead`);
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  const client = new pg.Client({ ...connectionTo(url), application_name: 'realmkeeper-backup' });
  await client.connect();
  const partial = output === '-' ? undefined : `${output}.partial`;
  try {
    const secrets = createRowSecrets(seal, sealedColumns);
    const lines = counted(readRealm(client, realm, { choice, secrets, at: new Date() }));
    const plain = Readable.toWeb(Readable.from(lines, { objectMode: false })) as ReadableStream<Uint8Array>;
    const encrypted = Readable.fromWeb((await encrypter.encrypt(plain)) as import('node:stream/web').ReadableStream);
    await pipeline(encrypted, partial === undefined ? process.stdout : createWriteStream(partial, { mode: 0o600 }));
    if (partial !== undefined) await rename(partial, output);
  } catch (error) {
    if (partial !== undefined) await rm(partial, { force: true });
    throw error;
  } finally {
    await client.end();
  }
  await transact(realm, async (tx) => {
    tx.record({ type: 'REALM_BACKED_UP', realm, by: bySystem, data: { recipients: [...recipients], ...choice } });
  });
}

async function restore(
  { file, identity, as }: { file: string; identity: string; as: string | undefined },
  { seal, transact }: Infrastructure,
): Promise<void> {
  const decrypter = new Decrypter();
  for (const line of (await readFile(identity, 'utf8')).split('\n'))
    if (/^AGE-SECRET-KEY-/.test(line)) decrypter.addIdentity(line.trim());
  const source = createReadStream(file);
  await once(source, 'open');
  const plain = await decrypter.decrypt(Readable.toWeb(source) as ReadableStream<Uint8Array>);
  const input = Readable.fromWeb(plain as import('node:stream/web').ReadableStream);
  const lines = linesOf(input);
  const { realm, rows } = await createRestore({ transact, secrets: createRowSecrets(seal, sealedColumns) })(lines, {
    as,
  });
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  console.log(`Restored the realm ${realm}: ${total} rows, ${rows.realm_user ?? 0} of them users.`);
}

/** The lines of a stream; a failure of the stream is one of the lines. */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  let rest = '';
  let count = 0;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of input) {
    const pieces = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = pieces.pop() ?? '';
    for (const piece of pieces) {
      yield piece;
      count += 1;
      progress(count);
    }
  }
}

function askedIn(args: string[]) {
  const options = {
    recipient: { type: 'string', multiple: true },
    output: { type: 'string', short: 'o' },
    'without-sessions': { type: 'boolean' },
    'without-history': { type: 'boolean' },
    identity: { type: 'string', short: 'i' },
    as: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [command, place, ...more] = positionals;
    if (values.help) return { help: true as const };
    if (place === undefined || more.length > 0) return undefined;
    const { recipient: recipients = [], output, identity, as } = values;
    if (command === 'save' && output !== undefined && recipients.length > 0 && RealmName.safeParse(place).success) {
      const choice = { sessions: !values['without-sessions'], history: !values['without-history'] };
      return { save: { realm: place, recipients, output, choice } };
    }
    const named = as === undefined || RealmName.safeParse(as).success;
    return command === 'restore' && identity !== undefined && named
      ? { restore: { file: place, identity, as } }
      : undefined;
  } catch {
    return undefined;
  }
}

async function main(): Promise<number> {
  const asked = askedIn(process.argv.slice(2));
  if (!asked || asked.help) {
    (asked ? console.log : console.error)(helpOf(USAGE, process.argv[1]));
    return asked ? 0 : 2;
  }
  try {
    const config = parseConfig(process.env);
    const databaseUrl = directDatabase(config);
    if (!databaseUrl) throw new Error('DATABASE_URL and SVC_MASTER_KEY must be set, as the server has them.');
    const pool = openPool(databaseUrl, { max: 2 });
    const log = pino({ level: 'warn' }, pino.destination(2));
    const now = () => new Date();
    const keys = await openKeyring(config, { sql: sqlOver(pool), log, now });
    const infrastructure = createInfrastructure({ config, pool, databaseUrl, ...keys, log, strict: false, now, newId });
    try {
      if (asked.save) await save(asked.save, databaseUrl, infrastructure);
      else if (asked.restore) await restore(asked.restore, infrastructure);
      return 0;
    } finally {
      await infrastructure.queue.stop();
      await infrastructure.outbound.close();
      await keys.stop();
      await pool.end();
    }
  } catch (error) {
    console.error(error instanceof BadEnvironment ? error.message : `Nothing was done: ${errorWords(error)}`);
    return 1;
  }
}

process.exitCode = await main();
