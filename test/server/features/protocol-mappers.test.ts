// Owns: claims of single clients: kept by the admin API and by documents, said in every place, and what they can't say.
// Does not own: claims that scopes name (claims.test.ts).
// Implements: decisions "Protocol mapper"; specification 2.10, 4.10.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { claimPlaces } from '../../../server/contract/claims.ts';
import { putClient } from '../../../server/contract/clients.ts';
import { addMember, createOrganization, putOrganization } from '../../../server/contract/organizations.ts';
import * as api from '../../../server/contract/protocol-mappers.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { listUsers, setPassword } from '../../../server/contract/users.ts';
import { CALLBACK, getCode, PASSWORD, redeem } from '../../support/applications.ts';
import { claimsIn, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const realm = 'acme';
const GONE = '0192f0a0-0000-7000-8000-00000000abcd';
const ids: Record<string, string> = {};
const everywhere = [...claimPlaces];

beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, realm);
  await makeRealm(server, 'other');
  const body = {
    groups: [{ path: '/staff' }],
    roles: [{ name: 'editor' }],
    clientRoles: { shop: [{ name: 'buyer' }] },
    clients: [{ clientId: 'shop' }],
    users: [
      {
        username: 'alice',
        firstName: 'Alice',
        attributes: { points: ['42'], team: ['red', 'blue'] },
        groups: ['/staff'],
        roles: ['editor'],
        clientRoles: { shop: ['buyer'] },
      },
    ],
  };
  await server.admin.call(importRealm, { params: { realm }, body });
  const { body: people } = await server.admin.call(listUsers, { params: { realm } });
  ids.alice = people?.[0]?.id ?? '';
  await server.admin.call(setPassword, { params: { realm, userId: ids.alice }, body: { password: PASSWORD } });
  ids.web = await makeClient(server, realm, {
    clientId: 'web',
    secret: SECRET,
    tokenEndpointAuthMethod: 'client_secret_post',
    grantTypes: ['authorization_code', 'client_credentials'],
    redirectUris: [CALLBACK],
    defaultClientScopes: ['profile'],
  });
  ids.plain = await makeClient(server, realm, {
    clientId: 'plain',
    tokenEndpointAuthMethod: 'none',
    redirectUris: [CALLBACK],
  });
});
afterAll(() => server?.stop());

const at = (client = 'web') => ({ realm, clientId: ids[client] ?? '' });
const make = async (body: api.ProtocolMapperInput, client = 'web') => {
  const made = (await server.admin.call(api.createProtocolMapper, { params: at(client), body })).body;
  return made ?? expect.fail('no mapper');
};
const listed = async (client = 'web') =>
  ((await server.admin.call(api.listProtocolMappers, { params: at(client) })).body ?? []).map(({ name }) => name);
const remove = (id: string, client = 'web') =>
  server.admin.call(api.deleteProtocolMapper, { params: { ...at(client), mapperId: id } });
afterEach(async () => {
  const { body: left = [] } = await server.admin.call(api.listProtocolMappers, { params: at() });
  for (const { id } of left) await remove(id);
});

/** What alice's tokens say at a client, and what is said of them elsewhere. */
async function said(client = 'web') {
  const more = client === 'web' ? { client_secret: SECRET } : {};
  const { body } = await redeem(server, realm, client, await getCode(server, realm, client), more);
  const token = String(body.access_token);
  const asking = { client_id: 'web', client_secret: SECRET, token };
  return {
    accessToken: claimsIn(token),
    idToken: claimsIn(body.id_token),
    userinfo: (await post(server, realm, 'userinfo', { access_token: token })).body,
    introspection: client === 'web' ? (await post(server, realm, 'introspect', asking)).body : {},
  };
}

