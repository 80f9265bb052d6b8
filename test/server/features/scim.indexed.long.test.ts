// Owns: what the database reads to answer the filters that identity providers send.
// Does not own: what filters find (scim.filters.test.ts).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: { realm: 'large' } });
});
afterAll(() => server?.stop());

test('what identity providers ask for is looked up by an index, however many people there are', async () => {
  await server.pool.query(
    `insert into realm_user (realm_id, id, username, email, first_name, created_at)
     select 'large', gen_random_uuid(), 'user-' || i, 'user-' || i || '@people.example', 'First' || i, now()
     from generate_series(1, 20000) i`,
  );
  await server.pool.query('analyze realm_user');
  await server.pool.query(
    `insert into scim_user (realm_id, user_id, external_id)
     select realm_id, id, 'ext-' || username from realm_user where realm_id = 'large'`,
  );
  await server.pool.query(
    `insert into user_group (realm_id, id, name, path)
     select 'large', gen_random_uuid(), 'group-' || i, '/group-' || i from generate_series(1, 5000) i`,
  );
  await server.pool.query('analyze user_group');
  await server.pool.query(
    `insert into group_member (realm_id, group_id, user_id)
     select 'large', (select id from user_group where realm_id = 'large' and path = '/group-7'), id
     from realm_user where realm_id = 'large' limit 50`,
  );
  await server.pool.query('vacuum analyze realm_user, scim_user, user_group, group_member');
  const large = scimWith(server, 'large', await scimToken(server, 'large'));
  const read = async (): Promise<number> => {
    await server.pool.query('select pg_stat_force_next_flush()');
    const { rows } = await server.pool.query<{ n: string }>(
      `select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read) as n from pg_stat_all_tables
       where relname = any('{realm_user,scim_user,user_group,group_member}')`,
    );
    return Number(rows[0]?.n);
  };
  const flushed = async () => {
    // A connection tells at most once a second what it has read.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await large('GET', '/Users?filter=userName%20eq%20%22nobody%22');
    await new Promise((resolve) => setTimeout(resolve, 300));
    return read();
  };
  const group = (await large('GET', '/Groups?filter=displayName%20eq%20%22GROUP-7%22')).body.Resources[0];
  const member = group.members[0].value;
  for (const [path, text, found] of [
    ['/Users', 'userName eq "USER-19876"', 1],
    ['/Users', 'externalId eq "ext-user-19876"', 1],
    ['/Users', 'emails.value eq "USER-19876@people.example"', 1],
    ['/Users', 'emails[type eq "work" and value eq "user-19876@people.example"]', 1],
    ['/Users', 'userName co "19876"', 1],
    ['/Users', 'name.givenName sw "first1987" and active eq true', 11],
    ['/Users', `id eq "${member}"`, 1],
    ['/Groups', 'displayName eq "group-4321"', 1],
    ['/Groups', `members.value eq "${member}"`, 1],
  ] as const) {
    const before = await flushed();
    const { body } = await large('GET', `${path}?${new URLSearchParams({ filter: text })}`);
    expect(body.totalResults, text).toBe(found);
    expect((await flushed()) - before, text).toBeLessThan(2_000);
  }
}, 120_000);
