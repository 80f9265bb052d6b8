// Realms that shared an issuer, or had one that is refused today, don't stand in the way of the migration.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectedCluster } from '../../support/cluster.ts';
import { databaseBefore, type OlderDatabase } from '../../support/migrations.ts';

let database: OlderDatabase;
beforeAll(async () => {
  database = await databaseBefore('own_issuer');
});
afterAll(() => database?.drop());

test('of realms that shared an issuer the oldest has it, and each keeps what it was set to', async () => {
  const shared = 'https://login.example';
  const realms: [string, string | null, number][] = [
    ['late', shared, 3],
    ['first', `${shared}/`, 1],
    ['second', shared, 2],
    ['odd', 'not an address', 4],
    ['long', `https://x.example/${'ü'.repeat(4000)}`, 5],
    ['none', null, 6],
  ];
  await connectedCluster(database.url, async (client) => {
    for (const [name, issuer, day] of realms)
      await client.query('insert into realm (realm_id, settings, created_at) values ($1, $2, $3)', [
        name,
        { issuer },
        new Date(Date.UTC(2026, 0, day)),
      ]);
  });
  await database.migrateOn();
  const { rows } = await connectedCluster(database.url, (client) =>
    client.query("select realm_id, settings->>'issuer' as issuer, own_issuer from realm order by created_at"),
  );
  expect(rows.map(({ realm_id, own_issuer }) => [realm_id, own_issuer])).toEqual([
    ['first', shared],
    ['second', null],
    ['late', null],
    ['odd', 'not an address'],
    ['long', null],
    ['none', null],
  ]);
  expect(new Map(rows.map(({ realm_id, issuer }) => [realm_id, issuer]))).toEqual(
    new Map(realms.map(([name, issuer]) => [name, issuer])),
  );
});
