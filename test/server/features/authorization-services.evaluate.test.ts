// Owns: asking a client's authorization services what they decide, over HTTP: for users as the realm has them, and why.
// Does not own: the rules (authorization.evaluate.unit.test.ts), writing them (authorization-services.test.ts).
// Implements: specification 4.10; decisions "Authorization services".
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { z } from 'zod';
import * as api from '../../../server/contract/authorization-service-routes.ts';
import type { AuthorizationServiceDocument } from '../../../server/contract/authorization-services.ts';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import { builtInAdminRoles } from '../../../server/contract/permissions.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser, listUsers } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const realm = 'acme';
let params: { realm: string; clientId: string };
const NOW = new Date('2026-11-23T08:30:00Z');

const albums: AuthorizationServiceDocument = {
  clientId: 'albums',
  scopes: [{ name: 'view' }, { name: 'edit' }],
  resources: [{ name: 'holiday', type: 'album', scopes: ['view', 'edit'], owner: 'zoe', ownerManaged: true }],
  policies: [
    { name: 'readers', type: 'role', config: { roles: ['reader'] } },
    { name: 'clerks', type: 'role', config: { clientRoles: { shop: ['clerk'] } } },
    { name: 'staff', type: 'group', config: { groups: ['/staff'], includeSubgroups: true } },
    { name: 'office', type: 'attribute', config: { attribute: 'network', source: 'context', values: ['office'] } },
    { name: 'day', type: 'time', config: { from: '08:00', until: '18:00' } },
    { name: 'not-zoe', type: 'user', logic: 'negative', config: { users: ['zoe'] } },
    { name: 'at-work', type: 'aggregate', config: { policies: ['staff', 'office', 'day'] } },
  ],
  permissions: [
    {
      name: 'view',
      resourceType: 'album',
      scopes: ['view'],
      policies: ['readers', 'clerks'],
      decisionStrategy: 'affirmative',
    },
    { name: 'edit', resourceType: 'album', scopes: ['edit'], policies: ['at-work', 'not-zoe'] },
  ],
};

beforeAll(async () => {
  server = await startTestServer({ now: () => NOW, jobs: false });
  await server.admin.call(importRealm, {
    params: { realm },
    body: {
      roles: [{ name: 'reader' }, { name: 'all', composite: { roles: ['reader'], clientRoles: { shop: ['clerk'] } } }],
      clients: [
        { clientId: 'albums' },
        { clientId: 'shop' },
        { clientId: 'robot', grantTypes: ['client_credentials'] },
      ],
      clientRoles: { shop: [{ name: 'clerk' }] },
      serviceAccountRoles: [{ clientId: 'robot', roles: ['all'] }],
      groups: [{ path: '/staff', roles: ['all'] }, { path: '/staff/night' }],
      authorizationServices: [albums],
    },
  });
  const { body: list = [] } = await server.admin.call(api.listAuthorizationServices, { params: { realm } });
  params = { realm, clientId: list[0]?.id ?? '' };
  const user = (username: string, more: object = {}) =>
    server.admin.call(createUser, { params: { realm }, body: { username, ...more } });
  await user('ana', { groups: ['/staff/night'] });
  await user('bob', { roles: ['reader'] });
  await user('zoe');
  await user('off', { roles: ['all'], enabled: false });
});
afterAll(() => server?.stop());

type Question = z.input<typeof api.evaluateAuthorization.body>;
const holiday = [{ resource: 'holiday' }];
const ask = async (body: Question, by = server.admin) =>
  (await by.call(api.evaluateAuthorization, { params, body })).body;
const granted = async (body: Omit<Question, 'permissions'>) =>
  (await ask({ permissions: holiday, ...body }))?.results[0]?.grantedScopes;

