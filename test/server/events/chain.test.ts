// The chain over the audit log, as PostgreSQL keeps it: which order events get, and what of a change is found.
import pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { newId } from '../../../server/crypto/ids.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { createTransact, type Transact } from '../../../server/db/transact.ts';
import { sealEvents } from '../../../server/events/chain.ts';
import { erasePerson, forgetRealm } from '../../../server/events/log.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { continuePositions } from '../../../server/events/position.ts';
import { verifyEvents } from '../../../server/features/operations/events/verify.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const REALM = 'acme';
const seal = createSeal([Buffer.alloc(32, 1)]);
const bare = bareDatabase({ max: 4 });
const now = () => new Date('2026-03-01T12:00:00Z');
const nobody = { actor: null, ipAddress: null };
let transact: Transact;

beforeEach(async () => {
  const outbox = createOutbox({ now, newId, consumers: [], enqueue: async () => {} });
  transact = createTransact({ pool: bare.pool, outbox, committed: () => {}, strict: true });
  await bare.sql`truncate event, event_block, event_amendment, event_chain`;
});

const write = (n: number, realm = REALM, actor: string | null = null) =>
  transact(realm, async ({ record }) => {
    for (let i = 0; i < n; i += 1)
      record({
        type: 'LOGOUT',
        realm,
        by: actor === null ? nobody : { ...nobody, actor: { type: 'user', id: actor, name: 'ana' } },
        data: { i },
      });
  });
/** Until nothing is left: what other tests of this cluster have begun, sealing waits for. */
async function sealed(): Promise<void> {
  await expect.poll(() => sealEvents({ sql: bare.sql, transact, seal, now })).toBe('idle');
}
const verify = (after = 0, realm = REALM) => verifyEvents(bare.sql, seal, realm, { after, limit: 1000 });
const erase = (id: string) =>
  transact(REALM, async ({ sql, record }) => {
    await erasePerson(
      sql,
      REALM,
      { id, username: 'ana', email: null, ownEmail: null, pseudonym: `erased-${id.slice(-4)}` },
      { seal, at: now() },
    );
    record({ type: 'USER_ERASED', realm: REALM, by: nobody });
  });
const faults = async () => (await verify()).faults;

test('each realm has a chain of its own, in which every event is once', async () => {
  await write(3);
  await sealed();
  await write(60);
  await write(2, 'other');
  await sealed();
  const found = await verify();
  expect(found).toMatchObject({ blocks: 2, events: 63, faults: [], waiting: 0, next: null, last: { number: 2 } });
  expect(await verify(1)).toMatchObject({ blocks: 1, events: 60, faults: [], last: found.last });
  expect(await verify(0, 'other')).toMatchObject({ blocks: 1, events: 2, faults: [] });
  expect(await verify(0, 'nobody')).toMatchObject({ blocks: 0, events: 0, faults: [], last: null, waiting: 0 });
});

test('what a transaction writes that goes on holds back what began after it, so that nothing comes to be before what is sealed', async () => {
  const other = new pg.Client({ connectionString: bare.url });
  await other.connect();
  try {
    await write(1);
    await sealed();
    await other.query('begin');
    await other.query(
      `insert into event (realm_id, id, type, occurred_at, outcome) values ('${REALM}', '${newId()}', 'LOGIN_SUCCESS', now(), 'success')`,
    );
    await write(2);
    expect(await sealEvents({ sql: bare.sql, transact, seal, now })).toBe('soon');
    expect(await verify()).toMatchObject({ events: 1, waiting: 2, faults: [] });
    await other.query('commit');
    await sealed();
    expect(await verify()).toMatchObject({ events: 4, waiting: 0, faults: [] });
    const [first] = await bare.sql<{ type: string }>`
      select type from event where position > (select last_position from event_block where number = 1) order by position limit 1`;
    expect(first?.type).toBe('LOGIN_SUCCESS');
  } finally {
    await other.end();
  }
});