describe('a protocol mapper', () => {
  test('is kept below its client: made with the defaults of a claim, read, renamed under the same id, deleted', async () => {
    const made = await make({ name: 'points' });
    const fields = {
      claim: null,
      source: 'attribute',
      attribute: null,
      value: null,
      multivalued: false,
      aggregate: false,
    };
    expect(made).toEqual({ id: made.id, name: 'points', ...fields, jsonType: 'string', in: ['userinfo'] });
    await expect(make({ name: 'points' })).rejects.toMatchObject({ status: 409 });
    const params = { ...at(), mapperId: made.id };
    const renamed = (await server.admin.call(api.putProtocolMapper, { params, body: { name: 'score' } })).body;
    expect(renamed).toEqual({ ...made, name: 'score' });
    await make({ name: 'points' }, 'plain');
    expect([await listed(), await listed('plain')]).toEqual([['score'], ['points']]);
    expect((await server.admin.call(api.getProtocolMapper, { params })).body).toEqual(renamed);
    expect((await remove(made.id)).status).toBe(204);
    await expect(remove(made.id)).rejects.toMatchObject({ status: 404 });
  });

  test('is no other client’s, and of no client that isn’t there', async () => {
    const { id: mapperId } = await make({ name: 'mine' });
    for (const params of [
      { ...at('plain'), mapperId },
      { ...at(), mapperId: GONE },
      { realm: 'other', clientId: ids.web ?? '', mapperId },
      { realm, clientId: GONE, mapperId },
    ]) {
      const none = { status: 404 };
      await expect(server.admin.call(api.getProtocolMapper, { params })).rejects.toMatchObject(none);
      await expect(server.admin.call(api.putProtocolMapper, { params, body: { in: [] } })).rejects.toMatchObject(none);
      await expect(server.admin.call(api.deleteProtocolMapper, { params })).rejects.toMatchObject(none);
    }
    const nowhere = { params: { realm, clientId: GONE }, body: { name: 'x' } };
    await expect(server.admin.call(api.createProtocolMapper, nowhere)).rejects.toMatchObject({ status: 404 });
    expect(await listed()).toEqual(['mine']);
  });

  test.each<[string, Partial<api.ProtocolMapperInput>, string]>([
    ['whom the token is about', { claim: 'sub', source: 'constant', value: 'x' }, 'claim'],
    ['on whose behalf it is used', { name: 'act', source: 'constant', value: 'x' }, 'name'],
    [
      'that it is for the admin API',
      { name: 'admin_api', source: 'constant', value: 'true', jsonType: 'boolean' },
      'name',
    ],
    ['the person that is sealed in it', { name: 'svc_person', source: 'attribute' }, 'name'],
    ['its grant', { claim: 'gid', source: 'constant', value: 'x' }, 'claim'],
    [
      'a client’s roles as the realm’s',
      { claim: 'realm_access.roles', source: 'clientRoles', value: 'shop' },
      'source',
    ],
    ['roles that nobody holds', { claim: 'realm_access', source: 'attribute' }, 'source'],
    ['organizations as numbers', { source: 'organization', jsonType: 'number' }, 'jsonType'],
    ['the roles of a client that isn’t there', { source: 'clientRoles', value: 'nosuch' }, 'value'],
    ['a property that nobody has', { source: 'property', attribute: 'password' }, 'attribute'],
  ])('cannot say %s', async (_, fields, path) => {
    const refused = { status: 400, problem: { errors: [{ path }] } };
    await expect(make({ name: 'refused', ...fields })).rejects.toMatchObject(refused);
    const body = { clientProtocolMappers: [{ clientId: 'web', mappers: [{ name: 'refused', ...fields }] }] };
    const there = { status: 400, problem: { errors: [{ path: `clientProtocolMappers[0].mappers[0].${path}` }] } };
    await expect(server.admin.call(importRealm, { params: { realm }, body })).rejects.toMatchObject(there);
  });

  test('cannot come to say the roles of a client that isn’t there', async () => {
    const { id } = await make({ name: 'later', source: 'clientRoles', value: 'shop' });
    const there = { ...at('web'), mapperId: id };
    const put = server.admin.call(api.putProtocolMapper, { params: there, body: { value: 'nosuch' } });
    await expect(put).rejects.toMatchObject({ status: 400, problem: { errors: [{ path: 'value' }] } });
  });

  test('cannot make a token that is for another realm or the admin API', async () => {
    for (const value of [`${server.baseUrl}/admin`, `${server.baseUrl}/realms/other`])
      await expect(make({ name: 'aud', source: 'audience', value })).rejects.toMatchObject({ status: 400 });
  });
});

