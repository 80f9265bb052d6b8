// Owns: claims as objects that client scopes name, and what comes of them in tokens, userinfo, introspection, discovery.
// Does not own: each source and type (features/decide.unit.test.ts), what no claim may say (http/claims.unit.test.ts).
// Implements: decisions "Claim", "Client scope"; specification 4.10.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as api from '../../../server/contract/claims.ts';
import * as scopes from '../../../server/contract/client-scopes.ts';
import { deleteClient, listClients, putClient } from '../../../server/contract/clients.ts';
import * as mappers from '../../../server/contract/protocol-mappers.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { exportRealm, importRealm } from '../../../server/contract/transfer.ts';
import { createUser } from '../../../server/contract/users.ts';
import { CALLBACK, getCode, PASSWORD, redeem } from '../../support/applications.ts';
import { claimsIn, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };
const GONE = '0192f0a0-0000-7000-8000-00000000abcd';

beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, 'acme');
  await makeRealm(server, 'other');
  for (const clientId of ['spa', 'shop']) await makeClient(server, 'acme', { clientId, secret: SECRET });
  const attributes = { team: ['red'], points: ['42'] };
  await server.admin.call(createUser, { params, body: { username: 'alice', password: PASSWORD, attributes } });
});
afterAll(() => server?.stop());

const makeClaim = async (body: api.ClaimInput) => {
  const made = (await server.admin.call(api.createClaim, { params, body })).body;
  if (!made) throw new Error('no claim');
  return made;
};
const makeScope = async (name: string, claims: string[]) =>
  (await server.admin.call(scopes.createClientScope, { params, body: { name, claims } })).body?.id ?? '';

describe('a claim', () => {
  test('has the documented defaults, is changed, read and deleted, and its name is had once', async () => {
    const made = await makeClaim({ name: 'plain' });
    expect(made).toEqual({
      id: made.id,
      name: 'plain',
      claim: null,
      source: 'attribute',
      attribute: null,
      value: null,
      multivalued: false,
      aggregate: false,
      jsonType: 'string',
      in: ['userinfo'],
    });
    await expect(makeClaim({ name: 'plain' })).rejects.toMatchObject({ status: 409 });
    const at = { params: { ...params, id: made.id } };
    const changed = await server.admin.call(api.putClaim, { ...at, body: { in: ['userinfo', 'idToken', 'idToken'] } });
    expect(changed.body).toEqual({ ...made, in: ['idToken', 'userinfo'] });
    expect((await server.admin.call(api.deleteClaim, at)).status).toBe(204);
    await expect(server.admin.call(api.getClaim, at)).rejects.toMatchObject({ status: 404 });
  });

  test.each<[string, Partial<api.ClaimInput>, string]>([
    ['what the server says', { name: 'sub', source: 'constant', value: 'x' }, 'name'],
    ['it under another name', { claim: 'aud.x', source: 'constant', value: 'x' }, 'claim'],
    [
      'permissions of a resource server',
      { claim: 'authorization.permissions', source: 'constant', value: 'x' },
      'claim',
    ],
    ['them as a whole', { name: 'authorization', source: 'constant', value: '{}', jsonType: 'json' }, 'name'],
    ['that a token is active', { claim: 'active', source: 'constant', value: 'true', jsonType: 'boolean' }, 'claim'],
    ['a logout', { claim: 'events', source: 'constant', value: '{}', jsonType: 'json' }, 'claim'],
    [
      'where further claims are',
      { claim: '_claim_sources', source: 'constant', value: '{}', jsonType: 'json' },
      'claim',
    ],
    ['roles that nobody holds', { claim: 'realm_access', source: 'constant', value: 'x' }, 'source'],
    ['a client’s roles as the realm’s', { claim: 'realm_access.roles', source: 'clientRoles', value: 'spa' }, 'source'],
    ['a client’s roles as another’s', { claim: 'resource_access.spa', source: 'clientRoles', value: 'shop' }, 'value'],
    ['a name that hides', { claim: 'team\u202e', source: 'constant', value: 'x' }, 'claim'],
    ['a property that nobody has', { source: 'property', attribute: 'password' }, 'attribute'],
    ['of a session what is not told', { source: 'session', attribute: 'token' }, 'attribute'],
    ['no constant', { source: 'constant' }, 'value'],
    ['a number that is none', { source: 'constant', value: 'ten', jsonType: 'number' }, 'value'],
    ['JSON that is none', { source: 'constant', value: '{', jsonType: 'json' }, 'value'],
    ['no audience', { source: 'audience' }, 'value'],
    ['the roles of a client that isn’t there', { source: 'clientRoles', value: 'nosuch' }, 'value'],
    ['an unknown source', { source: 'nope' as 'roles' }, 'source'],
  ])('cannot say %s', async (_, fields, path) => {
    const attempt = makeClaim({ name: 'refused', ...fields });
    await expect(attempt).rejects.toMatchObject({ status: 400, problem: { errors: [{ path }] } });
  });

  test('is in a scope whose description hides nothing, by API and by document', async () => {
    const fault = (path: string) => ({ status: 400, problem: { errors: [{ path }] } });
    const body = { name: 'hidden', description: 'Nothing\u202e at all' };
    await expect(server.admin.call(scopes.createClientScope, { params, body })).rejects.toMatchObject(
      fault('description'),
    );
    await expect(server.admin.call(importRealm, { params, body: { clientScopes: [body] } })).rejects.toMatchObject(
      fault('clientScopes[0].description'),
    );
    const spelt = { name: 'spelt', description: 'می\u200cخواهم\nدو' };
    expect((await server.admin.call(scopes.createClientScope, { params, body: spelt })).body).toMatchObject(spelt);
  });

  test('cannot name another realm or the admin API as audience', async () => {
    for (const value of [`${server.baseUrl}/admin`, `${server.baseUrl}/realms/other`])
      await expect(makeClaim({ name: 'aud', source: 'audience', value })).rejects.toMatchObject({ status: 400 });
  });
});

