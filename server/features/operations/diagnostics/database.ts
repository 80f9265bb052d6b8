// Checks of the database: its version, schema, extensions, connections, upkeep and replicas. Only what any role may read
// is needed; PostgreSQL shows more to a member of pg_monitor.
import { readMigrations } from '../../../db/migration-files.ts';
import type { Sql } from '../../../db/sql.ts';
import { count, type Examination, failure, ok, orWell, skipped, spanWords, warning } from './check.ts';

const OLDEST = 150_000;
const LONG_TRANSACTION_SECONDS = 300;
const LAG_SECONDS = 30;
const SLOT_BYTES = 10 * 1024 ** 3;
const SLOW_MS = 250;
/** Vacuum begins at a fifth of a table's rows by default; with half of them dead, it doesn't follow. */
const DEAD_SHARE = 0.5;
const MANY_DEAD = 100_000;
/** PostgreSQL refuses writes at 2^31; autovacuum forces a freeze at 2 * 10^8. */
const OLD_ROWS = 500_000_000;
const OLDEST_ROWS = 1_500_000_000;
const FULL = 0.8;

const MONITOR = 'Grant the server’s role pg_monitor to see more: grant pg_monitor to ROLE.';

const version = async (sql: Sql) => {
  const [row] = await sql<{ version: number; words: string; recovering: boolean }>`
    select current_setting('server_version_num')::int as version, current_setting('server_version') as words,
      pg_is_in_recovery() as recovering`;
  if (!row) return skipped('The database told no version');
  if (row.recovering)
    return failure(
      'The database is a standby: it takes no writes',
      'Let DATABASE_URL lead to the primary, with target_session_attrs=read-write where it names several hosts.',
    );
  return row.version < OLDEST
    ? failure(`PostgreSQL ${row.words} is older than 15`, 'Upgrade PostgreSQL to 15 or later.')
    : ok(`PostgreSQL ${row.words}`);
};

const schema = async (sql: Sql) => {
  const known = await readMigrations();
  const rows = await sql<{ number: number; name: string }>`select number, name from schema_migration order by number`;
  const applied = new Set(rows.map(({ number }) => number));
  const missing = known.filter(({ number }) => !applied.has(number));
  const newest = known.at(-1)?.number ?? 0;
  const later = rows.filter(({ number }) => number > newest);
  return orWell(
    [
      missing.length > 0 &&
        failure(
          `${count(missing.length, 'migration')} of this version are not applied`,
          'Start a server of this version, or run its migrations: npm run migrate.',
          missing.map(({ name }) => name),
        ),
      later.length > 0 &&
        warning(
          `The schema is of a later version: ${count(later.length, 'migration')} more than this server knows`,
          'Fine during an upgrade. Afterwards, upgrade this server as well.',
          later.map(({ name }) => name),
        ),
    ],
    ok(`All ${known.length} migrations are applied`),
  );
};

const extensions = async (sql: Sql) => {
  const [row] = await sql<{ trigrams: boolean; offered: boolean }>`
    select exists (select from pg_extension where extname = 'pg_trgm') as trigrams,
      exists (select from pg_available_extensions where name = 'pg_trgm') as offered`;
  if (row?.trigrams) return ok('pg_trgm is installed: names are found by any part of them');
  return warning(
    'pg_trgm is not installed: names are found by their beginning only',
    row?.offered
      ? 'Let a superuser run in this database: create extension pg_trgm. Then see “Search” in docs/install.md.'
      : 'Install the contrib package of PostgreSQL, which has pg_trgm.',
  );
};

const encryption = async (sql: Sql) => {
  const [row] = await sql<{ encrypted: boolean | null; here: boolean }>`
    select (select ssl from pg_stat_ssl where pid = pg_backend_pid()) as encrypted,
      inet_server_addr() is null or inet_client_addr() <<= '127.0.0.0/8' or inet_client_addr() = '::1' as here`;
  if (row?.encrypted) return ok('Connections to the database are encrypted');
  return row?.here
    ? ok('The database is on this machine')
    : warning(
        'Connections to the database are not encrypted',
        'Set up TLS in PostgreSQL, and add sslmode=verify-full to DATABASE_URL.',
      );
};