test('a session’s settings make no difference to what is hashed', async () => {
  await write(3);
  await sealed();
  const other = new pg.Client({
    connectionString: bare.url,
    options: '-c timezone=Asia/Tokyo -c datestyle=German -c extra_float_digits=0 -c bytea_output=escape',
  });
  await other.connect();
  try {
    expect((await verifyEvents(sqlOver(other), seal, REALM, { after: 0, limit: 10 })).faults).toEqual([]);
  } finally {
    await other.end();
  }
});

test.each([
  [
    'an event was changed',
    `update event set data = '{"i": 7}' where (data ->> 'i') = '1'`,
    [{ block: 2, problem: 'events' }],
  ],
  ['an event was deleted', `delete from event where (data ->> 'i') = '1'`, [{ block: 2, problem: 'events' }]],
  [
    'an event was put in',
    `insert into event (realm_id, id, type, occurred_at, outcome, position)
       select realm_id, gen_random_uuid(), type, occurred_at, outcome, position from event where (data ->> 'i') = '1'`,
    [{ block: null, problem: 'unsealed' }],
  ],
  [
    'an event was dated back',
    `update event set occurred_at = occurred_at - interval '1 day' where (data ->> 'i') = '1'`,
    [{ block: 2, problem: 'events' }],
  ],
  [
    'a block was sealed anew',
    `update event_block set digest = sha256('x') where number = 2`,
    [
      { block: 2, problem: 'link' },
      { block: 2, problem: 'events' },
    ],
  ],
  [
    'a block before was exchanged',
    `update event_block set hash = sha256('x') where number = 1`,
    [
      { block: 1, problem: 'link' },
      { block: 2, problem: 'link' },
    ],
  ],
  [
    'a block is said to be wider',
    'update event_block set last_position = last_position + 1 where number = 3',
    [{ block: 3, problem: 'link' }],
  ],
  [
    'a block is gone',
    'delete from event_block where number = 2',
    [
      { block: 3, problem: 'missing' },
      { block: null, problem: 'unsealed' },
    ],
  ],
])('%s: it is found', async (_, change, expected) => {
  await write(1);
  await sealed();
  await write(3);
  await sealed();
  await write(1);
  await sealed();
  expect(await faults()).toEqual([]);
  await bare.pool.query(change);
  expect(await faults()).toEqual(expected);
});

test('an erasure rewrites events, and the chain says so; a change beside it is found all the same', async () => {
  const ana = newId();
  await write(2, REALM, ana);
  await sealed();
  await write(2);
  await sealed();
  await erase(ana);
  expect(await faults()).toEqual([]);
  await sealed();
  expect(await verify()).toMatchObject({ faults: [], erased: 1, events: 5 });
  expect(await bare.sql`select from event where actor::text like '%ana%'`).toEqual([]);
  await bare.sql`update event set outcome = 'failure' where actor is not null`;
  expect(await faults()).toEqual([{ block: 1, problem: 'events' }]);
  await bare.sql`update event_amendment set digest = sha256('x')`;
  expect(await faults()).toEqual([
    { block: 1, problem: 'events' },
    { block: 3, problem: 'events' },
  ]);
});

test('an erasure does not excuse what was changed before it', async () => {
  const ana = newId();
  await write(2, REALM, ana);
  await sealed();
  await bare.sql`update event set outcome = 'failure'`;
  await erase(ana);
  expect(await faults()).toEqual([{ block: 1, problem: 'events' }]);
});

test('what is sealed while an erasure goes on is told of, too', async () => {
  const ana = newId();
  await write(2, REALM, ana);
  const other = new pg.Client({ connectionString: bare.url });
  await other.connect();
  try {
    await other.query('begin');
    await other.query('select from event_log for update');
    const erased = erase(ana);
    await expect
      .poll(
        async () =>
          (
            await bare.pool.query(`select from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database()`)
          ).rowCount,
      )
      .toBe(1);
    const within: Transact = (_, work) =>
      work({ sql: sqlOver(other), record: () => {}, atLast: () => {}, copy: () => Promise.reject(new Error()) });
    await expect.poll(() => sealEvents({ sql: sqlOver(other), transact: within, seal, now })).not.toBe('again');
    expect((await other.query('select from event_block')).rowCount).toBe(1);
    await other.query('commit');
    await erased;
    expect(await verify()).toMatchObject({ erased: 1, faults: [] });
  } finally {
    await other.end();
  }
});