describe('what a client’s mappers say', () => {
  const kinds: [string, Omit<api.ProtocolMapperInput, 'name'>, unknown][] = [
    ['an attribute', { source: 'attribute', attribute: 'points', jsonType: 'number' }, 42],
    ['all values of one', { source: 'attribute', attribute: 'team', multivalued: true }, ['red', 'blue']],
    ['a property', { source: 'property', attribute: 'firstName' }, 'Alice'],
    ['realm roles', { source: 'roles' }, ['editor']],
    ['roles of a client', { source: 'clientRoles', value: 'shop' }, ['buyer']],
    ['groups', { source: 'groups' }, ['/staff']],
    ['what is hard-coded', { source: 'constant', value: '{"a":[1]}', jsonType: 'json' }, { a: [1] }],
    ['a note of the session', { source: 'session', attribute: 'acr' }, '1'],
  ];
  test.each(kinds)('is %s, in each place that they name', async (_, mapper, value) => {
    for (const place of claimPlaces) await make({ name: place, claim: `to_${place}`, in: [place], ...mapper });
    await make({ name: 'nowhere', ...mapper, in: [] });
    const told = await said();
    expect(told.accessToken).toMatchObject({ to_accessToken: value });
    expect(told.idToken).toMatchObject({ to_idToken: value });
    expect(told.userinfo).toMatchObject({ to_userinfo: value });
    expect(told.introspection).toMatchObject({ to_introspection: value });
    for (const [place, claims] of Object.entries(told)) {
      const others = claimPlaces.filter((other) => other !== place && `to_${other}` in claims);
      // introspection shows what the token itself says
      expect(others).toEqual(place === 'introspection' ? ['accessToken'] : []);
      expect(claims).not.toHaveProperty('nowhere');
    }
  });

  test('is in its own tokens alone, and goes before what a scope says by the same name', async () => {
    await make({ name: 'given_name', source: 'constant', value: 'Mapped', in: everywhere });
    expect(await said()).toMatchObject({ idToken: { given_name: 'Mapped' }, userinfo: { given_name: 'Mapped' } });
    expect((await said('plain')).userinfo).toMatchObject({ given_name: 'Alice' });
  });

  test('is in a service account’s tokens too, as far as it isn’t about a person; an audience is added', async () => {
    await make({ name: 'tenant', source: 'constant', value: 'acme', in: everywhere });
    await make({ name: 'points', in: everywhere });
    await make({ name: 'for-shop', source: 'audience', value: 'shop', in: ['accessToken'] });
    const form = { grant_type: 'client_credentials', client_id: 'web', client_secret: SECRET };
    const own = claimsIn((await post(server, realm, 'token', form)).body.access_token);
    expect(own).toMatchObject({ tenant: 'acme', aud: [`${server.baseUrl}/realms/${realm}`, 'shop'] });
    expect(own).not.toHaveProperty('points');
    expect((await said()).accessToken.aud).toEqual([`${server.baseUrl}/realms/${realm}`, 'shop']);
  });

  test('are attributes of the groups that the person is in, and of those above, where they have none of their own', async () => {
    const groups = [
      { path: '/staff', attributes: { floor: ['3'], team: ['grey'], cost: ['100'] } },
      { path: '/staff/night', attributes: { floor: ['5', '6'] } },
      { path: '/zoo', attributes: { floor: ['9'], cage: ['b', 'a'] } },
      { path: '/nobody', attributes: { cage: ['c'] } },
    ];
    const users = [{ username: 'alice', groups: ['/staff/night', '/zoo'] }];
    await server.admin.call(importRealm, { params: { realm }, body: { groups, users } });
    const mine = { source: 'attribute' as const, in: [...claimPlaces] };
    await make({ ...mine, name: 'own', attribute: 'team' });
    await make({ ...mine, name: 'near', attribute: 'floor' });
    await make({ ...mine, name: 'far', attribute: 'cost', jsonType: 'number' });
    await make({ ...mine, name: 'all', attribute: 'floor', aggregate: true });
    await make({ ...mine, name: 'both', attribute: 'team', aggregate: true });
    await make({ ...mine, name: 'second', attribute: 'cage' });
    await make({ ...mine, name: 'none', attribute: 'nothing', aggregate: true });
    const due = {
      own: ['red', 'blue'],
      near: ['5', '6'],
      far: 100,
      all: ['5', '6', '3', '9'],
      both: ['red', 'blue', 'grey'],
      second: ['b', 'a'],
    };
    const tokens = await said();
    for (const place of [tokens.accessToken, tokens.idToken, tokens.userinfo, tokens.introspection]) {
      expect(place).toMatchObject(due);
      expect(place).not.toHaveProperty('none');
    }
    const back = { users: [{ username: 'alice', groups: ['/staff'] }], groups: [{ path: '/staff', attributes: {} }] };
    await server.admin.call(importRealm, { params: { realm }, body: back });
    expect((await said()).idToken).not.toHaveProperty('near');
  });

  test('are the organizations that the person belongs to, by name or as an object, while they are enabled', async () => {
    const params = { realm };
    const made: Record<string, string> = {};
    for (const name of ['globex', 'initech']) {
      made[name] = (await server.admin.call(createOrganization, { params, body: { name } })).body?.id ?? '';
      await server.admin.call(addMember, { params: { realm, id: made[name] ?? '', userId: ids.alice ?? '' } });
    }
    await make({ name: 'organization', source: 'organization', multivalued: true, in: ['idToken'] });
    await make({ name: 'tenants', source: 'organization', jsonType: 'json', in: ['idToken'] });
    const { idToken } = await said();
    expect(idToken.organization).toEqual(['globex', 'initech']);
    expect(idToken.tenants).toEqual({ globex: { id: made.globex }, initech: { id: made.initech } });
    await server.admin.call(putOrganization, { params: { realm, id: made.globex ?? '' }, body: { enabled: false } });
    expect((await said()).idToken.organization).toEqual(['initech']);
  });
});