const connections = async (sql: Sql) => {
  const [row] = await sql<{ used: number; most: number; own: number }>`
    select count(*) filter (where backend_type = 'client backend')::int as used,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
      count(*) filter (where datname = current_database() and usename = current_user)::int as own
    from pg_stat_activity`;
  if (!row) return skipped('The database told nothing of its connections');
  const words = `${row.used} of ${row.most} connections are open, ${row.own} of them by the server’s role`;
  return row.used / row.most < FULL
    ? ok(words)
    : warning(
        words,
        'Raise max_connections, lower SVC_DATABASE_POOL, or put a pooler in front: each replica opens up to SVC_DATABASE_POOL and some five more.',
      );
};

const transactions = async (sql: Sql) => {
  const rows = await sql<{ pid: number; application: string; state: string; seconds: number }>`
    select pid, application_name as application, coalesce(state, 'unknown') as state,
      extract(epoch from now() - xact_start)::int as seconds
    from pg_stat_activity
    where datname = current_database() and xact_start < now() - ${LONG_TRANSACTION_SECONDS} * interval '1 second'
    order by xact_start limit 20`;
  return rows.length === 0
    ? ok('No transaction is older than five minutes')
    : warning(
        `${count(rows.length, 'transaction is', 'transactions are')} older than five minutes: dead rows can’t be removed meanwhile`,
        'Look whether each still works (pg_stat_activity). An import or a migration may; an idle one does not: select pg_terminate_backend(PID).',
        rows.map(
          ({ pid, application, state, seconds }) =>
            `${pid} (${application || 'no name'}), ${state}, ${spanWords(seconds)}`,
        ),
      );
};

const vacuum = async (sql: Sql) => {
  const [[age], tables] = await Promise.all([
    sql<{ age: number; automatic: boolean }>`
      select age(datfrozenxid)::int as age, current_setting('autovacuum')::boolean as automatic
      from pg_database where datname = current_database()`,
    sql<{ name: string; dead: number; share: number }>`
      select relname as name, n_dead_tup as dead, n_dead_tup::float / greatest(n_live_tup + n_dead_tup, 1) as share
      from pg_stat_user_tables
      where n_dead_tup > ${MANY_DEAD} and n_dead_tup > ${DEAD_SHARE}::float * (n_live_tup + n_dead_tup)
      order by n_dead_tup desc limit 20`,
  ]);
  const old = age?.age ?? 0;
  return orWell(
    [
      age?.automatic === false && failure('Autovacuum is off: tables only grow', 'Set autovacuum = on.'),
      old > OLD_ROWS &&
        (old > OLDEST_ROWS ? failure : warning)(
          `The oldest rows are ${count(old, 'transaction')} old; PostgreSQL stops at 2,147,000,000`,
          'Find what keeps vacuum from freezing them (old transactions, replication slots), then run: vacuum (freeze, analyze).',
        ),
      tables.length > 0 &&
        warning(
          `In ${count(tables.length, 'table')} more than half of the rows are dead`,
          'Let autovacuum run oftener for these (autovacuum_vacuum_scale_factor), or run vacuum once.',
          tables.map(({ name, dead, share }) => `${name}: ${count(dead, 'dead row')}, ${Math.round(share * 100)} %`),
        ),
    ],
    ok('Vacuum keeps up'),
  );
};