test.each([
  [
    'events that were changed',
    `update event set outcome = 'failure' where position = (select first_position from event_block where number = 2)`,
    `(select sha256(convert_to(string_agg(row(e.realm_id, e.id, e.type, extract(epoch from e.occurred_at), e.actor, e.subject, e.client_id,
       e.ip_address, e.outcome, e.data)::text, e'\n' order by e.position, e.id), 'UTF8')) from event e, event_block b
      where b.number = 2 and e.position between b.first_position and b.last_position)`,
  ],
  [
    'events that were deleted',
    'delete from event where position = (select first_position from event_block where number = 2)',
    'null',
  ],
])('%s are excused by nothing that is written into the database', async (_, change, digest) => {
  await write(1);
  await sealed();
  await write(2);
  await sealed();
  await write(1);
  await sealed();
  await bare.pool.query(change);
  expect(await faults()).toEqual([{ block: 2, problem: 'events' }]);
  const excuse = (number: number) =>
    bare.pool.query(
      `insert into event_amendment (realm_id, number, block, digest) values ('${REALM}', ${number}, 2, ${digest})`,
    );
  // said by a block of events
  await excuse(3);
  expect(await faults()).toContainEqual({ block: 2, problem: 'events' });
  await bare.pool.query('delete from event_amendment');
  // by a block of its own, which is right but for the key
  await bare.pool.query(`
    insert into event_block (realm_id, number, events, digest, hash, sealed_at)
    select realm_id, 4, 0, sha256(convert_to('2 ' || coalesce(encode(${digest}, 'hex'), 'deleted'), 'UTF8')), sha256(hash || digest), sealed_at
    from event_block where number = 3`);
  await excuse(4);
  expect(await faults()).toEqual([{ block: 4, problem: 'link' }]);
});

test.each([
  ['without a place', 'null'],
  ['before all others', '-5'],
  ['behind all that can be there yet', '9000000000000000'],
])('an event put in %s is found', async (_, position) => {
  await write(2);
  await sealed();
  await bare.pool.query('alter table event alter column position drop not null');
  await bare.pool.query(
    `insert into event (realm_id, id, type, occurred_at, outcome, position) values ('${REALM}', '${newId()}', 'LOGOUT', now(), 'success', ${position})`,
  );
  expect(await verify()).toMatchObject({ waiting: 0, faults: [{ block: null, problem: 'unsealed' }] });
  await bare.sql`delete from event`;
  await bare.pool.query('alter table event alter column position set not null');
});

test('a key of somebody else’s makes no chain', async () => {
  await write(2);
  await sealed();
  const other = seal.seal(Buffer.alloc(32), 'event-chain:other');
  await bare.sql`update event_chain set key = ${other}`;
  expect(await faults()).toEqual([{ block: 1, problem: 'link' }]);
  await bare.sql`delete from event_chain`;
  expect(await faults()).toEqual([{ block: 1, problem: 'link' }]);
});

test('with a realm go its events and its chain', async () => {
  await write(2);
  await sealed();
  await transact(REALM, async ({ sql, record }) => {
    await forgetRealm(sql, REALM);
    record({ type: 'REALM_DELETED', realm: 'master', by: nobody });
  });
  expect(await verify()).toMatchObject({ blocks: 0, events: 0, faults: [] });
});

test('in a database that a dump was restored into, the order goes on where it was', async () => {
  await write(2);
  // Of a server that had counted further than this one.
  await bare.sql`update event set position = position + 1000000000`;
  await bare.sql`update event_log set added = 1000000000`;
  await sealed();
  await bare.sql`update event_log set added = 0`;
  await continuePositions(transact);
  await write(2);
  await sealed();
  expect(await verify()).toMatchObject({ blocks: 2, events: 4, faults: [], waiting: 0 });
  const before = await bare.sql`select * from event_log`;
  await continuePositions(transact);
  expect(await bare.sql`select * from event_log`).toEqual(before);
});
