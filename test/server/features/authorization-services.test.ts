// Owns: a client's authorization services by the admin API: whole and item by item, what is refused, who may.
// Does not own: what is decided (authorization.evaluate.unit.test.ts, authorization-services.evaluate.test.ts).
// Implements: specification 4.10; decisions "Authorization services".
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { putClientAdminRoles } from '../../../server/contract/admin-access.ts';
import * as api from '../../../server/contract/authorization-service-routes.ts';
import type { Client } from '../../../server/contract/client.ts';
import { deleteClient, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { builtInAdminRoles } from '../../../server/contract/permissions.ts';
import { deleteRole, listRoles } from '../../../server/contract/roles.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { administrator } from '../../support/administrators.ts';
import { makeClient, makeRealm } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let made = 0;
const realm = 'acme';
/** The client of a test of its own. */
let params: { realm: string; clientId: string };
let clientId: string;

beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, realm);
  await server.admin.call(importRealm, { params: { realm }, body: { roles: [{ name: 'reader' }] } });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  clientId = `app-${++made}`;
  params = { realm, clientId: await makeClient(server, realm, { clientId }) };
});

const named = (name: string) => ({ ...params, name });
const readers = { name: 'readers', type: 'role' as const, config: { roles: ['reader'] } };
/** A scope, a resource, a policy and a permission that hang together. */
async function fill(): Promise<void> {
  const { admin } = server;
  await admin.call(api.createAuthorizationScope, { params, body: { name: 'view' } });
  await admin.call(api.createAuthorizationResource, { params, body: { name: 'albums', scopes: ['view'] } });
  await admin.call(api.createAuthorizationPolicy, { params, body: readers });
  const body = { name: 'view-albums', resources: ['albums'], scopes: ['view'], policies: ['readers'] };
  await admin.call(api.createAuthorizationPermission, { params, body });
}
const whole = async () => (await server.admin.call(api.getAuthorizationService, { params })).body;
const fault = (status: number, code: string, ...paths: string[]) => ({
  status,
  problem: {
    type: `urn:svc:problem:${code}`,
    ...(paths.length > 0 && { errors: paths.map((path) => expect.objectContaining({ path })) }),
  },
});

