// What client scopes defined by themselves becomes claims, and each scope gives what it gave.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../server/crypto/ids.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { databaseBefore, type OlderDatabase } from '../../support/migrations.ts';

let database: OlderDatabase;
beforeAll(async () => {
  database = await databaseBefore('claims');
});
afterAll(() => database?.drop());

test('one definition in two scopes becomes one claim, another of the same claim gets a name of its own', async () => {
  const tier = { name: 'tier', source: 'attribute', value: 'level', accessToken: true };
  const scopes: Record<string, object[]> = {
    a: [tier, { name: 'phone_number_verified', source: 'attribute', userinfo: false }],
    b: [
      { ...tier, idToken: false, userinfo: true },
      { name: 'resource_access', source: 'roles', accessToken: true },
    ],
    c: [
      { name: 'tier', source: 'constant', value: '0' },
      { name: 'name', source: 'fullName', idToken: true },
    ],
    d: [
      { name: 'tier', source: 'locale' },
      { name: 'groups', source: 'groups' },
    ],
    empty: [],
  };
  await connectedCluster(database.url, async (client) => {
    for (const realm of ['one', 'two'])
      await client.query('insert into realm (realm_id, settings, created_at) values ($1, $2, now())', [realm, {}]);
    for (const realm of ['one', 'two'])
      for (const [name, claims] of Object.entries(scopes))
        await client.query('insert into client_scope (realm_id, id, name, claims) values ($1, $2, $3, $4)', [
          realm,
          newId(),
          name,
          JSON.stringify(claims),
        ]);
  });
  await database.migrateOn();
  const { rows } = await connectedCluster(database.url, (client) =>
    client.query(`select s.name as scope, k.name, k.claim, k.source, k.attribute, k.value, k.json_type, k.places
      from client_scope s join client_scope_claim l on l.realm_id = s.realm_id and l.scope_id = s.id
      join claim k on k.realm_id = l.realm_id and k.id = l.claim_id where s.realm_id = 'two'
      order by s.name, k.name collate "C"`),
  );
  const places = (...names: string[]) => names;
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['a', 'phone_number_verified', null, 'attribute', 'phone_number_verified', null, 'boolean', []],
    ['a', 'tier', null, 'attribute', 'level', null, 'string', places('accessToken', 'userinfo')],
    ['b', 'resource_access', null, 'clientRoles', null, null, 'string', places('accessToken', 'userinfo')],
    ['b', 'tier', null, 'attribute', 'level', null, 'string', places('accessToken', 'userinfo')],
    ['c', 'name', null, 'property', 'fullName', null, 'string', places('idToken', 'userinfo')],
    ['c', 'tier #2', 'tier', 'constant', null, '0', 'string', places('userinfo')],
    ['d', 'groups', null, 'groups', null, null, 'string', places('userinfo')],
    ['d', 'tier #3', 'tier', 'attribute', 'locale', null, 'string', places('userinfo')],
  ]);
  const { rows: counted } = await connectedCluster(database.url, (client) =>
    client.query("select count(*)::int as claims from claim where realm_id = 'one'"),
  );
  expect(counted).toEqual([{ claims: 7 }]);
});
