import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as api from '../../../server/contract/applications.ts';
import type { ServerProblem } from '../../../server/contract/client.ts';
import { listClients, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createFlow, deleteFlow, listFlows, putFlow, renameFlow } from '../../../server/contract/flows.ts';
import { unknownName } from '../../../server/contract/problem.ts';
import { createRole, deleteRole } from '../../../server/contract/roles.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { putUser } from '../../../server/contract/users.ts';
import { authorizePath, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let made = 0;
let alice = '';
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `apps${made}`;
  [alice = ''] = await makePeopledRealm(server, realm);
});

const at = (name: string) => ({ params: { realm, name } });
const create = async (name: string, more: object = {}) =>
  (await server.admin.call(api.createApplication, { params: { realm }, body: { name, ...more } })).body!;
const put = (name: string, body: object) => server.admin.call(api.putApplication, { ...at(name), body });
const problem = (work: Promise<unknown>): Promise<ServerProblem> =>
  work.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: ServerProblem) => error,
  );
/** What the application is told when alice comes, who signs in where she is asked to. */
async function signIn(person = createPerson(server.baseUrl)): Promise<{ said: string; heading: string }> {
  let page = await person.open(authorizePath(realm, 'spa', newVerifier()));
  if ('username' in page.fields) page = await person.fill(page, { username: 'alice', password: PASSWORD });
  const { searchParams } = new URL(page.url);
  return { said: searchParams.has('code') ? 'code' : (searchParams.get('error') ?? ''), heading: page.heading };
}
/** A flow that asks for a second factor. */
async function strictFlow(alias: string): Promise<void> {
  await server.admin.call(createFlow, { params: { realm }, body: { alias } });
  const executions = ['username-password', 'otp'].map((authenticatorId) => ({
    authenticatorId,
    requirement: 'REQUIRED' as const,
  }));
  await server.admin.call(putFlow, { params: { realm, alias }, body: { executions } });
}

describe('an application', () => {
  test('has the plainest values where they are left out, is renamed, and put back as it was read changes nothing', async () => {
    const wiki = await create('wiki');
    expect(wiki).toEqual({
      id: wiki.id,
      name: 'wiki',
      displayName: null,
      description: null,
      url: null,
      iconUrl: null,
      clients: [],
      samlClients: [],
      flowOverride: null,
      roles: [],
      visible: true,
      enabled: true,
    });
    expect((await put('wiki', wiki)).body).toEqual(wiki);
    expect((await put('wiki', { name: 'The wiki/2' })).body).toEqual({ ...wiki, name: 'The wiki/2' });
    expect((await server.admin.call(api.getApplication, at('The wiki/2'))).status).toBe(200);
    expect(await problem(server.admin.call(api.getApplication, at('wiki')))).toMatchObject({ status: 404 });
    expect(await problem(create('The wiki/2'))).toMatchObject({ status: 409 });
  });

  test('names what is there, and a client belongs to one alone', async () => {
    const refused = await problem(
      create('x', { clients: ['no'], samlClients: ['no'], roles: ['no'], flowOverride: 'no' }),
    );
    expect(refused.problem?.errors).toEqual(
      expect.arrayContaining([
        unknownName('clients', 'client', 'no'),
        unknownName('roles', 'role', 'no'),
        unknownName('flowOverride', 'flow', 'no'),
        unknownName('samlClients', 'samlClient', 'no'),
      ]),
    );
    await create('one', { clients: ['spa'] });
    const second = await problem(create('two', { clients: ['spa'] }));
    expect([second.status, second.problem?.errors]).toEqual([
      400,
      [{ path: 'clients', message: 'spa belongs to the application one already' }],
    ]);
    const body = {
      applications: [
        { name: 'one', clients: [] },
        { name: 'two', clients: ['spa'] },
      ],
    };
    await server.admin.call(importRealm, { params: { realm }, body });
    expect((await server.admin.call(api.getApplication, at('two'))).body?.clients).toEqual(['spa']);
  });
});

describe('who signs in', () => {
  test('by a client of an application walks its flow, unless the client has its own', async () => {
    await strictFlow('strict');
    expect(await signIn()).toMatchObject({ said: 'code' });
    await create('shop', { clients: ['spa'], flowOverride: 'strict' });
    expect((await signIn()).heading).toBe('Set up a second factor');
    const { body: [spa] = [] } = await server.admin.call(listClients, {
      params: { realm },
      query: { q: 'spa' } as object,
    });
    await server.admin.call(putClient, { params: { realm, id: spa!.id }, body: { flowOverride: 'browser' } });
    expect(await signIn()).toMatchObject({ said: 'code' });
  });

  test('to an application that is switched off is told so, and signs in again once it is on', async () => {
    await create('shop', { clients: ['spa'], enabled: false });
    expect(await signIn()).toMatchObject({ said: 'access_denied' });
    await put('shop', { enabled: true });
    expect(await signIn()).toMatchObject({ said: 'code' });
  });

  test('needs one of its roles, in a session that stands already too, and the audit log has who was refused', async () => {
    const { body: role } = await server.admin.call(createRole, { params: { realm }, body: { name: 'buyer' } });
    await server.admin.call(createRole, {
      params: { realm },
      body: { name: 'vip', composite: { roles: ['buyer'] } },
    });
    const person = createPerson(server.baseUrl);
    expect(await signIn(person)).toMatchObject({ said: 'code' });
    await create('shop', { clients: ['spa'], roles: ['buyer'] });
    for (const who of [person, createPerson(server.baseUrl)])
      expect(await signIn(who)).toMatchObject({ said: 'access_denied' });
    const { body: denied } = await server.admin.call(listEvents, {
      params: { realm },
      query: { type: 'ACCESS_DENIED' },
    });
    expect(denied).toMatchObject(
      [1, 2].map(() => ({ subject: { id: alice }, clientId: 'spa', outcome: 'denied', data: { application: 'shop' } })),
    );
    await server.admin.call(putUser, { params: { realm, userId: alice }, body: { roles: ['vip'] } });
    for (const who of [person, createPerson(server.baseUrl)]) expect(await signIn(who)).toMatchObject({ said: 'code' });
    // without the role everybody might use it
    const kept = await problem(server.admin.call(deleteRole, { params: { realm, id: role!.id } }));
    expect([kept.status, kept.message]).toEqual([409, expect.stringContaining('application')]);
  });
});

test('a flow that an application uses is kept, and renamed there too', async () => {
  await strictFlow('strict');
  await create('shop', { flowOverride: 'strict' });
  const inUse = await problem(server.admin.call(deleteFlow, { params: { realm, alias: 'strict' } }));
  expect([inUse.status, inUse.message]).toEqual([409, expect.stringContaining('the application shop')]);
  await server.admin.call(renameFlow, { params: { realm, alias: 'strict' }, body: { alias: 'stricter' } });
  expect((await server.admin.call(api.getApplication, at('shop'))).body?.flowOverride).toBe('stricter');
  expect((await server.admin.call(listFlows, { params: { realm } })).body?.map((f) => f.alias)).toContain('stricter');
});
