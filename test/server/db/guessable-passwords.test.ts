// Realms that are there keep the passwords that they take when fresh realms begin to refuse what is easy to guess.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectedCluster } from '../../support/cluster.ts';
import { databaseBefore, type OlderDatabase } from '../../support/migrations.ts';

let database: OlderDatabase;
beforeAll(async () => {
  database = await databaseBefore('guessable_passwords_of_realms');
});
afterAll(() => database?.drop());

test('a realm from before has the check off, beside what it had set, and one that is made later says nothing of it', async () => {
  const insert = 'insert into realm (realm_id, settings, created_at) values ($1, $2, now())';
  await connectedCluster(database.url, async (client) => {
    await client.query(insert, ['plain', {}]);
    await client.query(insert, ['long', { passwordMinLength: 20 }]);
  });
  await database.migrateOn();
  const { rows } = await connectedCluster(database.url, async (client) => {
    await client.query(insert, ['later', {}]);
    return client.query('select realm_id, settings from realm order by realm_id');
  });
  expect(rows).toEqual([
    { realm_id: 'later', settings: {} },
    { realm_id: 'long', settings: { passwordMinLength: 20, guessablePasswordCheck: false } },
    { realm_id: 'plain', settings: { guessablePasswordCheck: false } },
  ]);
});
