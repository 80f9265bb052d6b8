import { expect, test } from 'vitest';
import { newId } from '../../../server/crypto/ids.ts';
import { createStaging, dropStaging, eraseStaged, staging, stagingTable } from '../../../server/db/staging.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const database = bareDatabase({ max: 1 });

test('what imports have staged of a person is erased in each of them, and of nobody else', async () => {
  const { sql } = database;
  await eraseStaged(sql, { username: 'ana', email: null });
  const imports = [newId(), newId()];
  for (const id of imports) {
    await createStaging(sql, id);
    await sql`
      insert into ${staging(id)} (import_id, n, id, username, email, declared, action)
      select ${id}, n, gen_random_uuid(), username, email, '{}', 'create'
      from (values (0, 'Ana', null), (1, 'old', 'ANA@people.example'), (2, 'bob', 'bob@people.example')) x (n, username, email)`;
  }
  await eraseStaged(sql, { username: 'ana', email: 'ana@people.example' });
  for (const id of imports) {
    expect(await sql`select username from ${staging(id)}`).toEqual([{ username: 'bob' }]);
    await dropStaging(sql, id);
  }
});

test('statements on a table of one import don’t stay prepared', async () => {
  const { sql } = database;
  const id = newId();
  await createStaging(sql, id);
  await sql`select from ${staging(id)} where n = ${1}`;
  expect(await sql`select from pg_prepared_statements where statement like ${`%${stagingTable(id)}%`}`).toEqual([]);
  await dropStaging(sql, id);
});
