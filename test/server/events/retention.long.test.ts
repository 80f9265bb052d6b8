// Owns: retention and sealing of an audit log of a million events, under the limits of the server's own connections.
// Does not own: what they do to a chain (retention.test.ts, chain.test.ts).
// Implements: specification 6.1; docs/audit.md.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { createTransact } from '../../../server/db/transact.ts';
import { sealEvents } from '../../../server/events/chain.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { keepChanges } from '../../../server/features/authentication/new-device/store.ts';
import { verifyEvents } from '../../../server/features/operations/events/verify.ts';
import { sweepEvents } from '../../../server/jobs/janitor.ts';
import { grow } from '../../support/grown.ts';
import { MASTER_KEY, startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'grown';
const EVENTS = 1_000_000;
const seal = createSeal([MASTER_KEY]);
const now = () => new Date();
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ jobs: false });
  await server.admin.call(createRealm, { body: { realm: REALM } });
  await grow(server.databaseUrl, { realm: REALM, people: 1_000, events: EVENTS, at: new Date() });
}, 3_600_000);
afterAll(() => server?.stop());

const transact = () =>
  createTransact({
    pool: server.pool,
    outbox: createOutbox({ now, newId, consumers: [], enqueue: async () => {} }),
    committed: () => {},
    strict: true,
  });
const count = async (table: string): Promise<number> =>
  (await server.pool.query(`select count(*)::int as n from ${table}`)).rows[0].n;
async function verified() {
  const sum = { events: 0, forgotten: 0, faults: 0 };
  for (let after: number | null = 0; after !== null; ) {
    const part = await verifyEvents(sqlOver(server.pool), seal, REALM, { after, limit: 1000 });
    sum.events += part.events;
    sum.forgotten += part.forgotten;
    sum.faults += part.faults.length;
    after = part.next;
  }
  return sum;
}

test('a log of a million events is sealed, and age deletes a half of it and then the rest', async () => {
  const sealing = { sql: sqlOver(server.pool), transact: transact(), seal, now };
  for (let left = 'again'; left === 'again'; ) left = await sealEvents(sealing);
  const all = await verified();
  expect(all.faults).toBe(0);
  expect(await count('event_block')).toBeGreaterThan(EVENTS / 5_100);
  const sweepAll = async (days: number) => {
    for (let deleted = 1; deleted > 0; )
      deleted = await sweepEvents({ transact: transact(), seal, keep: keepChanges }, now(), {
        eventRetentionDays: days,
      });
  };
  await sweepAll(50);
  const half = await verified();
  expect(half).toMatchObject({ faults: 0, events: all.events - half.forgotten });
  expect(half.forgotten).toBeGreaterThan(EVENTS * 0.49);
  expect(await count('event_block')).toBeLessThan(EVENTS / 5_000 / 2 + 20);
  await sweepAll(-1);
  expect(await verified()).toMatchObject({ faults: 0, forgotten: all.events });
  expect(await count('event')).toBe(0);
  expect(await count('event_block')).toBeLessThan(10);
}, 3_600_000);
