// Realms that shared an issuer, or had one that is refused today, don't stand in the way of the migration.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../../server/db/migrate.ts';
import { connected } from '../../support/cluster.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.ts';

const migrations = path.resolve(import.meta.dirname, '../../../server/db/migrations');
let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createEmptyDatabase();
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'migrations-'));
});
afterAll(async () => {
  await database.drop();
  await fs.rm(folder, { recursive: true });
});

test('of realms that shared an issuer the oldest has it, and each keeps what it was set to', async () => {
  const files = (await fs.readdir(migrations)).sort();
  const at = files.findIndex((name) => name.endsWith('_own_issuer.sql'));
  for (const name of files.slice(0, at)) await fs.copyFile(path.join(migrations, name), path.join(folder, name));
  await migrate(database.url, { folder, log: () => {} });
  const shared = 'https://login.example';
  const realms: [string, string | null, number][] = [
    ['late', shared, 3],
    ['first', `${shared}/`, 1],
    ['second', shared, 2],
    ['odd', 'not an address', 4],
    ['long', `https://x.example/${'ü'.repeat(4000)}`, 5],
    ['none', null, 6],
  ];
  await connected(database.url, async (client) => {
    for (const [name, issuer, day] of realms)
      await client.query('insert into realm (realm_id, settings, created_at) values ($1, $2, $3)', [
        name,
        { issuer },
        new Date(Date.UTC(2026, 0, day)),
      ]);
  });
  for (const name of files.slice(at)) await fs.copyFile(path.join(migrations, name), path.join(folder, name));
  await migrate(database.url, { folder, log: () => {} });
  const { rows } = await connected(database.url, (client) =>
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