describe('what is decided', () => {
  test('goes by the roles that a user has by a group above theirs, with all that these hold', async () => {
    expect(await granted({ username: 'ANA' })).toEqual(['view']);
    expect(await granted({ username: 'ana', context: { attributes: { network: ['office'] } } })).toEqual([
      'edit',
      'view',
    ]);
    expect(await granted({ username: 'bob', context: { attributes: { network: ['office'] } } })).toEqual(['view']);
  });

  test('goes by the moment, which can be another one', async () => {
    const context = { attributes: { network: ['office'] } };
    const night = Date.parse('2026-11-23T20:00:00Z');
    expect(await granted({ username: 'ana', context: { ...context, time: night } })).toEqual(['view']);
  });

  test('permits the owner what is theirs, and who is disabled nothing', async () => {
    expect(await granted({ username: 'zoe' })).toEqual(['edit', 'view']);
    expect(await granted({ username: 'off' })).toEqual([]);
  });

  test('takes two users for two whose names JavaScript folds to one: policies, owners, erasure', async () => {
    const clientId = 'names';
    const name = 'νίκος';
    const other = 'ΝΊΚΟΣ';
    const document = {
      clientId,
      resources: [
        { name: 'salary', scopes: ['view'] },
        { name: 'diary', scopes: ['view'], owner: name, ownerManaged: true },
      ],
      scopes: [{ name: 'view' }],
      policies: [{ name: 'only', type: 'user' as const, config: { users: [name] } }],
      permissions: [{ name: 'only', resources: ['salary'], policies: ['only'] }],
    };
    await server.admin.call(importRealm, {
      params: { realm },
      body: { clients: [{ clientId }], authorizationServices: [document] },
    });
    const ids: Record<string, string> = {};
    // Only a document can make such a pair.
    await server.admin.call(importRealm, {
      params: { realm },
      body: { users: [{ username: name }, { username: other }] },
    });
    const { body: people = [] } = await server.admin.call(listUsers, { params: { realm } });
    for (const { id, username } of people) ids[username] = id;
    expect(ids[name]).not.toBe(ids[other]);
    const { body: all = [] } = await server.admin.call(api.listAuthorizationServices, { params: { realm } });
    const at = { realm, clientId: all.find((one) => one.clientId === clientId)?.id ?? '' };
    const decided = async (username: string) => {
      const body = { username, permissions: [{ resource: 'salary' }, { resource: 'diary' }] };
      const answer = await server.admin.call(api.evaluateAuthorization, { params: at, body });
      return answer.body?.results.map(({ decision }) => decision);
    };
    expect(await decided(name)).toEqual(['permit', 'permit']);
    expect(await decided(other)).toEqual(['deny', 'deny']);
    await server.admin.call(eraseUser, { params: { realm, userId: ids[other] ?? '' } });
    expect(await decided(name)).toEqual(['permit', 'permit']);
  });

  test('tells no values of an attribute that administrators may not see', async () => {
    const clientId = 'hidden';
    const policy = (value: string) => ({
      name: value,
      type: 'attribute' as const,
      config: { attribute: 'pin', values: [value] },
    });
    await server.admin.call(importRealm, {
      params: { realm },
      body: {
        userProfile: { attributes: [{ name: 'pin', view: ['user'], edit: ['user'] }] },
        clients: [{ clientId }],
        authorizationServices: [
          {
            clientId,
            resources: [{ name: 'right' }, { name: 'wrong' }],
            policies: [policy('1234'), policy('9999')],
            permissions: [
              { name: 'right', resources: ['right'], policies: ['1234'] },
              { name: 'wrong', resources: ['wrong'], policies: ['9999'] },
            ],
          },
        ],
        users: [{ username: 'pia', attributes: { pin: ['1234'] } }],
      },
    });
    const { body: all = [] } = await server.admin.call(api.listAuthorizationServices, { params: { realm } });
    const at = { realm, clientId: all.find((one) => one.clientId === clientId)?.id ?? '' };
    const body = { username: 'pia', permissions: [{ resource: 'right' }, { resource: 'wrong' }] };
    const answer = await server.admin.call(api.evaluateAuthorization, { params: at, body });
    const [right, wrong] = answer.body?.results ?? [];
    expect([right?.decision, wrong?.decision]).toEqual(['deny', 'deny']);
    for (const one of [right, wrong])
      expect(one?.permissions[0]?.policies[0]?.reason).toBe('the attribute pin is hidden from administrators');
  });

  test('goes by the roles of the service account where a client asks for itself', async () => {
    expect(await granted({ clientId: 'robot' })).toEqual(['view']);
    expect(await granted({ clientId: 'shop' })).toEqual([]);
  });

  test('is explained, permission by permission and policy by policy', async () => {
    const answer = await ask({
      username: 'ana',
      clientId: 'shop',
      permissions: [{ resource: 'holiday', scopes: ['edit'] }, { resource: 'gone' }],
    });
    expect(answer).toEqual({
      userId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      username: 'ana',
      clientId: 'shop',
      results: [
        {
          resource: 'holiday',
          scopes: ['edit'],
          decision: 'deny',
          grantedScopes: [],
          reason: 'edit: unanimous: edit denies',
          permissions: [
            {
              name: 'edit',
              scopes: ['edit'],
              decisionStrategy: 'unanimous',
              decision: 'deny',
              reason: 'unanimous: at-work denies, not-zoe permits',
              policies: [
                ['at-work', 'aggregate', 'positive', 'deny', 'unanimous: day permits, office denies, staff permits'],
                ['not-zoe', 'user', 'negative', 'permit', 'is none of the users zoe; negative, so it permits'],
                ['day', 'time', 'positive', 'permit', 'it is monday, 2026-11-23 08:30 in UTC'],
                ['office', 'attribute', 'positive', 'deny', 'the request’s attribute network is not there'],
                ['staff', 'group', 'positive', 'permit', 'has of the groups: /staff'],
              ].map(([name, type, logic, decision, reason]) => ({ name, type, logic, decision, reason })),
            },
          ],
        },
        {
          resource: 'gone',
          scopes: [],
          decision: 'deny',
          grantedScopes: [],
          reason: 'the client has no resource gone',
          permissions: [],
        },
      ],
    });
  });

  test('changes nothing and is told to nobody', async () => {
    const count = async () => (await server.pool.query('select count(*) from event')).rows;
    const before = await count();
    await ask({ username: 'ana', permissions: holiday });
    expect(await count()).toEqual(before);
  });
});

