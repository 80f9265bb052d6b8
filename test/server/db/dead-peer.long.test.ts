// A peer that is gone without a word: the way to PostgreSQL is frozen, and nobody at either end is told.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../../server/crypto/ids.ts';
import { copyInto, copyOut } from '../../../server/db/bulk.ts';
import { listenForChanges } from '../../../server/db/changes.ts';
import { openPool, sqlOver } from '../../../server/db/sql.ts';
import { createTransact } from '../../../server/db/transact.ts';
import { createEventBatch } from '../../../server/events/batch.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { problemOf } from '../../../server/http/problems.ts';
import { bareDatabase } from '../../support/bare-database.ts';
import { type Relay, startRelay } from '../../support/relay.ts';

const database = bareDatabase({ max: 4 });
let relay: Relay;
let url: string;
beforeAll(async () => {
  await database.sql`insert into realm (realm_id, settings, created_at) values ('acme', '{}', now())`;
});
beforeEach(async () => {
  const way = new URL(database.url);
  relay = await startRelay(Number(way.port));
  way.port = String(relay.port);
  url = way.href;
  return () => relay.stop();
});

test('what was asked of a silent peer fails as a database that is away, and the next is asked on a new connection', async () => {
  const pool = openPool(url, { max: 2, longestMs: 2_000 });
  const sql = sqlOver(pool);
  const pid = async () => (await sql<{ pid: number }>`select pg_backend_pid() as pid`)[0]?.pid;
  const before = await pid();
  relay.freeze();
  const failures = await Promise.all([1, 2].map(() => sql`select 1`.then(() => undefined, problemOf)));
  expect(failures.map((failure) => failure?.status)).toEqual([503, 503]);
  relay.thaw();
  expect(await pid()).not.toBe(before);
  await pool.end();
});

test('a statement that may take longer is waited for, and the next one on its connection is not', async () => {
  const pool = openPool(url, { max: 1, longestMs: 1_000 });
  const outbox = createOutbox({ now: () => new Date(), newId, consumers: [], enqueue: async () => {} });
  const transact = createTransact({ pool, outbox, committed: () => {}, strict: true });
  const slow = { longestMs: 20_000 };
  const answer = await transact('acme', ({ sql }) => sql<{ one: number }>`select 1 as one from pg_sleep(8)`, slow);
  expect(answer).toEqual([{ one: 1 }]);
  relay.freeze();
  await expect(sqlOver(pool)`select 1`).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  await pool.end();
});

test('audit events that were on their way are written when the database is back', async () => {
  const pool = openPool(url, { max: 2, longestMs: 2_000 });
  const outbox = createOutbox({ now: () => new Date(), newId, consumers: [], enqueue: async () => {} });
  const failures: number[] = [];
  const batch = createEventBatch({
    transact: createTransact({ pool, outbox, committed: () => {}, strict: true }),
    newId,
    failed: (_, lost) => void failures.push(lost),
  });
  const happen = (clientId: string) =>
    batch.record({ type: 'TOKEN_REFUSED', realm: 'acme', by: { actor: null, ipAddress: null }, clientId });
  const written = async () =>
    (await database.sql<{ id: string }>`select client_id as id from event order by client_id`).map(({ id }) => id);
  happen('1');
  while ((await written()).length < 1) await sleep(20);
  relay.freeze();
  happen('2');
  while (failures.length === 0) await sleep(20);
  happen('3');
  relay.thaw();
  while ((await written()).length < 3) await sleep(20);
  expect(await written()).toEqual(['1', '2', '3']);
  expect(failures.every((lost) => lost === 0)).toBe(true);
  await batch.stop();
  await pool.end();
});

test('a connection that listens for changes notices the silence, comes back, and says that it may have missed something', async () => {
  const heard: (string | undefined)[] = [];
  const changed = (realm: string | undefined) => void (heard.at(-1) === realm || heard.push(realm));
  const changes = await listenForChanges({ url, changed, log: () => changed('waiting'), idleMs: 2_000 });
  const notify = (realm: string) => database.sql`select pg_notify('realm_changed', ${realm})`;
  const until = async (realm: string | undefined) => {
    while (!heard.includes(realm)) await sleep(20);
  };
  await notify('before');
  await until('before');
  // longer than two silences: its peer answers, so it stays
  await sleep(5_000);
  expect(heard).toEqual(['before']);
  relay.freeze();
  await notify('meanwhile');
  await until('waiting');
  relay.thaw();
  await until(undefined);
  await notify('after');
  await until('after');
  expect(heard).toEqual(['before', 'waiting', undefined, 'after']);
  await changes.stop();
});

const ROWS = `${'x'.repeat(1023)}\n`.repeat(1024);

test('a COPY into a peer that takes no more ends, and so does one that is never answered', async () => {
  await database.sql`create table bulk (line text)`;
  const full = await copyInto(url, 'bulk (line)', { longestMs: 2_000 });
  const unanswered = await copyInto(url, 'bulk (line)', { longestMs: 2_000 });
  await unanswered.write('one\n');
  relay.freeze();
  const fill = async () => {
    for (;;) await full.write(ROWS);
  };
  await expect(fill()).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  await expect(unanswered.finish()).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  relay.thaw();
  await full.abort();
  // What was on its way may have come, but for half a COPY.
  expect(await database.sql`select from bulk where line <> 'one'`).toEqual([]);
});

test('a COPY from a peer that sends no more ends', async () => {
  const rows = await copyOut(url, 'select repeat(md5(n::text), 100) from generate_series(1, 100000) n', undefined, {
    longestMs: 2_000,
  });
  const read = async () => {
    for await (const _ of rows) relay.freeze();
  };
  await expect(read()).rejects.toMatchObject({ code: 'ETIMEDOUT' });
});

test('whoever has nothing to send, or doesn’t read, is no silent peer', async () => {
  await database.sql`create table slow (line text)`;
  const into = await copyInto(url, 'slow (line)', { longestMs: 5_000 });
  const query = 'select repeat(md5(n::text), 100) from generate_series(1, 10000) n';
  const from = await copyOut(url, query, undefined, { longestMs: 5_000 });
  await into.write('one\n');
  await sleep(7_000);
  await into.write('two\n');
  await into.finish();
  let bytes = 0;
  for await (const chunk of from) bytes += Buffer.from(chunk).length;
  expect(bytes).toBe(10_000 * 3_201);
  expect(await database.sql`select line from slow order by 1`).toEqual([{ line: 'one' }, { line: 'two' }]);
});
