// Owns: what a list of users costs among a quarter of a million people: as many rows as among a thousand, each filter by an index.
// Does not own: what a search finds (users.search.test.ts).
// Implements: specification 4.10; decisions "Reading and writing" (q, keyset paging).
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { listUsers } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { openPool, type Sql } from '../../../server/db/sql.ts';
import { statement } from '../../../server/db/statement.ts';
import { createMemberships } from '../../../server/features/people/users/memberships.ts';
import { search, type UserSearch } from '../../../server/features/people/users/search.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
/** Its statements may take half an hour. */
let pool: ReturnType<typeof openPool>;
const PEOPLE = { large: 250_000, small: 1_000 };
type Size = keyof typeof PEOPLE;
const ids: Record<string, string> = {};

/** One in a thousand is special, or what fits a thousand people: ten. Everybody else is all alike. */
beforeAll(async () => {
  server = await startTestServer();
  pool = openPool(server.databaseUrl, { max: 2, longestMs: 1_800_000 });
  const run = (text: string, values: unknown[] = []) => pool.query(text, values);
  await run('drop index realm_user_search');
  await run('drop index realm_user_attributes');
  for (const [realm, people] of Object.entries(PEOPLE)) {
    await server.admin.call(createRealm, { body: { realm } });
    await run(
      `insert into realm_user (realm_id, id, username, email, first_name, last_name, enabled, attributes, created_at)
       select $1, gen_random_uuid(), 'user-' || i, 'user-' || i || '@people.example', 'First' || i, 'Last' || i, i % 1000 <> 7,
         jsonb_build_object('team', jsonb_build_array(case when i % 1000 = 8 then 'red' else 'blue' end)), now()
       from generate_series(1, $2::int) i`,
      [realm, people],
    );
    for (const name of ['most', 'few']) {
      const [role, group, organization] = [newId(), newId(), newId()];
      ids[`${realm} ${name}`] = role;
      await run(`insert into role (realm_id, id, name) values ($1, $2, $3)`, [realm, role, name]);
      await run(`insert into user_group (realm_id, id, name, path) values ($1, $2, $3, '/' || $3)`, [
        realm,
        group,
        name,
      ]);
      await run(`insert into organization (realm_id, id, name, created_at) values ($1, $2, $3, now())`, [
        realm,
        organization,
        name,
      ]);
      const who = `select realm_id, id from realm_user where realm_id = $1 and ${name === 'few' ? "username like 'user-%42'" : 'true'}`;
      const limited = name === 'few' ? `${who} limit 50` : who;
      await run(`insert into user_role (realm_id, user_id, role_id) select realm_id, id, $2 from (${limited}) u`, [
        realm,
        role,
      ]);
      await run(`insert into group_member (realm_id, user_id, group_id) select realm_id, id, $2 from (${limited}) u`, [
        realm,
        group,
      ]);
      await run(
        `insert into organization_member (realm_id, user_id, organization_id, joined_at)
         select realm_id, id, $2, now() from (${limited}) u`,
        [realm, organization],
      );
    }
  }
  await run(migration('0020_user_search.sql'));
  await run(searchIndexes);
  await run('create index realm_user_attributes on realm_user using gin (attributes jsonb_path_ops)');
  for (const table of ['realm_user', 'user_role', 'group_member', 'organization_member'])
    await run(`vacuum analyze ${table}`);
}, 1_800_000);
afterAll(async () => {
  await pool?.end();
  await server?.stop();
});

const migration = (file: string): string =>
  readFileSync(path.resolve(import.meta.dirname, '../../../server/db/migrations', file), 'utf8');
/** The part of the migration that makes the indexes that the database can have. */
const searchIndexes = /do \$\$[\s\S]*\$\$;/.exec(migration('0720_search_without_accents.sql'))?.[0] ?? '';

interface Node {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Node[];
}
const nodes = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodes)];
/** Rows that its scans went through. */
const readBy = (plan: Node): number =>
  nodes(plan)
    .filter((node) => node['Node Type'].includes('Scan'))
    .reduce(
      (sum, node) =>
        sum +
        node['Actual Loops'] *
          (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)),
      0,
    );

/** Runs what `work` asks, explained; every answer but of the last is its own. */
async function explained(work: (sql: Sql) => Promise<unknown>): Promise<{ rows: number; statements: number }> {
  const client = await pool.connect();
  let rows = 0;
  let statements = 0;
  const sql: Sql = async <Row extends object>(strings: TemplateStringsArray, ...values: readonly unknown[]) => {
    const { text, values: given } = statement(strings, ...values);
    const { rows: plans } = await client.query(`explain (analyze, buffers, format json) ${text}`, [...given]);
    const [{ Plan: plan }] = plans[0]['QUERY PLAN'];
    rows += readBy(plan);
    statements += 1;
    return (await client.query<Row>(text, [...given])).rows;
  };
  try {
    await client.query('begin');
    await client.query('set local plan_cache_mode = force_custom_plan');
    await work(sql);
    await client.query('rollback');
  } finally {
    client.release();
  }
  return { rows, statements };
}
const LIMIT = 100;
/** A page of a hundred reads some hundred people and what they hold; a text that fits a thousand of a million, these too. */
const MOST = 10_000;
const look = (realm: Size, wanted: UserSearch, after = '') =>
  explained((sql) => search(sql, realm, wanted, { after, limit: LIMIT + 1 }, new Date()));