describe('a question', () => {
  test.each<[string, object, string]>([
    ['for nobody', {}, 'username'],
    ['for a user that is not there', { username: 'nobody' }, 'username'],
    [
      'for a user that two names don’t agree on',
      { username: 'bob', userId: '00000000-0000-4000-8000-000000000000' },
      'userId',
    ],
    ['for a client that is not there', { clientId: 'gone' }, 'clientId'],
    ['about nothing', { username: 'bob', permissions: [] }, 'permissions'],
    ['with a field that is none', { username: 'bob', context: { ip: '::1' } }, 'context.ip'],
  ])('%s is refused', async (_, body, path) => {
    await expect(ask({ permissions: holiday, ...body })).rejects.toMatchObject({
      status: 400,
      problem: { errors: [expect.objectContaining({ path })] },
    });
  });

  test('about a user needs the right to read users, as its answer tells of them', async () => {
    const manager = await administrator(server, {
      home: realm,
      target: realm,
      permissions: builtInAdminRoles['client-manager'] ?? [],
    });
    await expect(ask({ username: 'ana', permissions: holiday }, manager)).rejects.toMatchObject({ status: 403 });
    expect((await ask({ clientId: 'robot', permissions: holiday }, manager))?.results).toHaveLength(1);
    const both = await administrator(server, {
      home: realm,
      target: realm,
      permissions: [...(builtInAdminRoles['client-manager'] ?? []), 'users:read'],
    });
    expect((await ask({ username: 'ana', permissions: holiday }, both))?.results).toHaveLength(1);
  });

  test('of a client without authorization services is denied, and of no client is 404', async () => {
    const { rows } = await server.pool.query(`select id from client where realm_id = $1 and client_id = 'shop'`, [
      realm,
    ]);
    const shop = { realm, clientId: rows[0].id };
    const body = { username: 'ana', permissions: holiday };
    const { body: answer } = await server.admin.call(api.evaluateAuthorization, { params: shop, body });
    expect(answer?.results[0]?.decision).toBe('deny');
    const gone = { realm, clientId: '00000000-0000-4000-8000-000000000000' };
    await expect(server.admin.call(api.evaluateAuthorization, { params: gone, body })).rejects.toMatchObject({
      status: 404,
    });
  });
});

