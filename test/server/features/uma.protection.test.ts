// The protection API of User-Managed Access: what resource servers register and ask for, by whose token, and what they can't.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  deleteAuthorizationService,
  evaluateAuthorization,
  putAuthorizationPermission,
  putAuthorizationSettings,
} from '../../../server/contract/authorization-service-routes.ts';
import { deleteClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import { createUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { makeRealm } from '../../support/clients.ts';
import { REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { askUma, makeUma, protection, protectionToken, ticketFor, tokensOf } from '../../support/uma.ts';

const params = { realm: REALM };
let server: TestServer;
let ids: Record<string, string>;
let own = '';
let zoes = '';
beforeAll(async () => {
  server = await startTestServer();
  ids = await makeUma(server);
  own = await protectionToken(server);
  zoes = (await tokensOf(server, 'zoe', { clientId: 'albums', scope: 'openid uma_protection' })).access;
});
afterAll(() => server?.stop());

const call = (token: string, method: string, path: string, body?: unknown) =>
  protection(server, token, { method, path, body });
const register = async (token: string, body: object) => {
  const answer = await call(token, 'POST', 'resource_set', { resource_scopes: ['view', 'edit'], ...body });
  return String(answer.body?._id);
};

describe('a resource server registers resources', () => {
  test('reads, replaces and deletes them, and each is told of', async () => {
    const body = { name: 'Snow', type: 'album', resource_scopes: ['view'], icon_uri: 'https://a.example.com/i.png' };
    const made = await call(own, 'POST', 'resource_set', body);
    const id = String(made.body._id);
    const at = `${server.baseUrl}/realms/${REALM}/authz/protection/resource_set/${id}`;
    expect([made.status, made.headers.get('location')]).toEqual([201, at]);
    expect(made.body.user_access_policy_uri).toBe(
      `${server.baseUrl}/realms/${REALM}/account?view=applications#sharing`,
    );
    expect((await call(own, 'GET', `resource_set/${id}`)).body).toEqual({ _id: id, ...body });
    const put = await call(own, 'PUT', `resource_set/${id}`, { name: 'Ice', resource_scopes: ['edit'] });
    expect([put.status, put.body._id]).toEqual([200, id]);
    expect((await call(own, 'GET', `resource_set/${id}`)).body).toEqual({
      _id: id,
      name: 'Ice',
      resource_scopes: ['edit'],
    });
    expect((await call(own, 'GET', 'resource_set')).body).toContain(id);
    expect((await call(own, 'GET', 'resource_set?name=Ice')).body).toEqual([id]);
    expect((await call(own, 'DELETE', `resource_set/${id}`)).status).toBe(204);
    expect((await call(own, 'GET', `resource_set/${id}`)).status).toBe(404);
    for (const type of ['RESOURCE_REGISTERED', 'RESOURCE_UPDATED', 'RESOURCE_DELETED'] as const) {
      const { body: events = [] } = await server.admin.call(listEvents, { params, query: { type } });
      expect(events[0]).toMatchObject({ clientId: 'albums', actor: { type: 'client' }, data: { resource: id } });
    }
  });

  test('for a person by that person’s token, or by naming them, and each sees what is theirs', async () => {
    const [hers, named, nobodys] = [
      await register(zoes, { name: 'hers' }),
      await register(own, { name: 'named', owner: 'ZOE' }),
      await register(own, { name: 'nobody’s' }),
    ];
    expect((await call(zoes, 'GET', 'resource_set')).body.sort()).toEqual([hers, named].sort());
    expect((await call(own, 'GET', 'resource_set')).body).toEqual(expect.arrayContaining([hers, named, nobodys]));
    expect((await call(own, 'GET', `resource_set/${hers}`)).body.owner).toBe('zoe');
    for (const method of ['GET', 'DELETE'])
      expect((await call(zoes, method, `resource_set/${nobodys}`)).status).toBe(404);
    const bobs = (await tokensOf(server, 'bob', { clientId: 'albums', scope: 'openid uma_protection' })).access;
    expect((await call(bobs, 'GET', 'resource_set')).body).toEqual([]);
    for (const method of ['GET', 'DELETE']) expect((await call(bobs, method, `resource_set/${hers}`)).status).toBe(404);
    const body = { name: 'taken', resource_scopes: ['view'] };
    expect((await call(bobs, 'PUT', `resource_set/${hers}`, body)).status).toBe(404);
    expect(await call(bobs, 'POST', 'resource_set', { ...body, owner: 'zoe' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    expect((await call(own, 'POST', 'resource_set', { ...body, owner: 'nobody' })).status).toBe(400);
  });

  test('which its owner may use at once, others by permissions about the type, and nobody else', async () => {
    const id = await register(zoes, { name: 'Beach', type: 'photo' });
    const decide = async (username: string, permission: string) => {
      const { access } = await tokensOf(server, username);
      const form = { audience: 'albums', claim_token: access, permission, response_mode: 'decision' };
      return (await askUma(server, form)).status;
    };
    expect(await decide('zoe', `${id}#view,edit`)).toBe(200);
    expect(await decide('bob', `${id}#view`)).toBe(403);
    const of = { ...params, clientId: ids.albums ?? '', name: 'view-catalogue' };
    await server.admin.call(putAuthorizationPermission, { params: of, body: { resourceType: 'photo' } });
    expect([await decide('bob', `${id}#view`), await decide('bob', `${id}#edit`)]).toEqual([200, 403]);
    const token = (await tokensOf(server, 'zoe')).access;
    const all = await askUma(server, { audience: 'albums', claim_token: token, response_mode: 'permissions' });
    expect(JSON.parse(all.text)).toContainEqual({ rsid: id, rsname: 'Beach', scopes: ['edit', 'view'] });
    const { body } = await server.admin.call(evaluateAuthorization, {
      params: { ...params, clientId: ids.albums ?? '' },
      body: { username: 'zoe', permissions: [{ resource: id }] },
    });
    expect(body?.results[0]).toMatchObject({ decision: 'permit', reason: expect.stringContaining('owns it') });
  });

  test('that a name in a permission never means, whatever they are called', async () => {
    const id = await register(own, { name: 'catalogue', resource_scopes: ['view'] });
    const { access } = await tokensOf(server, 'bob');
    const form = { audience: 'albums', claim_token: access, response_mode: 'decision' };
    expect((await askUma(server, { ...form, permission: `${id}#view` })).status).toBe(403);
  });

  test('only where its authorization services say so', async () => {
    const of = { params: { ...params, clientId: ids.albums ?? '' } };
    const id = await register(own, { name: 'before' });
    await server.admin.call(putAuthorizationSettings, { ...of, body: { remoteResources: false } });
    const body = { resource_scopes: ['view'] };
    for (const [method, path] of [
      ['POST', 'resource_set'],
      ['PUT', `resource_set/${id}`],
    ] as const)
      expect(await call(own, method, path, body)).toMatchObject({ status: 403, body: { error: 'access_denied' } });
    expect((await call(own, 'DELETE', `resource_set/${id}`)).status).toBe(204);
    await server.admin.call(putAuthorizationSettings, { ...of, body: { remoteResources: true } });
    const others = await protectionToken(server, 'other');
    expect((await call(others, 'POST', 'resource_set', body)).status).toBe(403);
  });

  test('with a description that is one', async () => {
    for (const body of [
      undefined,
      {},
      [],
      { resource_scopes: 'view' },
      { resource_scopes: [' '] },
      { resource_scopes: ['a\0'] },
    ])
      expect(await call(own, 'POST', 'resource_set', body)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request' },
      });
    for (const id of ['x', '00000000-0000-4000-8000-000000000000', 'holiday'])
      expect((await call(own, 'GET', `resource_set/${id}`)).status).toBe(404);
  });
});

describe('the protection API is closed', () => {
  test('to whoever has no token, one without the scope, one that ended, and one of another realm', async () => {
    const plain = (await tokensOf(server, 'zoe')).access;
    const unscoped = await protectionToken(server, 'albums', '');
    for (const token of ['', 'x', `${own}x`]) {
      const answer = await call(token, 'GET', 'resource_set');
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_token']);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /);
    }
    for (const token of [plain, unscoped])
      expect(await call(token, 'GET', 'resource_set')).toMatchObject({
        status: 403,
        body: { error: 'insufficient_scope' },
      });
    const { person, access, id } = await tokensOf(server, 'zoe', {
      clientId: 'albums',
      scope: 'openid uma_protection',
    });
    expect((await call(access, 'GET', 'resource_set')).status).toBe(200);
    await person.open(`/realms/${REALM}/oauth2/logout?id_token_hint=${id}`);
    expect((await call(access, 'GET', 'resource_set')).status).toBe(401);
    await makeRealm(server, 'elsewhere');
    const abroad = await protection(server, own, { realm: 'elsewhere', path: 'resource_set', method: 'GET' });
    expect(abroad.status).toBe(401);
  });

  test('to other resource servers: what one registered, and tickets for it', async () => {
    const id = await register(own, { name: 'mine' });
    const others = await protectionToken(server, 'other');
    expect((await call(others, 'GET', 'resource_set')).body).toEqual([]);
    for (const method of ['GET', 'DELETE']) expect((await call(others, method, `resource_set/${id}`)).status).toBe(404);
    for (const resource_id of [id, 'holiday'])
      expect(await call(others, 'POST', 'permission', { resource_id, resource_scopes: ['view'] })).toMatchObject({
        status: 400,
        body: { error: 'invalid_resource_id' },
      });
  });
});

describe('a ticket is asked for', () => {
  test('for configured and registered resources, one or several at once', async () => {
    const id = await register(own, { name: 'mine' });
    for (const body of [
      { resource_id: 'holiday', resource_scopes: ['view'] },
      { resource_id: id },
      [{ resource_id: id, resource_scopes: ['edit'] }, { resource_id: 'catalogue' }],
    ]) {
      const { status, body: given } = await call(own, 'POST', 'permission', body);
      expect([status, given.ticket]).toEqual([201, expect.stringMatching(/^svc_pt_/)]);
    }
    const { body: events = [] } = await server.admin.call(listEvents, {
      params,
      query: { type: 'PERMISSION_REQUESTED' },
    });
    expect(events[0]).toMatchObject({ clientId: 'albums' });
    expect(JSON.stringify(events)).not.toContain('svc_pt_');
  });

  test('for what is there, and by a person’s token for what is theirs', async () => {
    const id = await register(own, { name: 'mine' });
    const errorOf = async (token: string, body: unknown) => (await call(token, 'POST', 'permission', body)).body.error;
    expect(await errorOf(own, { resource_id: 'gone' })).toBe('invalid_resource_id');
    expect(await errorOf(own, { resource_id: 'holiday', resource_scopes: ['print'] })).toBe('invalid_scope');
    expect(await errorOf(own, [])).toBe('invalid_request');
    expect(await errorOf(zoes, { resource_id: id })).toBe('invalid_resource_id');
    expect(await errorOf(zoes, { resource_id: 'holiday', resource_scopes: ['view'] })).toBeUndefined();
  });

  test('and leads nowhere once the resource is gone', async () => {
    const id = await register(zoes, { name: 'short' });
    const ticket = await ticketFor(server, { resource_id: id, resource_scopes: ['view'] });
    await call(zoes, 'DELETE', `resource_set/${id}`);
    const { access } = await tokensOf(server, 'zoe');
    expect((await askUma(server, { ticket, claim_token: access })).body.error).toBe('request_denied');
  });
});

test('what a person owns goes with them, what a resource server registered with it', async () => {
  const { body: user } = await server.admin.call(createUser, {
    params,
    body: { username: 'gone', password: PASSWORD },
  });
  const id = await register(own, { name: 'theirs', owner: 'gone' });
  await server.admin.call(eraseUser, { params: { ...params, userId: user?.id ?? '' } });
  expect((await call(own, 'GET', `resource_set/${id}`)).status).toBe(404);
  await server.admin.call(deleteAuthorizationService, { params: { ...params, clientId: ids.other ?? '' } });
  await server.admin.call(deleteClient, { params: { ...params, id: ids.albums ?? '' } });
  const { rows } = await server.pool.query('select from uma_resource union all select from permission_ticket');
  expect(rows).toEqual([]);
  expect((await call(own, 'GET', 'resource_set')).status).toBe(401);
});
