import { expect, test } from 'vitest';
import { newId } from '../../../server/crypto/ids.ts';
import type { Sql } from '../../../server/db/sql.ts';
import { createStaging, dropStaging, eraseStaged, staging, stagingTable } from '../../../server/db/staging.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const database = bareDatabase({ max: 2 });

async function stage(realm: string): Promise<string> {
  const { sql } = database;
  const id = newId();
  await createStaging(sql, realm, id);
  await sql`
    insert into ${staging(realm, id)} (realm_id, import_id, n, id, username, email, declared, action)
    select ${realm}, ${id}, n, gen_random_uuid(), username, email, '{}', 'create'
    from (values (0, 'Ana', null), (1, 'old', 'ANA@people.example'), (2, 'bob', 'bob@people.example')) x (n, username, email)`;
  return id;
}
const stagedIn = async (realm: string, id: string): Promise<string[]> =>
  (await database.sql<{ username: string }>`select username from ${staging(realm, id)} order by n`).map(
    ({ username }) => username,
  );
const erase = (realm: string, person: { username: string; email: string | null }): Promise<void> =>
  database.transact(({ sql }) => eraseStaged(sql, realm, person));
const ana = { username: 'ana', email: 'ana@people.example' };

test('what imports of the realm have staged of a person is erased in each of them, and of nobody else', async () => {
  const { sql } = database;
  await erase('acme', { username: 'ana', email: null });
  const imports = [await stage('acme'), await stage('acme')];
  await erase('acme', ana);
  for (const id of imports) {
    expect(await stagedIn('acme', id)).toEqual(['bob']);
    await dropStaging(sql, 'acme', id);
  }
});

test('an erasure leaves alone what another realm’s imports have staged of somebody with that name or address', async () => {
  const [mine, other] = [await stage('acme'), await stage('other')];
  await erase('acme', ana);
  expect(await stagedIn('acme', mine)).toEqual(['bob']);
  expect(await stagedIn('other', other)).toEqual(['Ana', 'old', 'bob']);
  await dropStaging(database.sql, 'acme', mine);
  await dropStaging(database.sql, 'other', other);
});

test('an erasure waits for no import of another realm', async () => {
  const other = await stage('other');
  const holder = await database.pool.connect();
  await holder.query(`begin; lock table ${stagingTable('other', other)} in access exclusive mode`);
  await erase('acme', ana);
  await holder.query('commit');
  holder.release();
  await dropStaging(database.sql, 'other', other);
});

test('an erasure succeeds though an import ends between its look and its deletion', async () => {
  const [ended, goesOn] = [await stage('acme'), await stage('acme')];
  await database.transact(async ({ sql }) => {
    const endingOneMeanwhile: Sql = async (...of) => {
      const rows = await sql<never>(...of);
      if (of[0].join('').includes('pg_class')) await dropStaging(database.sql, 'acme', ended);
      return rows;
    };
    await eraseStaged(endingOneMeanwhile, 'acme', ana);
  });
  expect(await stagedIn('acme', goesOn)).toEqual(['bob']);
  await dropStaging(database.sql, 'acme', goesOn);
});

test('statements on a table of one import don’t stay prepared', async () => {
  const { sql } = database;
  const id = newId();
  await createStaging(sql, 'acme', id);
  await sql`select from ${staging('acme', id)} where n = ${1}`;
  expect(await sql`select from pg_prepared_statements where statement like ${`%${stagingTable('acme', id)}%`}`).toEqual(
    [],
  );
  await dropStaging(sql, 'acme', id);
});