describe('the authorization services of a client', () => {
  test('are those of a fresh one where nobody has said anything, and it is in no list', async () => {
    expect(await whole()).toEqual({
      clientId,
      settings: { enforcement: 'enforcing', decisionStrategy: 'unanimous', remoteResources: false, accessApi: 'none' },
      resources: [],
      scopes: [],
      policies: [],
      permissions: [],
    });
    const { body = [] } = await server.admin.call(api.listAuthorizationServices, { params: { realm } });
    expect(body.map((one) => one.clientId)).not.toContain(clientId);
  });

  test('are made item by item, each answered with all its fields', async () => {
    await fill();
    const { body: policy } = await server.admin.call(api.getAuthorizationPolicy, { params: named('readers') });
    expect(policy).toEqual({
      name: 'readers',
      type: 'role',
      logic: 'positive',
      config: { roles: ['reader'], clientRoles: {}, match: 'any' },
    });
    expect(await whole()).toMatchObject({
      scopes: [{ name: 'view', displayName: null }],
      resources: [{ name: 'albums', type: null, owner: null, ownerManaged: false, uris: [], scopes: ['view'] }],
      policies: [policy],
      permissions: [{ name: 'view-albums', resourceType: null, decisionStrategy: null }],
    });
    const { body: list } = await server.admin.call(api.listAuthorizationServices, { params: { realm } });
    expect(list?.find((one) => one.clientId === clientId)).toEqual({
      id: params.clientId,
      clientId,
      enforcement: 'enforcing',
      resources: 1,
      scopes: 1,
      policies: 1,
      permissions: 1,
    });
  });

  test('keep what a change leaves out, and a change that changes nothing tells nobody', async () => {
    await fill();
    const { admin } = server;
    await admin.call(api.putAuthorizationSettings, { params, body: { decisionStrategy: 'affirmative' } });
    await admin.call(api.putAuthorizationResource, { params: named('albums'), body: { type: 'album' } });
    const { body } = await admin.call(api.putAuthorizationSettings, { params, body: { remoteResources: true } });
    expect(body).toEqual({
      enforcement: 'enforcing',
      decisionStrategy: 'affirmative',
      remoteResources: true,
      accessApi: 'none',
    });
    const events = async () => (await admin.call(listEvents, { params: { realm }, query: { clientId } })).body ?? [];
    const before = await events();
    await admin.call(api.putAuthorizationResource, { params: named('albums'), body: { type: 'album' } });
    await admin.call(api.putAuthorizationService, { params, body: (await whole()) ?? {} });
    expect(await events()).toEqual(before);
    expect(before[0]).toMatchObject({
      type: 'AUTHORIZATION_SERVICE_UPDATED',
      subject: { name: clientId },
      data: { fields: ['settings'] },
    });
    expect(before.map(({ type }) => type)).toContain('AUTHORIZATION_SERVICE_CREATED');
    expect((await whole())?.resources[0]).toMatchObject({ name: 'albums', type: 'album', scopes: ['view'] });
  });

  test('are deleted item by item from the last user on, or at once', async () => {
    await fill();
    const { admin } = server;
    const remove = (
      [
        [api.deleteAuthorizationScope, 'view'],
        [api.deleteAuthorizationResource, 'albums'],
        [api.deleteAuthorizationPolicy, 'readers'],
      ] as const
    ).map(
      ([route, name]) =>
        () =>
          admin.call(route, { params: named(name) }),
    );
    for (const attempt of remove) await expect(attempt()).rejects.toMatchObject(fault(409, 'in-use'));
    await admin.call(api.deleteAuthorizationPermission, { params: named('view-albums') });
    await expect(remove[0]?.()).rejects.toThrow('the resource albums');
    for (const attempt of remove.toReversed()) expect((await attempt()).status).toBe(204);
    await expect(remove[0]?.()).rejects.toMatchObject(fault(404, 'not-found'));
    expect((await admin.call(api.deleteAuthorizationService, { params })).status).toBe(204);
    await expect(admin.call(api.deleteAuthorizationService, { params })).rejects.toMatchObject(fault(404, 'not-found'));
  });

  test('go with their client, and follow its new name', async () => {
    await fill();
    const { admin } = server;
    await admin.call(putClient, { params: { realm, id: params.clientId }, body: { clientId: `${clientId}-renamed` } });
    expect(await whole()).toMatchObject({ clientId: `${clientId}-renamed`, scopes: [{ name: 'view' }] });
    await admin.call(deleteClient, { params: { realm, id: params.clientId } });
    await expect(whole()).rejects.toMatchObject(fault(404, 'not-found'));
    const { rows } = await server.pool.query('select from authorization_service where client_id like $1', [
      `${clientId}%`,
    ]);
    expect(rows).toHaveLength(0);
  });

  test('lose nothing where many add to them at once', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `scope-${n}`).sort();
    await Promise.all(names.map((name) => server.admin.call(api.createAuthorizationScope, { params, body: { name } })));
    expect((await whole())?.scopes.map(({ name }) => name)).toEqual(names);
  });

  test('are listed in pages, by name', async () => {
    const scopes = ['c', 'a', 'b'].map((name) => ({ name }));
    await server.admin.call(api.putAuthorizationService, { params, body: { scopes } });
    const { body } = await server.admin.call(api.listAuthorizationScopes, { params, query: { limit: 2 } });
    expect(body?.map(({ name }) => name)).toEqual(['a', 'b']);
    const cursor = Buffer.from(JSON.stringify(['b'])).toString('base64url');
    const { body: rest } = await server.admin.call(api.listAuthorizationScopes, { params, query: { cursor } });
    expect(rest?.map(({ name }) => name)).toEqual(['c']);
  });

  test('answer a name as it is, whatever it is made of', async () => {
    const name = 'a/b %2F ?#é';
    await server.admin.call(api.createAuthorizationScope, { params, body: { name } });
    expect((await server.admin.call(api.getAuthorizationScope, { params: named(name) })).body?.name).toBe(name);
  });
});

