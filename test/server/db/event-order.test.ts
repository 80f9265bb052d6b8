// An installation with a large audit log may build the log's index before the upgrade, while its servers write events.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectedCluster } from '../../support/cluster.ts';
import { databaseBefore, type OlderDatabase } from '../../support/migrations.ts';

let database: OlderDatabase;
beforeEach(async () => {
  database = await databaseBefore('event_order');
});
afterEach(() => database?.drop());

const indexes = async () =>
  connectedCluster(database.url, async (client) => {
    const { rows } = await client.query(
      `select i.indexrelid::int as id, i.indisvalid as valid, pg_get_indexdef(i.indexrelid) as definition
       from pg_index i join pg_class c on c.oid = i.indexrelid where c.relname in ('event_order', 'event_position')`,
    );
    return rows;
  });

test('an index that was built before the upgrade stays as it is', async () => {
  await connectedCluster(database.url, (client) =>
    client.query('create index concurrently event_order on event (position, id)'),
  );
  const [built] = (await indexes()).filter(({ definition }) => definition.includes('event_order'));
  await database.migrateOn();
  expect(await indexes()).toEqual([{ ...built, valid: true }]);
});

test('one whose build was broken off is built anew', async () => {
  await connectedCluster(database.url, async (client) => {
    await client.query('create index concurrently event_order on event (position, id)');
    await client.query(`update pg_index set indisvalid = false where indexrelid = 'event_order'::regclass`);
  });
  await database.migrateOn();
  expect(await indexes()).toEqual([
    expect.objectContaining({ valid: true, definition: expect.stringContaining('btree ("position", id)') }),
  ]);
});