interface Standby {
  name: string;
  state: string | null;
  sync: string | null;
  seconds: number | null;
}
const replication = async (sql: Sql) => {
  const [[wanted], standbys, slots] = await Promise.all([
    sql<{ names: string; visible: boolean }>`
      select current_setting('synchronous_standby_names') as names, pg_has_role('pg_monitor', 'usage') as visible`,
    sql<Standby>`
      select application_name as name, state, sync_state as sync, extract(epoch from replay_lag)::float as seconds
      from pg_stat_replication order by application_name limit 20`,
    sql<{ name: string; bytes: number }>`
      select slot_name as name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::int8 as bytes
      from pg_replication_slots
      where not active and pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) > ${SLOT_BYTES} order by slot_name limit 20`,
  ]);
  const visible = wanted?.visible === true;
  const synchronous = (wanted?.names ?? '') !== '';
  const late = standbys.filter(({ seconds }) => (seconds ?? 0) > LAG_SECONDS);
  const found = [
    synchronous &&
      visible &&
      !standbys.some(({ sync, state }) => state === 'streaming' && (sync === 'sync' || sync === 'quorum')) &&
      failure(
        'No synchronous standby is connected: commits wait',
        `synchronous_standby_names is ${wanted?.names}. Start the standby, or take it out of that setting.`,
      ),
    late.length > 0 &&
      warning(
        `${count(late.length, 'standby is', 'standbys are')} late by more than ${LAG_SECONDS} seconds`,
        'Look at the load, the disk and the network of the standby: a failover to it takes longer, and without synchronous replication loses writes.',
        late.map(({ name, seconds }) => `${name}: ${spanWords(seconds ?? 0)}`),
      ),
    slots.length > 0 &&
      warning(
        `${count(slots.length, 'replication slot')} without a reader keeps old WAL: the disk fills`,
        'Start its reader, or remove it: select pg_drop_replication_slot(NAME).',
        slots.map(({ name, bytes }) => `${name}: ${Math.round(bytes / 1024 ** 3)} GiB`),
      ),
  ];
  if (standbys.length > 0 && !visible)
    return orWell(
      found,
      skipped(
        `${count(standbys.length, 'standby', 'standbys')} are connected; their lag is not shown to this role`,
        MONITOR,
      ),
    );
  const words = standbys.map(({ name, sync }) => `${name} (${sync ?? 'unknown'})`);
  return orWell(
    found,
    standbys.length === 0
      ? ok('The database has no standby')
      : ok(`${count(standbys.length, 'standby follows', 'standbys follow')}`, null, words),
  );
};

const slow = async (sql: Sql) => {
  const [installed] = await sql<{ there: boolean }>`select to_regclass('pg_stat_statements') is not null as there`;
  if (!installed?.there)
    return skipped(
      'pg_stat_statements is not installed in this database: slow statements are not known',
      'Add it to shared_preload_libraries, then: create extension pg_stat_statements.',
    );
  // constants are taken out by PostgreSQL, but not those of commands such as ALTER ROLE
  const rows = await sql<{ query: string; calls: number; mean: number }>`
    select regexp_replace(left(query, 200), '\\s+', ' ', 'g') as query, calls, mean_exec_time as mean
    from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
      and userid = (select oid from pg_roles where rolname = current_user)
      and mean_exec_time > ${SLOW_MS} and calls >= 5 and query ~* '^\\s*(select|insert|update|delete|with)\\M'
    order by total_exec_time desc limit 5`;
  return rows.length === 0
    ? ok(`No statement takes ${SLOW_MS} ms on average`)
    : warning(
        `${count(rows.length, 'statement takes', 'statements take')} more than ${SLOW_MS} ms on average`,
        'Report these if the tables are analysed (analyze) and the machine is not busy.',
        rows.map(({ query, calls, mean }) => `${Math.round(mean)} ms × ${calls}: ${query}`),
      );
};

const CLOCK_MS = 1_000;
const CLOCK_FAR_MS = 30_000;
const clock = async (sql: Sql, now: () => Date) => {
  const before = now().getTime();
  const [row] = await sql<{ at: Date }>`select clock_timestamp() as at`;
  const after = now().getTime();
  const at = row?.at.getTime() ?? before;
  const apart = Math.max(0, before - at, at - after);
  if (apart < CLOCK_MS) return ok('The server and the database agree about the time');
  return (apart < CLOCK_FAR_MS ? warning : failure)(
    `The clocks of the server and the database are ${(apart / 1000).toFixed(1)} seconds apart`,
    'Synchronize both by NTP: tokens, codes and locks end by the server’s clock.',
  );
};

export const databaseChecks = ({ sql, now }: { sql: Sql; now: () => Date }): Examination[] => [
  { subject: 'database-version', run: () => version(sql) },
  { subject: 'database-schema', run: () => schema(sql) },
  { subject: 'database-extensions', run: () => extensions(sql) },
  { subject: 'database-encryption', run: () => encryption(sql) },
  { subject: 'database-connections', run: () => connections(sql) },
  { subject: 'database-transactions', run: () => transactions(sql) },
  { subject: 'database-vacuum', run: () => vacuum(sql) },
  { subject: 'database-replication', run: () => replication(sql) },
  { subject: 'slow-statements', run: () => slow(sql) },
  { subject: 'clock', run: () => clock(sql, now) },
];
