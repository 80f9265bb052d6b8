// Owns: migrating a database's schema, one numbered file and one transaction at a time.
// Does not own: the files' content, nor connections for anything else (sql.ts).
// Implements: "Migrations": forward only, checked at every start, safe with several replicas.
import pg from 'pg';
import { connectionTo } from './hosts.ts';
import { defaultFolder, type Migration, readMigrations } from './migration-files.ts';

/** Options of {@link migrate}. */
export interface MigrateOptions {
  /** Receives a line for each applied file; for a new database, one line for all. */
  log?: (message: string) => void;
  /** Where the `NNNN_words.sql` files lie; those of the server by default. */
  folder?: string;
}

interface Applied {
  number: number;
  name: string;
  checksum: string;
  breaking: boolean;
}

// any constant will do; it only has to be the same in all replicas
const lockKey = 7_164_202_501;

/**
 * Applies what is missing and returns the names of the applied files.
 * Throws when an applied file was edited, or when a newer version has made a breaking change to the database.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<{ applied: string[] }> {
  const { log = () => {}, folder = defaultFolder } = options;
  const files = await readMigrations(folder);
  const client = new pg.Client({ ...connectionTo(url), application_name: 'realmkeeper migrate' });
  // without a listener a lost connection would end the process; the running query reports it too
  client.on('error', () => {});
  await client.connect().catch((cause: Error) => {
    throw new Error(`Can't connect to the database (${describe(cause)}): check DATABASE_URL.`, { cause });
  });
  try {
    await requireVersion(client);
    const applied: string[] = [];
    let isFresh = false;
    for (;;) {
      const done = await step(client, files);
      if (!done) break;
      if (applied.length === 0) isFresh = done.isFirst;
      applied.push(done.name);
      if (!isFresh) log(`applied ${done.name}`);
    }
    if (isFresh) log(`created the schema, ${applied.length} migrations`);
    return { applied };
  } finally {
    await client.end().catch(() => {});
  }
}

/** Applies the next file, if any. Every step decides anew, as another replica may have gone ahead in between. */
async function step(client: pg.Client, files: Migration[]): Promise<{ name: string; isFirst: boolean } | undefined> {
  try {
    await client.query('begin');
    // the transaction's lock, since a pooler between us and PostgreSQL may not keep a session's
    await client.query('set local statement_timeout = 0; set local lock_timeout = 0');
    await client.query('select pg_advisory_xact_lock($1)', [lockKey]);
    const before = await readApplied(client);
    const next = nextOf(files, before);
    if (next) await apply(client, next);
    await client.query('commit');
    return next && { name: next.name, isFirst: before.length === 0 };
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Pure: the first file that is not applied yet; throws when files and database don't belong together. */
export function nextOf(files: Migration[], applied: Applied[]): Migration | undefined {
  const newest = files.at(-1)?.number ?? 0;
  for (const row of applied) {
    const file = files.find(({ number }) => number === row.number);
    if (file && file.checksum !== row.checksum) {
      const advice = 'restore the file as it was and put the change into a new one';
      throw new Error(`Migration ${file.name} was edited after it was applied (as ${row.name}): ${advice}.`);
    }
    if (!file && row.number < newest) throw new Error(`Migration ${row.name} was applied, but its file is missing.`);
    if (!file && row.breaking) {
      const advice = 'run that version, or restore a backup from before';
      throw new Error(
        `The database was changed by a newer version (${row.name}) for which this is too old: ${advice}.`,
      );
    }
  }
  const latest = applied.at(-1);
  const next = files.find(({ number }) => !applied.some((row) => row.number === number));
  if (next && latest && next.number < latest.number) {
    throw new Error(`Migration ${next.name} comes before ${latest.name}, which is applied: give it a higher number.`);
  }
  return next;
}

async function apply(client: pg.Client, { number, name, checksum, breaking, sql }: Migration): Promise<void> {
  try {
    const row = 'insert into schema_migration (number, name, checksum, breaking) values ($1, $2, $3, $4)';
    await client.query(row, [number, name, checksum, breaking]);
    await client.query(sql);
  } catch (cause) {
    throw new Error(`Migration ${name} failed and was rolled back: ${describe(cause)}${line(cause, sql)}`, { cause });
  }
}

async function readApplied(client: pg.Client): Promise<Applied[]> {
  // asked first: `create table if not exists` needs the right to create even when there is nothing to do
  const known = await client.query("select 1 where to_regclass('schema_migration') is not null");
  if (known.rowCount === 0) {
    await client.query(`create table schema_migration (
      number int primary key, name text not null, checksum text not null, breaking boolean not null default false,
      applied_at timestamptz not null default now())`);
  }
  const { rows } = await client.query<Applied>(
    'select number, name, checksum, breaking from schema_migration order by number',
  );
  return rows;
}

async function requireVersion(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_version_num: string; server_version: string }>(
    "select current_setting('server_version_num') server_version_num, current_setting('server_version') server_version",
  );
  const [version] = rows;
  if (Number(version?.server_version_num) >= 150_000) return;
  throw new Error(`The database is PostgreSQL ${version?.server_version}: version 15 or newer is needed.`);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node joins the failures of several addresses in an error with an empty message
  return error.message || ('code' in error ? String(error.code) : error.name);
}

function line(error: unknown, sql: string): string {
  if (!(error instanceof pg.DatabaseError) || error.position === undefined) return '';
  return ` (line ${sql.slice(0, Number(error.position) - 1).split('\n').length})`;
}
