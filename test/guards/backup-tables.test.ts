// Each table of realms is decided on: a backup of one realm holds it, or says why not.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tablesOfRealms } from '../../server/backup/catalogue.ts';
import { decided, partOf } from '../../server/backup/tables.ts';
import { sqlOver } from '../../server/db/sql.ts';
import { connectedCluster } from '../support/cluster.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test('each table of realms is in the list of server/backup/tables.ts, and the list names no other', async () => {
  const tables = await connectedCluster(database.url, (client) => tablesOfRealms(sqlOver(client)));
  const names = tables.map(({ name }) => name);
  expect(names.filter((name) => partOf(name) === undefined)).toEqual([]);
  expect(decided().filter((name) => !names.includes(name))).toEqual([]);
});
