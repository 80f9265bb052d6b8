// Owns: pages of a list by index and by cursor, sorting, both kinds in one search, what the SCIM server says of itself, /Me.
// Does not own: filters (scim.filters.test.ts).
// Implements: RFC 7644 §3.4.2, §3.11, §4; RFC 9865.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { CALLBACK, getCode, makePeopledRealm, redeem } from '../../support/applications.ts';
import { makeClient } from '../../support/clients.ts';
import { type Scim, type ScimAnswer, scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let scim: Scim;
const realm = 'acme';
const names = ['delta', 'Alpha', 'charlie', 'Bravo', 'echo'];
const titles = [undefined, 'b', 'A', undefined, 'b'];

beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: { realm } });
  scim = scimWith(server, realm, await scimToken(server, realm));
  for (const [i, userName] of names.entries()) await scim('POST', '/Users', { userName, title: titles[i] });
  for (const displayName of ['one', 'two', 'three']) await scim('POST', '/Groups', { displayName });
});
afterAll(() => server?.stop());

const list = async (query: Record<string, string>, path = '/Users') =>
  (await scim('GET', `${path}?${new URLSearchParams(query)}`)).body;
const of = ({ Resources }: { Resources: { userName?: string; displayName?: string }[] }) =>
  Resources.map(({ userName, displayName }) => userName ?? displayName);

describe('a page by index', () => {
  test('begins where it is asked to, has as many as asked for, and says how many there are', async () => {
    const body = await list({ startIndex: '2', count: '2' });
    expect(body).toMatchObject({ totalResults: 5, startIndex: 2, itemsPerPage: 2 });
    expect([of(body), body.nextCursor]).toEqual([['Alpha', 'charlie'], undefined]);
  });
  test.each([
    [{ startIndex: '0' }, 5, 1],
    [{ startIndex: '-7', count: '1' }, 1, 1],
    [{ count: '0' }, 0, 1],
    [{ count: '-1' }, 0, 1],
    [{ startIndex: '6' }, 0, 6],
    [{ startIndex: '999999999' }, 0, 999999999],
    [{ count: '5000' }, 5, 1],
  ])('%o is taken as RFC 7644 says', async (query, items, startIndex) => {
    expect(await list(query as Record<string, string>)).toMatchObject({
      totalResults: 5,
      itemsPerPage: items,
      startIndex,
    });
  });
  test.each([
    ['startIndex', 'x'],
    ['count', '1.5'],
    ['sortOrder', 'sideways'],
  ])('%s=%s is refused', async (name, value) => {
    expect(await list({ [name]: value })).toMatchObject({ status: '400' });
  });
});

describe('sorting', () => {
  test.each([
    [{ sortBy: 'userName' }, ['Alpha', 'Bravo', 'charlie', 'delta', 'echo']],
    [{ sortBy: 'USERNAME', sortOrder: 'Descending' }, ['echo', 'delta', 'charlie', 'Bravo', 'Alpha']],
    [{ sortBy: 'title' }, ['charlie', 'Alpha', 'echo', 'delta', 'Bravo']],
    [{ sortBy: 'title', sortOrder: 'descending' }, ['Bravo', 'delta', 'echo', 'Alpha', 'charlie']],
    [{ sortBy: 'meta.created' }, names],
    [{ sortBy: 'active' }, names],
    [{ sortBy: 'emails' }, names],
  ])('by %o', async (query, order) => {
    expect(of(await list(query as Record<string, string>))).toEqual(order);
  });
  test.each(['nope', 'name', 'password', 'phoneNumbers', '__proto__', 'userName; drop'])(
    'by %s is refused',
    async (sortBy) => {
      expect(await list({ sortBy })).toMatchObject({ status: '400' });
    },
  );
});

describe('pages by cursor', () => {
  test.each([
    {},
    { sortBy: 'userName' },
    { sortBy: 'title' },
    { sortBy: 'title', sortOrder: 'descending' },
    { sortBy: 'meta.created' },
  ])('have everybody once, in order: %o', async (sorted) => {
    const whole = of(await list(sorted as Record<string, string>));
    const seen = [];
    let cursor: string | undefined = '';
    for (let pages = 0; cursor !== undefined && pages < 10; pages += 1) {
      const body: ScimAnswer['body'] = await list({ ...sorted, count: '2', cursor });
      expect(body.totalResults).toBe(cursor === '' ? 5 : undefined);
      expect(body.startIndex).toBeUndefined();
      seen.push(...of(body));
      cursor = body.nextCursor;
    }
    expect(seen).toEqual(whole);
  });
  test('miss nobody and repeat nobody while others come and go', async () => {
    const first = await list({ count: '2', cursor: '' });
    const { body: gone } = await scim('POST', '/Users', { userName: 'zulu' });
    await scim('DELETE', `/Users/${first.Resources[0].id}`);
    const second = await list({ count: '2', cursor: first.nextCursor });
    expect(of(second)).toEqual(['charlie', 'Bravo']);
    await scim('DELETE', `/Users/${gone.id}`);
    await scim('POST', '/Users', { userName: 'delta' });
  });
  test('that nobody gave out are refused, and so is an index beside one', async () => {
    for (const cursor of [
      'nope',
      Buffer.from('["0","","x"]').toString('base64url'),
      Buffer.from('{}').toString('base64url'),
    ])
      expect(await list({ cursor })).toMatchObject({ status: '400', scimType: 'invalidCursor' });
    expect(await list({ cursor: '', startIndex: '1' })).toMatchObject({ status: '400' });
  });
});

