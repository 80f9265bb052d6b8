// Many audit rows at once, which are written by COPY: they read as they would one by one, and no subscriber misses one.
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import type { DomainEvent } from '../../../server/contract/events.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { createTransact } from '../../../server/db/transact.ts';
import { createEventBatch } from '../../../server/events/batch.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { webhookConsumer } from '../../../server/features/configuration/webhooks/consumer.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const bare = bareDatabase({ max: 2 });

const MANY = 60;
const REALM = 'acme';
const nobody = { actor: null, ipAddress: null };
const happened = (n: number): DomainEvent => ({
  type: 'TOKEN_REFUSED',
  realm: REALM,
  by: nobody,
  clientId: `client-${n}`,
  data: { n },
});

/** One that has seen that nobody subscribes. */
async function writer(): Promise<{
  write(events: readonly DomainEvent[]): Promise<void>;
  batch: ReturnType<typeof createEventBatch>;
  enqueued: string[];
  lost: number[];
}> {
  const enqueued: string[] = [];
  const lost: number[] = [];
  const outbox = createOutbox({
    now: () => new Date(),
    newId,
    consumers: [webhookConsumer],
    enqueue: async (_, __, deliveries) =>
      void enqueued.push(...deliveries.map((one) => String(Reflect.get(one, 'id')))),
  });
  const transact = createTransact({ pool: bare.pool, outbox, committed: () => {}, strict: true });
  const batch = createEventBatch({ transact, newId, failed: (_, count) => void lost.push(count) });
  const write = (events: readonly DomainEvent[]) =>
    transact(undefined, async ({ record }) => {
      for (const event of events) record(event);
    });
  await write([happened(-1)]);
  return { write, batch, enqueued, lost };
}

const rowsOf = async (like: string) =>
  bare.sql<{ n: number }>`select client_id, actor, subject, ip_address, outcome, data, (data ->> 'n')::int as n
    from event where client_id like ${like} order by (data ->> 'n')::int`;

test('many events at once read as they would one by one, whatever strangers put into them', async () => {
  const { write } = await writer();
  const odd = [
    '\\',
    '\t',
    '\n',
    '\r',
    '\\N',
    '\\.',
    '"',
    "'",
    'ü',
    '😀',
    '\ud83d',
    '{}',
    '',
    ' ',
    '\\t',
    '\u0001',
    '\u2028',
  ];
  const eventsOf = (way: string): DomainEvent[] =>
    Array.from({ length: MANY }, (_, n) => {
      const text = `a${odd[n % odd.length]}z`;
      const actor = { type: 'client' as const, id: newId(), name: text };
      const subject = [actor, null, undefined, { type: 'user' as const, id: 'u', name: null }][n % 4];
      return {
        ...happened(n),
        clientId: `${way}-${text}`,
        by: n % 5 === 0 ? nobody : { actor: { ...actor, id: 'a' }, ipAddress: text },
        ...(subject !== undefined && { subject: subject && { ...subject, id: 's' } }),
        ...(n % 3 === 0 && { outcome: 'denied' as const }),
        data: { n, text, list: [text, null, n, { deep: text }] },
      };
    });
  for (const event of eventsOf('single')) await write([event]);
  await write(eventsOf('many'));
  const [single, many] = [await rowsOf('single-%'), await rowsOf('many-%')];
  expect(many).toHaveLength(MANY);
  expect(JSON.stringify(many).replaceAll('many-', 'single-')).toBe(JSON.stringify(single));
});

test('a subscription that was made since is told of each of many events at once', async () => {
  const { write, enqueued } = await writer();
  await bare.sql`insert into realm (realm_id, created_at) values (${REALM}, now())`;
  await bare.sql`insert into webhook (realm_id, id, name, url, event_types, enabled, created_at)
    values (${REALM}, ${newId()}, 'ear', 'https://127.0.0.1:1/', '{*}', true, now())`;
  await write(Array.from({ length: MANY }, (_, n) => ({ ...happened(n), clientId: `heard-${n}` })));
  expect(await rowsOf('heard-%')).toHaveLength(MANY);
  expect(enqueued).toHaveLength(MANY);
  await bare.sql`delete from webhook`;
});

test('among many events the one that the database never takes is the only one that is lost', async () => {
  const { batch, lost } = await writer();
  for (let n = 0; n < MANY; n += 1) batch.record({ ...happened(n), clientId: n === 7 ? 'odd-\0' : `odd-${n}` });
  await batch.stop();
  expect((await rowsOf('odd-%')).map(({ n }) => n)).toEqual(
    Array.from({ length: MANY }, (_, n) => n).filter((n) => n !== 7),
  );
  expect(lost).toEqual([1]);
});

test('a webhook in one realm costs the events of others no message, and is told of its own alone', async () => {
  const { write, enqueued } = await writer();
  await bare.sql`insert into realm (realm_id, created_at) values ('busy', now()), ('heard', now())`;
  await bare.sql`insert into webhook (realm_id, id, name, url, event_types, enabled, created_at)
    values ('heard', ${newId()}, 'ear', 'https://127.0.0.1:1/', '{*}', true, now())`;
  const of = (realm: string, n: number) => ({ ...happened(n), realm, clientId: `realm-${realm}` });
  await write([of('busy', 0), of('heard', 1)]);
  expect(enqueued).toHaveLength(1);
  const query = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await write([of('busy', 2)]);
    expect(query).toHaveBeenCalledTimes(1);
    query.mockClear();
    await write([of('busy', 3), of('heard', 4)]);
    expect(query.mock.calls.length).toBeGreaterThan(1);
  } finally {
    query.mockRestore();
  }
  expect(enqueued).toHaveLength(2);
  expect((await rowsOf('realm-%')).map(({ n }) => n)).toEqual([0, 1, 2, 3, 4]);
  await bare.sql`delete from webhook`;
});