describe('a client scope', () => {
  test('names claims that are there, gets one more and loses one, by their ids', async () => {
    await expect(makeScope('dangling', ['nope'])).rejects.toMatchObject({ status: 400 });
    const claim = await makeClaim({ name: 'one-more' });
    const scopeId = await makeScope('grows', ['email']);
    const at = { params: { ...params, scopeId, claimId: claim.id } };
    for (let twice = 0; twice < 2; twice += 1)
      expect((await server.admin.call(scopes.addClaimToScope, at)).body?.claims).toEqual(['email', 'one-more']);
    await server.admin.call(api.putClaim, { params: { ...params, id: claim.id }, body: { name: 'renamed' } });
    const read = async () =>
      (await server.admin.call(scopes.getClientScope, { params: { ...params, id: scopeId } })).body?.claims;
    expect(await read()).toEqual(['email', 'renamed']);
    expect((await server.admin.call(scopes.removeClaimFromScope, at)).status).toBe(204);
    expect(await read()).toEqual(['email']);
    for (const gone of [{ scopeId: GONE }, { claimId: GONE }, { realm: 'other' }]) {
      const attempt = server.admin.call(scopes.addClaimToScope, { params: { ...at.params, ...gone } });
      await expect(attempt).rejects.toMatchObject({ status: 404 });
    }
  });
});

test('what claims say is in each place that they name, and discovery lists them', async () => {
  await makeClaim({ name: 'team', in: ['accessToken', 'idToken'], multivalued: true });
  await makeClaim({ name: 'team-of-two', claim: 'group', source: 'constant', value: 'b', in: ['idToken'] });
  await makeClaim({ name: 'points', jsonType: 'number', in: ['introspection', 'userinfo'] });
  await makeClaim({ name: 'level', source: 'session', attribute: 'acr', in: ['userinfo'] });
  await makeClaim({ name: 'for-shop', source: 'audience', value: 'shop', in: ['accessToken'] });
  await makeScope('game', ['team', 'team-of-two', 'points', 'level', 'for-shop']);
  await makeClient(server, 'acme', {
    clientId: 'web',
    secret: SECRET,
    tokenEndpointAuthMethod: 'client_secret_post',
    redirectUris: [CALLBACK],
    defaultClientScopes: ['game'],
  });
  const { body } = await redeem(server, 'acme', 'web', await getCode(server, 'acme', 'web'), { client_secret: SECRET });
  const token = String(body.access_token);
  const issuer = `${server.baseUrl}/realms/acme`;
  const access = claimsIn(token);
  expect(access).toMatchObject({ team: ['red'], aud: [issuer, 'shop'] });
  expect(access).not.toHaveProperty('points');
  expect(claimsIn(String(body.id_token))).toMatchObject({ team: ['red'], group: 'b', aud: 'web' });
  const told = (await post(server, 'acme', 'userinfo', { access_token: token })).body;
  expect(told).toMatchObject({ points: 42, level: '1' });
  expect(told).not.toHaveProperty('team');
  const credentials = { client_id: 'web', client_secret: SECRET };
  const seen = (await post(server, 'acme', 'introspect', { ...credentials, token })).body;
  expect(seen).toMatchObject({ active: true, points: 42, team: ['red'], username: 'alice' });
  const discovery = Object(await (await fetch(`${issuer}/.well-known/openid-configuration`)).json());
  expect(discovery.claims_supported).toEqual(expect.arrayContaining(['team', 'group', 'points', 'level', 'address']));
  expect(discovery.claims_supported).not.toContain('for-shop');
});