describe('among a quarter of a million people a page reads about as many rows as among a thousand', () => {
  test.each<[string, UserSearch, string?]>([
    ['of everybody', {}],
    ['from the middle', {}, 'user-5'],
    ['of whom a common text fits', { text: '%people.example%' }],
    ['of whom a rare text fits', { text: '%last777%' }],
    ['of one by a whole name', { text: '%first777 last777%' }],
    ['of nobody', { text: '%nobody-at-all%' }],
    ['of those who may sign in', { enabled: true }],
    ['of those who may not', { enabled: false }],
    ['of one address', { email: 'USER-77@people.example' }],
    ['of a role that all have', { role: 'most' }],
    ['of a role that few have', { role: 'few' }],
    ['of a group that all are in', { group: '/most' }],
    ['of a group that few are in', { group: '/few' }],
    ['of an organization of all', { organization: 'most' }],
    ['of an organization of few', { organization: 'few' }],
    ['of a common value', { attributes: { team: 'blue' } }],
    ['of a rare value', { attributes: { team: 'red' } }],
    ['of a value that nobody has', { attributes: { team: 'green' } }],
    ['of all at once', { role: 'most', group: '/few', enabled: true, text: '%user%' }],
  ])('%s', async (_, wanted, after) => {
    const [large, small] = [await look('large', wanted, after), await look('small', wanted, after)];
    expect(large.rows).toBeLessThan(MOST);
    expect(small.rows).toBeLessThan(MOST);
  });
});

test('so does a page of a text that few have whom statistics take for many', async () => {
  const { rows } = await pool.query<{ bounds: string[] }>(
    `select histogram_bounds::text::text[] as bounds from pg_stats where tablename = 'realm_user_search'`,
  );
  const [username] = (rows[0]?.bounds ?? []).at(-1)?.split('\n') ?? [];
  expect(username).toMatch(/^user-99\d+$/);
  const text = username?.replace('user-', '%last').slice(0, '%last9999'.length);
  const { rows: held } = await explained((sql) =>
    search(sql, 'large', { text: `${text}%` }, { after: '', limit: LIMIT + 1 }, new Date()),
  );
  expect(held).toBeLessThan(MOST);
}, 60_000);

test('roles through ten levels are found by one statement, which reads what leads to them', async () => {
  const levels = Array.from({ length: 10 }, (_, i) => ({ name: `level-${i}`, id: newId() }));
  const params = ['large', levels.map(({ id }) => id), levels.map(({ name }) => name)];
  await pool.query(
    'insert into role (realm_id, id, name) select $1, id, name from unnest($2::uuid[], $3::text[]) as l (id, name)',
    params,
  );
  await pool.query(
    'insert into role_composite (realm_id, role_id, child_id) select $1, parent, child from unnest($2::uuid[], $3::uuid[]) as l (parent, child)',
    ['large', [ids['large few'], ...levels.slice(0, -1).map(({ id }) => id)], levels.map(({ id }) => id)],
  );
  const { rows } = await pool.query<{ id: string }>(
    'select user_id as id from user_role where realm_id = $1 and role_id = $2 limit 1',
    ['large', ids['large few']],
  );
  const { statements, rows: read } = await explained(async (sql) => {
    const memberships = createMemberships({ sql, transact: () => Promise.reject(), mustCover: () => Promise.reject() });
    const page = { effective: true, after: undefined, limit: 100 };
    const held = await memberships.roles('large', rows[0]?.id ?? '', page);
    expect(held.map(({ name }) => name)).toEqual(['few', ...levels.map(({ name }) => name), 'most']);
  });
  // whether there is such a user, and their roles
  expect(statements).toBe(2);
  expect(read).toBeLessThan(1_000);
});

test('without trigrams the beginning of a name or an address is looked up by an index', async () => {
  await pool.query('drop index realm_user_search');
  await pool.query(searchIndexes);
  await pool.query('analyze realm_user');
  for (const text of ['%last777%', '%user-777%', '%first777%', '%nobody%', '%user%']) {
    const [large, small] = [await look('large', { text }), await look('small', { text })];
    expect(large.rows, text).toBeLessThan(MOST);
    expect(small.rows, text).toBeLessThan(MOST);
  }
  const find = async (q: string) =>
    (await server.admin.call(listUsers, { params: { realm: 'small' }, query: { q } })).body?.map((u) => u.username);
  expect(await find('LAST777')).toEqual(['user-777']);
  expect(await find('777')).toEqual([]);
});