describe('in a realm document', () => {
  const apply = (mappers: api.ProtocolMapperInput[], query = {}) =>
    server.admin.call(importRealm, {
      params: { realm },
      query: { manager: 'git', ...query },
      body: { clientProtocolMappers: [{ clientId: 'web', mappers }] },
    });

  test('each is an object by itself: another manager’s of the same client stay', async () => {
    await make({ name: 'by-hand' });
    const { body: plan } = await apply([{ name: 'a' }, { name: 'b', in: ['idToken'] }]);
    expect(plan?.changes.map(({ action, kind, key }) => [action, kind, key])).toEqual([
      ['create', 'protocolMapper', 'web/a'],
      ['create', 'protocolMapper', 'web/b'],
    ]);
    expect((await apply([{ name: 'a' }, { name: 'b', in: ['idToken'] }])).body?.changes).toEqual([]);
    const { body: pruned } = await apply([{ name: 'a' }], { prune: 'true' });
    expect(pruned?.changes.map(({ action, key }) => [action, key])).toEqual([['delete', 'web/b']]);
    expect(await listed()).toEqual(['a', 'by-hand']);
  });

  test('one that is declared twice, or for a client that isn’t there, is refused with its place', async () => {
    const twice = { status: 400, problem: { errors: [{ path: 'clientProtocolMappers[0].mappers[1]' }] } };
    await expect(apply([{ name: 'a' }, { name: 'a' }])).rejects.toMatchObject(twice);
    const body = { clientProtocolMappers: [{ clientId: 'nobody', mappers: [{ name: 'a' }] }] };
    const unknown = { status: 400, problem: { errors: [{ path: 'clientProtocolMappers[0].mappers[0]' }] } };
    await expect(server.admin.call(importRealm, { params: { realm }, body })).rejects.toMatchObject(unknown);
  });

  test('they follow their client to its new name, and go with it', async () => {
    await apply([{ name: 'a' }]);
    const rename = (clientId: string) =>
      server.admin.call(putClient, { params: { realm, id: ids.web ?? '' }, body: { clientId } });
    await rename('renamed');
    try {
      const answer = await server.admin.call(importRealm, {
        params: { realm },
        query: { manager: 'git' },
        body: { clientProtocolMappers: [{ clientId: 'renamed', mappers: [{ name: 'a' }] }] },
      });
      expect(answer.body?.changes).toEqual([]);
    } finally {
      await rename('web');
    }
  });
});