describe('what is refused', () => {
  test('an item whose name is taken, or that is not there', async () => {
    await fill();
    const { admin } = server;
    await expect(admin.call(api.createAuthorizationPolicy, { params, body: readers })).rejects.toMatchObject(
      fault(409, 'name-taken'),
    );
    for (const route of [api.getAuthorizationPolicy, api.putAuthorizationPolicy, api.deleteAuthorizationPolicy])
      await expect(
        admin.call(route as typeof api.putAuthorizationPolicy, {
          params: named('gone'),
          ...(route.method === 'PUT' && { body: {} }),
        }),
      ).rejects.toMatchObject(fault(404, 'not-found'));
    await expect(
      admin.call(api.putAuthorizationPolicy, { params: named('readers'), body: { name: 'others' } }),
    ).rejects.toMatchObject(fault(400, 'invalid-request', 'name'));
  });

  test.each<[string, object, string]>([
    ['a role that is not there', { type: 'role', config: { roles: ['gone'] } }, 'config.roles'],
    [
      'a client role that is not there',
      { type: 'role', config: { clientRoles: { gone: ['x'] } } },
      'config.clientRoles',
    ],
    ['a group that is not there', { type: 'group', config: { groups: ['/gone'] } }, 'config.groups'],
    ['a client that is not there', { type: 'client', config: { clients: ['gone'] } }, 'config.clients'],
    ['a policy that is not there', { type: 'aggregate', config: { policies: ['gone'] } }, 'config.policies'],
    ['itself', { type: 'aggregate', config: { policies: ['zz'] } }, 'config.policies'],
    ['a field of another type', { type: 'user', config: { users: ['ana'], roles: ['reader'] } }, 'config.roles'],
  ])('a policy that names %s, by the field of the request', async (_, given, path) => {
    await fill();
    const body = { name: 'zz', ...given } as never;
    await expect(server.admin.call(api.createAuthorizationPolicy, { params, body })).rejects.toMatchObject(
      fault(400, 'invalid-request', path),
    );
    expect((await whole())?.policies).toHaveLength(1);
  });

  test('aggregates that would come back to themselves, also by a change', async () => {
    const { admin } = server;
    const aggregate = (name: string, policies: string[]) => ({
      name,
      type: 'aggregate' as const,
      config: { policies },
    });
    await admin.call(api.createAuthorizationPolicy, { params, body: readers });
    await admin.call(api.createAuthorizationPolicy, { params, body: aggregate('inner', ['readers']) });
    await admin.call(api.createAuthorizationPolicy, { params, body: aggregate('outer', ['inner']) });
    await expect(
      admin.call(api.putAuthorizationPolicy, { params: named('inner'), body: { config: { policies: ['outer'] } } }),
    ).rejects.toThrow('inner → outer → inner');
  });

  test('settings and permissions that are none', async () => {
    const { admin } = server;
    await expect(
      admin.call(api.putAuthorizationSettings, { params, body: { enforcement: 'sometimes' } as never }),
    ).rejects.toMatchObject(fault(400, 'invalid-request', 'enforcement'));
    await expect(
      admin.call(api.createAuthorizationPermission, { params, body: { name: 'nothing' } }),
    ).rejects.toMatchObject(fault(400, 'invalid-request', ''));
    await expect(
      admin.call(api.createAuthorizationPermission, { params, body: { name: 'x', resources: ['gone'] } }),
    ).rejects.toMatchObject(fault(400, 'invalid-request', 'resources'));
    await expect(
      admin.call(api.putAuthorizationService, { params, body: { clientId: 'another' } }),
    ).rejects.toMatchObject(fault(400, 'invalid-request', 'clientId'));
  });

  test('a change of what somebody else has changed meanwhile', async () => {
    await fill();
    const { admin } = server;
    const headers = { 'if-match': '"of-another-time"' };
    const body = { type: 'album' };
    await expect(
      admin.call(api.putAuthorizationResource, { params: named('albums'), body, headers }),
    ).rejects.toMatchObject(fault(412, 'precondition-failed'));
    await expect(
      admin.call(api.deleteAuthorizationPermission, { params: named('view-albums'), headers }),
    ).rejects.toMatchObject(fault(412, 'precondition-failed'));
    expect((await whole())?.resources[0]?.type).toBeNull();
  });

  test('whoever may not write clients, and a client that holds more than they do', async () => {
    const as = (role: string): Promise<Client> =>
      administrator(server, { home: realm, target: realm, permissions: builtInAdminRoles[role] ?? [] });
    const viewer = await as('realm-viewer');
    const manager = await as('client-manager');
    const body = { name: 'view' };
    await expect(viewer.call(api.createAuthorizationScope, { params, body })).rejects.toMatchObject(
      fault(403, 'forbidden'),
    );
    expect((await viewer.call(api.getAuthorizationService, { params })).status).toBe(200);
    expect((await manager.call(api.createAuthorizationScope, { params, body })).status).toBe(201);
    const grants = [{ role: 'realm-admin', realm }];
    await server.admin.call(putClientAdminRoles, { params: { realm, id: params.clientId }, body: { grants } });
    await expect(
      manager.call(api.putAuthorizationSettings, { params, body: { enforcement: 'disabled' } }),
    ).rejects.toMatchObject(fault(403, 'privilege-escalation'));
  });
});

