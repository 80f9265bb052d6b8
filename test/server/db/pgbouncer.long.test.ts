// Owns: servers behind Debian's PgBouncer in transaction mode: all that they do works, limits hold, and a wrong set-up is named at start.
// Does not own: a pooler that only drops notifications (pooler.test.ts).
// Implements: docs/high-availability.md "A connection pooler".
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { openPool, sqlOver } from '../../../server/db/sql.ts';
import { createTransact } from '../../../server/db/transact.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { startServer } from '../../../server/start.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { type Load, REALM, startLoad } from '../../support/load.ts';
import { until } from '../../support/patroni.ts';
import { type PgBouncer, startPgBouncer } from '../../support/pgbouncer.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { MASTER_KEY } from '../../support/server.ts';
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts';

let database: TestDatabase;
let pooler: PgBouncer;
beforeAll(async () => {
  database = await createDatabase();
  pooler = await startPgBouncer(database.url, { mode: 'transaction' });
});
afterAll(async () => {
  await pooler?.stop();
  await database?.drop();
});

describe('two servers that share four sessions of PostgreSQL', () => {
  const servers: ServerProcess[] = [];
  let receiver: Receiver;
  let load: Load;
  beforeAll(async () => {
    receiver = await startReceiver();
    for (let n = 0; n < 2; n += 1)
      servers.push(
        await startServerProcess({
          DATABASE_URL: pooler.url,
          DATABASE_DIRECT_URL: database.url,
          SVC_OUTBOUND_ALLOW: '127.0.0.1',
          SVC_OUTBOUND_CA_FILE: receiver.caFile,
        }),
      );
    load = await startLoad(servers, receiver);
  });
  afterAll(async () => {
    await load?.stop();
    await Promise.all(servers.map((server) => server.stop()));
    await receiver?.stop();
  });

  test('tokens, sign-ins, writes, imports and deliveries work, with the request path through the pooler alone', async () => {
    await load.goodSince(Date.now());
    await sleep(5_000);
    const bad = load.attempts.filter((one) => !load.isGood(one));
    expect(bad.map(({ kind, status, text }) => ({ kind, status, text: text.slice(0, 300) }))).toEqual([]);
    const direct = await connectedCluster(database.url, async (client) => {
      const { rows } = await client.query<{ name: string; count: number }>(
        `select application_name as name, count(*)::int as count from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() group by 1`,
      );
      return new Map(rows.map(({ name, count }) => [name, count]));
    });
    expect(direct.get('realmkeeper')).toBeLessThanOrEqual(4);
    expect(direct.get('realmkeeper-changes')).toBe(2);
    const written = [...load.acknowledged.written];
    const told = () => new Set(receiver.received.map(({ raw }) => Object(JSON.parse(raw.toString())).subject?.name));
    await until(async () => written.every((name) => told().has(name)));
  });

  test('a change at one is heard by the other', async () => {
    const [one, other] = servers;
    const title = async () =>
      (await (await fetch(`${other?.inside}/realms/${REALM}/login?for=account`)).text()).includes('Renamed');
    expect(await title()).toBe(false);
    await one?.admin.call(putSettings, { params: { realm: REALM }, body: { displayName: 'Renamed' } });
    await until(title);
  });

  test('an export has all that was imported', async () => {
    await load.stop();
    const { imported } = load.acknowledged;
    const { exportRealm } = await import('../../../server/contract/transfer.ts');
    const { body } = await servers[0]!.admin.call(exportRealm, { params: { realm: REALM } });
    const names = new Set((Object(body).users ?? []).map(({ username }: { username: string }) => username));
    expect(imported.size).toBeGreaterThan(0);
    expect([...imported].filter((name) => !names.has(name))).toEqual([]);
  });
});

test('a statement’s time and its wait for a lock are limited, alone and in a transaction, and other clients’ are not', async () => {
  const pool = openPool(pooler.url, { max: 2, longestMs: 500, pooler: { prepared: false } });
  const sql = sqlOver(pool);
  const outbox = createOutbox({ now: () => new Date(), newId, consumers: [], enqueue: async () => {} });
  const transact = createTransact({ pool, outbox, committed: () => {}, strict: true });
  const limits = `select current_setting('statement_timeout') || ' ' || current_setting('lock_timeout') as limits`;
  try {
    await expect(sql`select pg_sleep(20)`).rejects.toMatchObject({ code: '57014' });
    await expect(transact('acme', (tx) => tx.sql`select pg_sleep(20)`)).rejects.toMatchObject({ code: '57014' });
    expect(await transact('acme', (tx) => tx.sql`select 1 as one from pg_sleep(1)`, { longestMs: 5_000 })).toEqual([
      { one: 1 },
    ]);
    // any session that the server used
    const others = await Promise.all(
      Array.from({ length: 4 }, () => connectedCluster(pooler.url, (client) => client.query(limits))),
    );
    expect(new Set(others.map(({ rows }) => rows[0].limits))).toEqual(new Set(['0 0']));
  } finally {
    await pool.end();
  }
});

describe('at start', () => {
  const failureOf = (env: Record<string, string>): Promise<string> =>
    startServer(
      {
        SVC_PORT: '0',
        SVC_LOG_LEVEL: 'silent',
        SVC_MASTER_KEY: MASTER_KEY.toString('base64'),
        SVC_BOOTSTRAP_ADMIN_PASSWORD: 'correct-horse-battery-staple',
        ...env,
      },
      () => {},
    ).then(
      async (server) => {
        await server.stop();
        return 'it started';
      },
      (error: Error) => error.message,
    );

  test('statement mode is named', async () => {
    const wrong = await startPgBouncer(database.url, { mode: 'statement' });
    try {
      expect(await failureOf({ DATABASE_URL: wrong.url, DATABASE_DIRECT_URL: database.url })).toMatch(
        /^The connection pooler is in statement mode/,
      );
    } finally {
      await wrong.stop();
    }
  });

  test('a missing or a pooled direct address is named', async () => {
    const words = /notifications don’t arrive: a connection pooler.*Name the database itself in DATABASE_DIRECT_URL/;
    expect(await failureOf({ DATABASE_URL: pooler.url })).toMatch(words);
    expect(await failureOf({ DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: pooler.url })).toMatch(words);
  });

  test('prepared statements that the pooler does not keep are named, and used where it keeps them', async () => {
    const env = { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: database.url, SVC_DATABASE_PREPARED: 'true' };
    const [, version] = /PgBouncer 1\.(\d+)/.exec(await pooler.log()) ?? [];
    const said = await failureOf(env);
    if (Number(version) < 21) expect(said).toMatch(/does not keep prepared statements: set max_prepared_statements/);
    else expect(said).toBe('it started');
  });
});