describe('a thousand policies', () => {
  test('are written at once, and decide without a query for each', async () => {
    const policies = Array.from({ length: 1000 }, (_, n) => ({
      name: `p${n}`,
      type: 'attribute' as const,
      config: { attribute: 'tier', values: [`${n}`] },
    }));
    const permissions = Array.from({ length: 10 }, (_, n) => ({
      name: `x${n}`,
      resources: ['r'],
      policies: policies.slice(n * 100, n * 100 + 100).map(({ name }) => name),
      decisionStrategy: 'affirmative' as const,
    }));
    await server.admin.call(importRealm, {
      params: { realm },
      body: {
        clients: [{ clientId: 'many' }],
        authorizationServices: [{ clientId: 'many', resources: [{ name: 'r' }], policies, permissions }],
      },
    });
    await server.admin.call(createUser, {
      params: { realm },
      body: { username: 'gold', attributes: { tier: ['999'] } },
    });
    const { body: list = [] } = await server.admin.call(api.listAuthorizationServices, { params: { realm } });
    const many = { realm, clientId: list.find(({ clientId }) => clientId === 'many')?.id ?? '' };
    const statements = await statementsDuring(async () => {
      const { body } = await server.admin.call(api.evaluateAuthorization, {
        params: many,
        body: { username: 'gold', permissions: Array.from({ length: 10 }, () => ({ resource: 'r' })) },
      });
      const [result] = body?.results ?? [];
      expect(result).toMatchObject({ decision: 'deny' });
      expect(result?.permissions.flatMap(({ policies: told }) => told)).toHaveLength(1000);
      expect(result?.permissions.find(({ name }) => name === 'x9')?.decision).toBe('permit');
    });
    expect(statements).toBeLessThan(12);
    await expect(
      server.admin.call(api.evaluateAuthorization, {
        params: many,
        body: { username: 'gold', permissions: Array.from({ length: 100 }, () => ({ resource: 'r' })) },
      }),
    ).rejects.toMatchObject({ status: 413 });
  });
});

/** Statements that are sent meanwhile, by whatever connection. */
async function statementsDuring(work: () => Promise<void>): Promise<number> {
  const sent = vi.spyOn(pg.Client.prototype, 'query');
  await work();
  const count = sent.mock.calls.length;
  sent.mockRestore();
  return count;
}

test('an erased person stands in policies and as an owner by their pseudonym, and their name lets nobody in', async () => {
  const { body: users = [] } = await server.admin.call(listUsers, { params: { realm }, query: { q: 'zoe' } });
  await server.admin.call(eraseUser, { params: { realm, userId: users[0]?.id ?? '' } });
  const { body } = await server.admin.call(api.getAuthorizationService, { params });
  expect(JSON.stringify(body)).not.toMatch(/"zoe"/i);
  const owner = body?.resources[0]?.owner;
  expect(owner).toBeTruthy();
  expect(body?.policies.find(({ name }) => name === 'not-zoe')?.config.users).toEqual([owner]);
  await server.admin.call(createUser, { params: { realm }, body: { username: 'zoe' } });
  expect(await granted({ username: 'zoe' })).toEqual([]);
});
