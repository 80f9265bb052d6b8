// Owns: several writes in one request: references between them, errors of some, limits.
// Does not own: what each write does (scim.users.test.ts, scim.groups.test.ts).
// Implements: RFC 7644 §3.7.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { type Scim, scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let scim: Scim;
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: { realm: 'acme' } });
  scim = scimWith(server, 'acme', await scimToken(server, 'acme'));
});
afterAll(() => server?.stop());

const bulk = async (Operations: object[], more: object = {}) => scim('POST', '/Bulk', { ...more, Operations });
const statuses = ({ body }: { body: { Operations: { status: string }[] } }) => body.Operations.map((one) => one.status);

test('operations name what others of them make, whichever comes first', async () => {
  const answer = await bulk([
    {
      method: 'POST',
      path: '/Groups',
      bulkId: 'g',
      data: { displayName: 'Tour', members: [{ value: 'bulkId:a' }, { value: 'bulkId:b' }] },
    },
    { method: 'post', path: '/Users', bulkId: 'a', data: { userName: 'a', [ENTERPRISE]: { manager: 'bulkId:b' } } },
    { method: 'POST', path: '/Users', bulkId: 'b', data: { userName: 'b' } },
    {
      method: 'PATCH',
      path: '/Users/bulkId:b',
      data: { Operations: [{ op: 'replace', path: 'title', value: 'Boss' }] },
    },
    {
      method: 'PATCH',
      path: '/Groups/bulkId:g',
      data: { Operations: [{ op: 'remove', path: 'members', value: [{ value: 'bulkId:b' }] }] },
    },
  ]);
  expect(statuses(answer)).toEqual(['201', '201', '201', '200', '204']);
  const [group, a, b] = answer.body.Operations;
  expect([group, a]).toMatchObject([
    { bulkId: 'g', method: 'POST' },
    { bulkId: 'a', version: expect.any(String) },
  ]);
  const idOf = (of: { location: string }) => of.location.split('/').at(-1);
  const { body } = await scim('GET', new URL(group.location).pathname.split('/v2')[1] ?? '');
  expect(body.members.map(({ value }: { value: string }) => value)).toEqual([idOf(a)]);
  const { body: ann } = await scim('GET', `/Users/${idOf(a)}`);
  expect(ann[ENTERPRISE].manager.value).toBe(idOf(b));
  expect((await scim('GET', `/Users/${idOf(b)}`)).body.title).toBe('Boss');
});

test('one that fails leaves the others, and says why in its own answer', async () => {
  const answer = await bulk([
    { method: 'POST', path: '/Users', bulkId: '1', data: { userName: 'one' } },
    { method: 'POST', path: '/Users', bulkId: '2', data: { userName: 'ONE' } },
    { method: 'POST', path: '/Groups', bulkId: '3', data: { displayName: 'x', members: [{ value: 'bulkId:2' }] } },
    { method: 'DELETE', path: '/Users/nobody' },
    { method: 'PUT', path: '/Users/bulkId:1', version: 'W/"old"', data: { userName: 'two' } },
    { method: 'POST', path: '/Nope', data: {} },
    { method: 'PATCH', path: '/Users/bulkId:1', data: {} },
    { method: 'DELETE', path: '/Users/bulkId:1' },
  ]);
  expect(statuses(answer)).toEqual(['201', '409', '409', '404', '412', '400', '400', '204']);
  expect(answer.body.Operations[1].response).toMatchObject({ status: '409', scimType: 'uniqueness' });
});

test('after as many errors as the client puts up with the rest is not tried', async () => {
  const user = (userName: string) => ({ method: 'POST', path: '/Users', bulkId: userName, data: { userName } });
  const broken = { method: 'DELETE', path: '/Users/nobody' };
  const answer = await bulk([user('x1'), broken, user('x2'), broken, user('x3')], { failOnErrors: 2 });
  expect([answer.status, statuses(answer)]).toEqual([200, ['201', '404', '201', '404']]);
  expect((await scim('GET', '/Users?filter=userName%20eq%20%22x3%22')).body.totalResults).toBe(0);
});

test('operations that wait for each other are refused, as is what names nothing', async () => {
  const group = (displayName: string, other: string) => ({
    method: 'POST',
    path: '/Groups',
    bulkId: displayName,
    data: { displayName, members: [{ value: `bulkId:${other}` }] },
  });
  expect(statuses(await bulk([group('p', 'q'), group('q', 'p'), group('r', 'nothing')]))).toEqual([
    '409',
    '409',
    '409',
  ]);
});

test('what is too much, or no bulk request, is refused as a whole', async () => {
  const many = Array.from({ length: 1001 }, () => ({ method: 'DELETE', path: '/Users/x' }));
  expect((await bulk(many)).status).toBe(413);
  const twice = { method: 'POST', path: '/Users', bulkId: 'same', data: { userName: 'z' } };
  for (const body of [
    {},
    { Operations: 'x' },
    { Operations: [{ method: 'GET', path: '/Users' }] },
    { Operations: [twice, twice] },
  ])
    expect((await scim('POST', '/Bulk', body)).status).toBe(400);
  expect((await scim('POST', '/Bulk', JSON.stringify({ x: 'y'.repeat(1_100_000) }))).status).toBe(413);
});

test('a long chain of references is followed to its end', async () => {
  const chain = Array.from({ length: 300 }, (_, i) => ({
    method: 'POST',
    path: '/Users',
    bulkId: `c${i}`,
    data: { userName: `chain-${i}`, ...(i < 299 && { [ENTERPRISE]: { manager: `bulkId:c${i + 1}` } }) },
  }));
  const answer = await bulk(chain);
  expect(new Set(statuses(answer))).toEqual(new Set(['201']));
});
