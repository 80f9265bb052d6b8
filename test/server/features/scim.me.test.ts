// Owns: what people write of themselves by SCIM's /Me: what the realm's user profile lets them, after a sign-in of a moment ago.
// Does not own: reading /Me (scim.paging.test.ts), the account API's rules (account tests), PATCH's (scim.patch.unit.test.ts).
// Implements: RFC 7644 §3.11; decisions "User profile".
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { CALLBACK, getCode, makePeopledRealm, redeem } from '../../support/applications.ts';
import { makeClient } from '../../support/clients.ts';
import { type Scim, scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let me: Scim;
let provisions: Scim;
let clock = Date.now();
const realm = 'people';
const params = { realm };
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const both = ['admin' as const, 'user' as const];
const stale: Scim[] = [];

const signedIn = async (): Promise<Scim> => {
  const grant = await getCode(server, realm, 'portal', { parameters: { scope: 'openid account' } });
  return scimWith(server, realm, String((await redeem(server, realm, 'portal', grant)).body.access_token));
};
const alice = async () => (await provisions('GET', '/Users?filter=userName%20eq%20%22alice%22')).body.Resources[0];
const patch = (...Operations: object[]) => me('PATCH', '/Me', { Operations });

beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(clock), jobs: false });
  await makePeopledRealm(server, realm);
  const client = { clientId: 'portal', redirectUris: [CALLBACK], optionalClientScopes: ['account'] };
  await makeClient(server, realm, { ...client, tokenEndpointAuthMethod: 'none' });
  const attributes = [
    { name: 'nickname', view: both, edit: both, validation: { maxLength: 10 } },
    { name: 'title', view: both, edit: ['admin' as const] },
    { name: 'costCenter', view: ['admin' as const], edit: ['admin' as const] },
  ];
  await server.admin.call(putUserProfile, { params, body: { attributes } });
  provisions = scimWith(server, realm, await scimToken(server, realm));
  stale.push(await signedIn());
  clock += 10 * 60_000;
  me = await signedIn();
});
afterAll(() => server?.stop());
beforeEach(async () => {
  const { id } = await alice();
  const { status } = await provisions('PUT', `/Users/${id}`, {
    userName: 'alice',
    emails: [{ value: 'alice@example.com', type: 'work', primary: true }],
    name: { givenName: 'Alice', familyName: 'A' },
    title: 'Engineer',
    externalId: 'x1',
    ims: [{ value: 'alice', type: 'xmpp' }],
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { costCenter: 'secret' },
  });
  expect(status).toBe(200);
});

describe('whoever has just signed in', () => {
  test('changes what is theirs by PATCH, and nothing else changes', async () => {
    const before = await alice();
    const { status, body } = await patch(
      { op: 'replace', path: 'name.givenName', value: 'Alicia' },
      { op: 'add', value: { nickName: 'Al' } },
    );
    expect([status, body]).toMatchObject([200, { name: { givenName: 'Alicia', familyName: 'A' }, nickName: 'Al' }]);
    const { meta: _, ...after } = await alice();
    const { meta: __, ...was } = before;
    expect(after).toEqual({ ...was, name: { givenName: 'Alicia', familyName: 'A' }, nickName: 'Al' });
    const { body: events } = await server.admin.call(listEvents, { params, query: { type: 'USER_UPDATED', limit: 1 } });
    expect(events?.[0]).toMatchObject({ actor: { type: 'user', id: before.id }, subject: { id: before.id } });
  });

  test('puts back what they read, and what they may change and leave out is taken away', async () => {
    await patch({ op: 'add', path: 'nickName', value: 'Al' });
    const { body } = await me('GET', '/Me');
    expect((await me('PUT', '/Me', body)).body).toEqual(body);
    const put = await me('PUT', '/Me', { schemas: [USER], userName: 'alice', name: { familyName: 'B' } });
    expect([put.status, put.body]).toMatchObject([
      200,
      { name: { familyName: 'B' }, title: 'Engineer', emails: body.emails },
    ]);
    expect(put.body).not.toHaveProperty('nickName');
    expect(put.body.name).not.toHaveProperty('givenName');
    expect(await alice()).toMatchObject({
      externalId: 'x1',
      ims: [{ value: 'alice' }],
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { costCenter: 'secret' },
    });
  });

  test.each<[string, object]>([
    ['userName', { op: 'replace', path: 'userName', value: 'root' }],
    ['emails', { op: 'replace', path: 'emails', value: [{ value: 'new@example.com' }] }],
    ['emails', { op: 'add', path: 'emails', value: [{ value: 'further@example.com', type: 'home' }] }],
    ['active', { op: 'replace', path: 'active', value: false }],
    ['password', { op: 'replace', path: 'password', value: 'another long password' }],
    ['roles', { op: 'add', path: 'roles', value: [{ value: 'admin' }] }],
    ['title', { op: 'replace', path: 'title', value: 'Director' }],
    ['title', { op: 'remove', path: 'title' }],
    ['externalId', { op: 'replace', path: 'externalId', value: 'x2' }],
    ['entitlements', { op: 'add', path: 'entitlements', value: [{ value: 'wiki:edit' }] }],
    ['ims', { op: 'remove', path: 'ims' }],
    [
      'costCenter',
      { op: 'add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:costCenter', value: 'mine' },
    ],
  ])('doesn’t change %s', async (name, operation) => {
    const before = await alice();
    const { status, body } = await patch(operation, { op: 'replace', path: 'nickName', value: 'Al' });
    expect([status, body.scimType, body.detail]).toEqual([400, 'mutability', expect.stringContaining(name)]);
    expect(await alice()).toEqual(before);
  });

  test('is told by SCIM’s names what doesn’t fit', async () => {
    const { status, body } = await patch({ op: 'replace', path: 'nickName', value: 'much too long a name' });
    expect([status, body.scimType, body.detail]).toEqual([400, 'invalidValue', expect.stringContaining('nickName')]);
  });

  test('writes only what is as they read it, where they say so', async () => {
    const { headers } = await me('GET', '/Me');
    const tag = headers.get('etag') ?? '';
    const Operations = [{ op: 'replace', path: 'nickName', value: 'One' }];
    expect((await me('PATCH', '/Me', { Operations }, { 'if-match': tag })).status).toBe(200);
    expect((await me('PATCH', '/Me', { Operations }, { 'if-match': tag })).status).toBe(412);
  });
});

test('whoever signed in long ago reads, and is asked to sign in anew before they write', async () => {
  const [old = me] = stale;
  expect((await old('GET', '/Me')).status).toBe(200);
  const { status, headers, body } = await old('PATCH', '/Me', {
    Operations: [{ op: 'add', path: 'nickName', value: 'A' }],
  });
  expect([status, body.schemas]).toEqual([401, ['urn:ietf:params:scim:api:messages:2.0:Error']]);
  expect(headers.get('www-authenticate')).toContain('insufficient_user_authentication');
  expect((await alice()).nickName).toBeUndefined();
});