describe('a client whose roles a claim says', () => {
  const rolesOf = (value: string) => ({ claim: 'may', source: 'clientRoles', value, multivalued: true }) as const;
  const make = async (clientId: string) =>
    (await makeClient(server, 'acme', { clientId, tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] })) ?? '';

  test('keeps them there by a new name, in the realm’s claims and in those of single clients', async () => {
    const id = await make('till');
    const { id: claim } = await makeClaim({ name: 'of-till', ...rolesOf('till') });
    const teller = { realm: 'acme', clientId: await make('tell/er') };
    const mapper = (
      await server.admin.call(mappers.createProtocolMapper, {
        params: teller,
        body: { name: 'till', ...rolesOf('till') },
      })
    ).body?.id;
    const named = await makeClaim({ name: 'resource_access.till.roles', source: 'clientRoles', value: 'till' });
    await server.admin.call(putClient, { params: { ...params, id }, body: { clientId: 'cash' } });
    const theirs = { params: { ...params, id: named.id } };
    const followed = { ...named, value: 'cash', claim: 'resource_access.cash.roles' };
    expect((await server.admin.call(api.getClaim, theirs)).body).toEqual(followed);
    const shown = (await server.admin.call(api.getClaim, { params: { ...params, id: claim } })).body;
    expect(shown?.value).toBe('cash');
    const mapped = { params: { ...teller, mapperId: mapper ?? '' } };
    expect((await server.admin.call(mappers.getProtocolMapper, mapped)).body?.value).toBe('cash');
    const { body: all } = await server.admin.call(exportRealm, { params });
    await server.admin.call(createRealm, { body: { realm: 'elsewhere' } });
    const clients = all?.clients?.filter(({ tokenEndpointAuthMethod: by }) => by === 'none') ?? [];
    const body = { clients, claims: all?.claims ?? [], clientProtocolMappers: all?.clientProtocolMappers ?? [] };
    expect((await server.admin.call(importRealm, { params: { realm: 'elsewhere' }, body })).status).toBe(200);
    await server.admin.call(api.deleteClaim, theirs);
    // Each in turn stands in the way, and says which it is.
    const remove = () => server.admin.call(deleteClient, { params: { ...params, id } });
    await expect(remove()).rejects.toMatchObject({
      status: 409,
      problem: { detail: expect.stringContaining('of-till') },
    });
    await server.admin.call(api.deleteClaim, { params: { ...params, id: claim } });
    await expect(remove()).rejects.toMatchObject({
      status: 409,
      problem: { detail: expect.stringContaining('tell%2Fer/till') },
    });
    await server.admin.call(mappers.deleteProtocolMapper, mapped);
    expect((await remove()).status).toBe(204);
  });

  test('goes with its own claims, and by a document that takes the others along', async () => {
    const id = await make('alone');
    const body = { name: 'own', ...rolesOf('alone') };
    await server.admin.call(mappers.createProtocolMapper, { params: { realm: 'acme', clientId: id }, body });
    expect((await server.admin.call(deleteClient, { params: { ...params, id } })).status).toBe(204);
    const managed = { params, query: { manager: 'git', prune: 'true' } } as const;
    const claims = [{ name: 'of-both', ...rolesOf('both') }];
    const clients = [{ clientId: 'both', tokenEndpointAuthMethod: 'none' as const, redirectUris: [CALLBACK] }];
    await server.admin.call(importRealm, { ...managed, body: { clients, claims } });
    const without = server.admin.call(importRealm, { ...managed, body: { clients: [], claims } });
    await expect(without).rejects.toMatchObject({ status: 400, problem: { errors: [{ path: 'claims[0].value' }] } });
    await server.admin.call(importRealm, { ...managed, body: { clients: [], claims: [] } });
    const left = (await server.admin.call(listClients, { params, query: { q: 'both' } })).body;
    expect(left).toEqual([]);
  });
});
