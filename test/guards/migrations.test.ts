import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqlOver } from '../../server/db/sql.ts';
import { type Column, columns, type Key, keys, printSchema } from '../support/catalogue.ts';
import { connectedCluster } from '../support/cluster.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

/** Tables that belong to no realm: the migrations' own, the keys that seal what is stored, an import's rows before they are anybody's, names that are free, how far the log is sealed and forwarded, what the makers of authenticators publish. */
const OUTSIDE = new Set([
  'schema_migration',
  'data_key',
  'import_user',
  'former_realm',
  'event_log',
  'event_forwarding',
  'authenticator_metadata',
]);
/** What no two realms may have: with one issuer they would speak for each other. */
const ACROSS_REALMS = new Set(['realm_own_issuer']);
/** Has one of two holders, so its keys are two partial unique indexes. */
const WITHOUT_PRIMARY_KEY = new Set(['admin_grant']);
/** A flow has at most fifty executions, which the primary key finds. */
const SMALL = new Set(['flow_execution_realm_id_flow_alias_parent_id_fkey']);

let database: TestDatabase;
let all: Column[];
let inRealms: Key[];
let constraints: Key[];

beforeAll(async () => {
  database = await createDatabase();
  await connectedCluster(database.url, async (client) => {
    all = await columns(sqlOver(client));
    constraints = await keys(sqlOver(client));
  });
  inRealms = constraints.filter(({ table }) => !OUTSIDE.has(table));
});
afterAll(() => database.drop());

const of = (...kinds: Key['kind'][]) => inRealms.filter(({ kind }) => kinds.includes(kind));
const named = (found: Key[]) => found.map(({ table, name, definition }) => `${table}: ${name} ${definition}`);

test('all migrations together make the schema that the repository shows (vitest -u writes it anew)', async () => {
  await expect(printSchema(all, constraints)).toMatchFileSnapshot('../support/schema.sql');
});

test('every table of a realm has realm_id, first in its primary key', () => {
  const tables = [...new Set(all.map(({ table }) => table))].filter((table) => !OUTSIDE.has(table));
  const keyed = new Map(of('primary').map((key) => [key.table, key.columns[0]]));
  const without = tables.filter((table) => keyed.get(table) !== 'realm_id' && !WITHOUT_PRIMARY_KEY.has(table));
  expect(without).toEqual([]);
  const required = new Set(all.filter((c) => c.column === 'realm_id' && c.required).map(({ table }) => table));
  expect(tables.filter((table) => !required.has(table))).toEqual([]);
});

test('what is unique is unique within a realm', () => {
  const unique = of('unique').filter(({ name }) => !ACROSS_REALMS.has(name));
  expect(named(unique.filter(({ columns: of }) => of[0] !== 'realm_id'))).toEqual([]);
});

test('no foreign key can point into another realm', () => {
  const crossing = of('foreign').filter(
    ({ columns: from, targetColumns }) => from[0] !== 'realm_id' || targetColumns[0] !== 'realm_id',
  );
  expect(named(crossing)).toEqual([]);
});

test('every foreign key has an index, so that no deletion reads a whole table', () => {
  const indexes = of('primary', 'unique', 'index');
  const bare = of('foreign').filter(
    (key) =>
      !SMALL.has(key.name) &&
      !indexes.some(
        (index) =>
          index.table === key.table &&
          // a partial index serves only where its condition is that of the key
          (!/ WHERE /.test(index.definition) ||
            key.columns.some((c) => index.definition.includes(`${c} IS NOT NULL`))) &&
          key.columns.every((column) => index.columns.slice(0, key.columns.length).includes(column)),
      ),
  );
  expect(named(bare)).toEqual([]);
});
