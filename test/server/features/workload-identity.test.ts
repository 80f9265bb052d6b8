import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServerProblem } from '../../../server/contract/client.ts';
import { createClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { unknownName } from '../../../server/contract/problem.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import * as api from '../../../server/contract/workload-identity.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };

beforeAll(async () => {
  server = await startTestServer({ env: { SVC_WORKLOAD_RATE_LIMIT: '3' } });
  await server.admin.call(createRealm, { body: { realm: 'acme' } });
  await server.admin.call(createRealm, { body: { realm: 'other' } });
  for (const clientId of ['api', 'jobs']) await server.admin.call(createClient, { params, body: { clientId } });
});
afterAll(() => server?.stop());

const input = (name: string, more: object = {}) => ({
  name,
  issuer: 'https://issuer.example',
  subject: `subject-of-${name}`,
  audience: 'realmkeeper',
  clientId: 'api',
  ...more,
});
const create = async (name: string, more: object = {}) =>
  (await server.admin.call(api.createWorkloadIdentity, { params, body: input(name, more) })).body!;
const problem = (work: Promise<unknown>): Promise<ServerProblem> =>
  work.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: ServerProblem) => error,
  );

describe('a credential', () => {
  test('has the fields of 2.8 in camelCase, with the plainest values where they are left out', async () => {
    const made = await create('plain');
    expect(made).toEqual({
      id: made.id,
      realmId: 'acme',
      ...input('plain'),
      jwksUri: null,
      scopes: '',
      enabled: true,
      use: 'exchange',
      singleUse: null,
      adminAccess: true,
    });
    const read = await server.admin.call(api.getWorkloadIdentity, { params: { ...params, id: made.id } });
    expect(read.body).toEqual(made);
  });

  test('put back as it was read changes nothing, and a field that is left out keeps its value', async () => {
    const made = await create('same', { scopes: 'a b', jwksUri: 'https://issuer.example/keys' });
    const at = { params: { ...params, id: made.id } };
    expect((await server.admin.call(api.putWorkloadIdentity, { ...at, body: made })).body).toEqual(made);
    const changed = await server.admin.call(api.putWorkloadIdentity, {
      ...at,
      body: input('same', { enabled: false }),
    });
    expect(changed.body).toEqual({ ...made, enabled: false });
  });

  test('has a name of its own, and an issuer, subject and audience of its own', async () => {
    const made = await create('unique');
    expect(await problem(create('unique', { subject: 'else' }))).toMatchObject({ status: 409 });
    const clash = await problem(create('second', { subject: made.subject }));
    expect(clash).toMatchObject({ status: 409 });
    expect(clash.message).toBe('The credential unique has this issuer, subject and audience already');
    const other = await create('other');
    const renamed = { params: { ...params, id: other.id }, body: input('unique', { subject: 'x' }) };
    expect(await problem(server.admin.call(api.putWorkloadIdentity, renamed))).toMatchObject({ status: 409 });
  });

  test('is for a client of its realm', async () => {
    const refused = await problem(create('nobody', { clientId: 'nobody' }));
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.problem?.errors).toEqual([unknownName('clientId', 'client', 'nobody')]);
    const abroad = { params: { realm: 'other' }, body: input('abroad') };
    expect(await problem(server.admin.call(api.createWorkloadIdentity, abroad))).toMatchObject({ status: 400 });
  });

  test.each([
    ['issuer', { issuer: 'http://issuer.example' }],
    ['jwksUri', { jwksUri: 'http://issuer.example/keys' }],
    ['subject', { subject: '' }],
    ['scopes', { scopes: 'a  b' }],
    ['unknown', { unknown: 1 }],
  ])('with a bad %s is refused by its name', async (path, more) => {
    const refused = await problem(create('bad', more));
    expect([refused.status, refused.problem?.errors?.map((e) => e.path)]).toEqual([400, [path]]);
  });

  test('is changed only as it was read', async () => {
    const made = await create('conditional');
    const at = { params: { ...params, id: made.id } };
    const { etag = '' } = await server.admin.call(api.getWorkloadIdentity, at);
    await server.admin.call(api.putWorkloadIdentity, { ...at, body: input('conditional', { scopes: 'a' }) });
    const headers = { 'if-match': etag };
    expect(await problem(server.admin.call(api.putWorkloadIdentity, { ...at, body: made, headers }))).toMatchObject({
      status: 412,
    });
    expect(await problem(server.admin.call(api.deleteWorkloadIdentity, { ...at, headers }))).toMatchObject({
      status: 412,
    });
    expect((await server.admin.call(api.deleteWorkloadIdentity, at)).status).toBe(204);
    expect(await problem(server.admin.call(api.getWorkloadIdentity, at))).toMatchObject({ status: 404 });
  });

  test('of one realm is not found in another', async () => {
    const { id } = await create('mine');
    const at = { params: { realm: 'other', id } };
    expect(await problem(server.admin.call(api.getWorkloadIdentity, at))).toMatchObject({ status: 404 });
    expect(await problem(server.admin.call(api.deleteWorkloadIdentity, at))).toMatchObject({ status: 404 });
    const change = { ...at, body: input('mine') };
    expect(await problem(server.admin.call(api.putWorkloadIdentity, change))).toMatchObject({ status: 404 });
  });

  test('is listed by name, page by page', async () => {
    for (const name of ['zz-1', 'zz-2', 'zz-3']) await create(name);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query = { limit: 2, ...(cursor === undefined ? {} : { cursor }) };
      const answer = await server.admin.call(api.listWorkloadIdentities, { params, query });
      seen.push(...answer.body!.map((w) => w.name));
      cursor = answer.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual([...new Set(seen)].toSorted());
    expect(seen).toContain('zz-3');
  });

  test('leaves an audit event of each change', async () => {
    const made = await create('audited');
    const at = { params: { ...params, id: made.id } };
    await server.admin.call(api.putWorkloadIdentity, { ...at, body: input('audited', { clientId: 'jobs' }) });
    await server.admin.call(api.deleteWorkloadIdentity, at);
    const events = await server.admin.call(listEvents, { params, query: { limit: 50 } });
    const mine = events.body!.filter((e) => e.subject?.id === made.id);
    expect(mine.map((e) => [e.type, e.clientId])).toEqual([
      ['WORKLOAD_IDENTITY_DELETED', 'jobs'],
      ['WORKLOAD_IDENTITY_UPDATED', 'jobs'],
      ['WORKLOAD_IDENTITY_CREATED', 'api'],
    ]);
  });
});

test('exchanges are limited for each realm and address, and the answer says when to come back', async () => {
  const post = (realm: string) =>
    fetch(`${server.baseUrl}/realms/${realm}/workload-identity/token`, { method: 'POST', body: new URLSearchParams() });
  const statuses: number[] = [];
  for (let i = 0; i < 4; i += 1) statuses.push((await post('acme')).status);
  expect(statuses).toEqual([400, 400, 400, 429]);
  const limited = await post('acme');
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await post('other')).status).toBe(400);
});
