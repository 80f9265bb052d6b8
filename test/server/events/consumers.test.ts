import { beforeAll, expect, test } from 'vitest';
import type { DomainEvent } from '../../../server/contract/events.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { fragment } from '../../../server/db/statement.ts';
import { createTransact } from '../../../server/db/transact.ts';
import type { EventConsumer } from '../../../server/events/consumer.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { webhookConsumer } from '../../../server/features/configuration/webhooks/consumer.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const bare = bareDatabase({ max: 2 });
const { sql } = bare;

/** Sends on what happens to people, as a SIEM would want it. */
const peopleConsumer: EventConsumer = {
  job: 'people-elsewhere',
  wanted: (realm) => fragment`exists (select from listener where realm_id = ${realm})`,
  take: (at) => fragment`
    insert into heard (realm_id, event_id, at)
    select h.realm_id, h.id, ${at} from happened h join listener l on l.realm_id = h.realm_id
    where h.type like 'USER\_%' and h.receiver is null
    returning jsonb_build_object('event', event_id) as payload`,
};

function world() {
  const jobs: [string, readonly object[]][] = [];
  const outbox = createOutbox({
    now: () => new Date(),
    newId,
    consumers: [webhookConsumer, peopleConsumer],
    enqueue: async (_, job, payloads) => void jobs.push([job, payloads]),
  });
  const transact = createTransact({ pool: bare.pool, outbox, committed: () => {}, strict: true });
  const happen = (...events: Pick<DomainEvent, 'type' | 'realm' | 'id' | 'receiver'>[]) =>
    transact(undefined, async ({ record }) => {
      for (const event of events) record({ by: { actor: null, ipAddress: null }, ...event });
    });
  return { jobs, happen };
}
const logged = async (realm: string) =>
  (await sql<{ type: string }>`select type from event where realm_id = ${realm} order by type`).map(({ type }) => type);

beforeAll(async () => {
  await sql`create table listener (realm_id text primary key)`;
  await sql`create table heard (realm_id text, event_id uuid, at timestamptz)`;
  for (const realm of ['both', 'people', 'nobody', 'late'])
    await sql`insert into realm (realm_id, created_at) values (${realm}, now())`;
  await sql`insert into listener values ('both'), ('people')`;
  await sql`
    insert into webhook (realm_id, id, name, url, enabled, event_types, created_at)
    values ('both', ${newId()}, 'ear', 'https://ear.example', true, '{*}', now())`;
});

test('each consumer takes what it wants of a realm’s events, in one statement, and gets its own jobs', async () => {
  const { jobs, happen } = world();
  const [made, changed] = [newId(), newId()];
  await happen(
    { type: 'USER_CREATED', realm: 'both', id: made },
    { type: 'LOGOUT', realm: 'both' },
    { type: 'USER_UPDATED', realm: 'people', id: changed },
    { type: 'USER_CREATED', realm: 'nobody' },
  );
  expect(jobs.map(([job, payloads]) => [job, payloads.length])).toEqual([
    ['webhook-delivery', 2],
    ['people-elsewhere', 2],
  ]);
  const heard = await sql<{ event_id: string }>`select event_id from heard`;
  expect(new Set(heard.map((row) => row.event_id))).toEqual(new Set([made, changed]));
  expect(await logged('nobody')).toEqual(['USER_CREATED']);
});

test('an event for one subscription alone goes to no other consumer', async () => {
  const { jobs, happen } = world();
  const [webhook] = await sql<{ id: string }>`select id from webhook`;
  await happen({ type: 'USER_UPDATED', realm: 'both', receiver: webhook?.id ?? '' });
  expect(jobs.map(([job]) => job)).toEqual(['webhook-delivery']);
});

test('somebody who wants events since the last look misses none', async () => {
  const { jobs, happen } = world();
  await happen({ type: 'USER_CREATED', realm: 'late' });
  expect(jobs).toEqual([]);
  await sql`insert into listener values ('late')`;
  await happen({ type: 'USER_UPDATED', realm: 'late' });
  expect(jobs.map(([job, payloads]) => [job, payloads.length])).toEqual([['people-elsewhere', 1]]);
  expect(await logged('late')).toEqual(['USER_CREATED', 'USER_UPDATED']);
});