test('a search by POST is the same, and one of people and groups has both', async () => {
  const asked = { filter: 'userName sw "a"', attributes: ['userName'], count: 1 };
  const { body } = await scim('POST', '/Users/.search', asked);
  expect(body).toMatchObject({ totalResults: 1, Resources: [{ userName: 'Alpha' }] });
  expect(Object.keys(body.Resources[0]).sort()).toEqual(['id', 'schemas', 'userName']);
  const seen = [];
  for (const startIndex of [1, 4, 7]) {
    const { body: page } = await scim('POST', '/.search', { filter: 'meta.created pr', startIndex, count: 3 });
    expect(page.totalResults).toBe(8);
    seen.push(...of(page));
  }
  expect([seen.length, new Set(seen).size, seen.slice(5)]).toEqual([8, 8, ['one', 'two', 'three']]);
  expect((await scim('POST', '/.search', { sortBy: 'id' })).status).toBe(400);
});

test('null, an empty number and another case say nothing in a search; a large count says all', async () => {
  const all = (await scim('GET', '/Users')).body;
  const nulls = {
    filter: null,
    sortBy: null,
    sortOrder: null,
    startIndex: null,
    count: null,
    cursor: null,
    attributes: null,
  };
  const searches = [nulls, { COUNT: null, schemas: null }, { count: 2_147_483_647 }, { excludedAttributes: null }];
  for (const search of searches) {
    const { status, body } = await scim('POST', '/Users/.search', search);
    expect([status, of(body)], JSON.stringify(search)).toEqual([200, of(all)]);
  }
  expect((await scim('POST', '/.search', nulls)).status).toBe(200);
  for (const query of ['count=', 'startIndex=', 'count=2147483647', 'startIndex=-3'])
    expect(of((await scim('GET', `/Users?${query}`)).body), query).toEqual(of(all));
  expect((await scim('POST', '/Users/.search', { Count: 1 })).body.Resources).toHaveLength(1);
  for (const count of ['many', true, [], {}, 1.5])
    expect((await scim('POST', '/Users/.search', { count })).status, JSON.stringify(count)).toBe(400);
});

describe('the server says of itself', () => {
  test('what it does, and which schemas and resources there are, one by one too', async () => {
    const { body: config } = await scim('GET', '/ServiceProviderConfig');
    expect(config).toMatchObject({
      patch: { supported: true },
      bulk: { supported: true, maxOperations: 1000 },
      filter: { supported: true, maxResults: 1000 },
      etag: { supported: true },
      pagination: { cursor: true, index: true },
    });
    for (const path of ['/Schemas', '/ResourceTypes']) {
      const { body } = await scim('GET', path);
      expect(body.totalResults).toBe(body.Resources.length);
      for (const one of body.Resources) {
        const { pathname } = new URL(one.meta.location);
        expect((await scim('GET', pathname.split('/v2')[1] ?? '')).body).toEqual(one);
      }
      expect((await scim('GET', `${path}/nope`)).status).toBe(404);
    }
  });
  test.each(['/ServiceProviderConfig', '/Schemas', '/ResourceTypes', '/ResourceTypes/User'])(
    'the same whatever page, order or attributes are asked for, and refuses a filter: %s',
    async (path) => {
      const { body } = await scim('GET', path);
      for (const query of [
        'count=1',
        'startIndex=2&count=abc',
        'sortBy=id&sortOrder=up',
        'attributes=id',
        'cursor=',
        'x=1&x=2',
      ]) {
        const asked = await scim('GET', `${path}?${query}`);
        expect([asked.status, asked.body], query).toEqual([200, body]);
      }
      for (const name of ['filter', 'Filter']) {
        const filtered = await scim('GET', `${path}?${name}=id%20eq%20%22User%22`);
        expect([filtered.status, filtered.body.status, filtered.body.schemas]).toEqual([
          403,
          '403',
          ['urn:ietf:params:scim:api:messages:2.0:Error'],
        ]);
      }
    },
  );
  test('nothing to who has no token', async () => {
    expect((await scimWith(server, realm, undefined)('GET', '/ServiceProviderConfig')).status).toBe(401);
  });
});

describe('/Me', () => {
  test('is the person of an access token with the scope account, as people see themselves', async () => {
    const own = 'people';
    await makePeopledRealm(server, own);
    const client = { clientId: 'portal', redirectUris: [CALLBACK], optionalClientScopes: ['account'] };
    await makeClient(server, own, { ...client, tokenEndpointAuthMethod: 'none' });
    const attributes = [{ name: 'title', view: ['admin' as const], edit: ['admin' as const] }];
    await server.admin.call(putUserProfile, { params: { realm: own }, body: { attributes } });
    const provisions = scimWith(server, own, await scimToken(server, own));
    const [alice] = (await provisions('GET', '/Users?filter=userName%20eq%20%22alice%22')).body.Resources;
    const operations = [{ op: 'add', value: { title: 'hidden', nickName: 'Al' } }];
    await provisions('PATCH', `/Users/${alice.id}`, { Operations: operations });
    const tokenFor = async (scope: string) => {
      const grant = await getCode(server, own, 'portal', { parameters: { scope } });
      return String((await redeem(server, own, 'portal', grant)).body.access_token);
    };
    const me = scimWith(server, own, await tokenFor('openid account'));
    const { status, body } = await me('GET', '/Me');
    expect([status, body]).toMatchObject([200, { id: alice.id, userName: 'alice', nickName: 'Al' }]);
    expect(body.title).toBeUndefined();
    expect((await me('GET', '/Users')).status).toBe(401);
    const without = scimWith(server, own, await tokenFor('openid'));
    expect((await without('GET', '/Me')).status).toBe(403);
  });

  test('is nobody for a SCIM token', async () => {
    expect((await scim('GET', '/Me')).status).toBe(401);
    expect((await scim('PATCH', '/Me', {})).status).toBe(401);
    expect((await scim('DELETE', '/Me')).status).toBe(405);
  });
});