describe('in a realm document', () => {
  const declare = (services: object[], more: object = {}) =>
    server.admin.call(importRealm, {
      params: { realm },
      query: { manager: `git-${clientId}`, prune: 'true' },
      body: { authorizationServices: services, ...more } as never,
    });

  test('they are kept as declared: drift is planned by field, and what is left out stays', async () => {
    const declared = { clientId, scopes: [{ name: 'view' }], policies: [readers] };
    await declare([declared]);
    await server.admin.call(api.putAuthorizationSettings, { params, body: { enforcement: 'permissive' } });
    await server.admin.call(api.createAuthorizationScope, { params, body: { name: 'edit' } });
    const { body } = await declare([declared]);
    expect(body?.changes).toMatchObject([
      { action: 'update', kind: 'authorizationService', key: clientId, fields: [{ path: 'scopes' }] },
    ]);
    expect(await whole()).toMatchObject({ settings: { enforcement: 'permissive' }, scopes: [{ name: 'view' }] });
  });

  test('a role that they name can’t be pruned while they need it, and faults are told by their place', async () => {
    const more = { roles: [{ name: `needed-${clientId}` }] };
    const policies = [{ ...readers, config: { roles: [`needed-${clientId}`] } }];
    await declare([{ clientId, policies }], more);
    await expect(declare([{ clientId, policies }])).rejects.toMatchObject(
      fault(400, 'invalid-request', 'authorizationServices[0].policies[0].config.roles'),
    );
    await expect(
      declare([{ clientId, policies: [{ name: 'x', type: 'user', config: {} }] }], more),
    ).rejects.toMatchObject(fault(400, 'invalid-request', 'authorizationServices[0].policies[0].config.users'));
    await expect(declare([{ clientId: 'gone' }])).rejects.toMatchObject(
      fault(400, 'invalid-request', 'authorizationServices[0].clientId'),
    );
  });

  test('one that is no longer declared is deleted, and its client stays', async () => {
    await declare([{ clientId, scopes: [{ name: 'view' }] }]);
    await declare([]);
    expect((await whole())?.scopes).toEqual([]);
    const { rows } = await server.pool.query('select from authorization_service where client_id = $1', [clientId]);
    expect(rows).toHaveLength(0);
  });

  test('what an administrator deletes by hand leaves a policy that decides nothing, not an open door', async () => {
    const role = `gone-${clientId}`;
    await server.admin.call(importRealm, { params: { realm }, body: { roles: [{ name: role }] } });
    const body = {
      resources: [{ name: 'albums' }],
      policies: [{ name: 'not-them', type: 'role' as const, logic: 'negative' as const, config: { roles: [role] } }],
      permissions: [{ name: 'all', resources: ['albums'], policies: ['not-them'] }],
    };
    await server.admin.call(api.putAuthorizationService, { params, body });
    const ask = async () => {
      const question = { clientId, permissions: [{ resource: 'albums' }] };
      return (await server.admin.call(api.evaluateAuthorization, { params, body: question })).body?.results[0]
        ?.decision;
    };
    expect(await ask()).toBe('permit');
    const { body: roles = [] } = await server.admin.call(listRoles, { params: { realm }, query: { q: role } });
    await server.admin.call(deleteRole, { params: { realm, id: roles[0]?.id ?? '' } });
    expect(await ask()).toBe('deny');
  });
});
