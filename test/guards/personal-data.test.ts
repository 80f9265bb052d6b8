// Every table that names a person is some feature's, which exports what is in it and sees to its erasure.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { personalData } from '../../server/compose/personal-data.ts';
import { connectedCluster } from '../support/cluster.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Columns by which a table's rows are about a person. */
const NAMES = ['user_id', 'username', 'actor', 'body', 'state', 'policies'];

test('each table that names a person has one owner, and no owner speaks of a table that is not there', async () => {
  const rows = await connectedCluster(database.url, async (client) => {
    const { rows: found } = await client.query<{ name: string }>(
      `select distinct table_name as name from information_schema.columns
       where table_schema = 'public' and column_name = any($1::text[]) order by 1`,
      [NAMES],
    );
    return found.map(({ name }) => name);
  });
  const claimed = personalData.flatMap(({ tables }) => tables);
  expect(claimed.toSorted()).toEqual([...new Set(claimed)].toSorted());
  expect(claimed.toSorted()).toEqual(rows);
});
