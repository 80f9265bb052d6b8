import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { putClientAdminRoles, putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { createAdminRole } from '../../../server/contract/admin-roles.ts';
import * as api from '../../../server/contract/agents.ts';
import type { Client, ServerProblem } from '../../../server/contract/client.ts';
import { getClient, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { exportRealm, importRealm } from '../../../server/contract/transfer.ts';
import { createUser, deleteUser, putUser } from '../../../server/contract/users.ts';
import { basic, claimsIn, makeClient, post, SECRET } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let clock = 0;
let n = 0;
let realm = '';
let params = { realm };
let ownerId = '';
const PASSWORD = 'a long enough password';
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(Date.now() + clock) });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  clock = 0;
  realm = `agents-${++n}`;
  params = { realm };
  await server.admin.call(createRealm, { body: { realm } });
  ownerId = (await server.admin.call(createUser, { params, body: { username: 'ana', email: 'ana@example.com' } })).body!
    .id;
  await makeClient(server, realm, {
    clientId: 'bot',
    secret: SECRET,
    grantTypes: ['client_credentials'],
    optionalClientScopes: ['phone'],
  });
});

const make = async (more: object = {}) =>
  (
    await server.admin.call(api.createAgent, {
      params,
      body: { name: 'bot', owner: 'ana', clientId: 'bot', scopes: ['email'], ...more },
    })
  ).body!;
const at = (id: string) => ({ params: { ...params, id } });
const activate = async (id: string) => (await server.admin.call(api.activateAgent, at(id))).body!;
const read = async (id: string) => (await server.admin.call(api.getAgent, at(id))).body!;
const active = async (more: object = {}) => activate((await make(more)).id);
const problem = (work: Promise<unknown>): Promise<ServerProblem> =>
  work.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: ServerProblem) => error,
  );
const told = async (work: Promise<unknown>) => {
  const { status, message } = await problem(work);
  return [status, message];
};
const token = (form: Record<string, string> = {}) =>
  post(server, realm, 'token', { grant_type: 'client_credentials', ...form }, { authorization: basic('bot') });
const introspected = async (of: unknown) => {
  await makeClient(server, realm, { clientId: 'api', secret: SECRET }).catch(() => {});
  const issuer = `${server.baseUrl}/realms/${realm}`;
  await server.admin.call(importRealm, {
    params,
    query: { manager: 'test', force: 'true' },
    body: { clients: [{ clientId: 'api', allowedResources: [issuer] }] },
  });
  return (await post(server, realm, 'introspect', { token: String(of) }, { authorization: basic('api') })).body.active;
};
const eventsOf = async (name: string) => {
  const { body = [] } = await server.admin.call(listEvents, { params, query: { limit: 1000 } });
  return body
    .filter(({ type, subject }) => subject?.type === 'agent' && subject.name === name && type.startsWith('AGENT_'))
    .reverse();
};

describe('an agent’s client', () => {
  test('gets tokens while the agent is active, and none before or after', async () => {
    const { id, status } = await make();
    expect(status).toBe('draft');
    expect((await token()).body.error).toBe('invalid_client');
    expect(await activate(id)).toMatchObject({ status: 'active', reviewedAt: expect.any(Number) });
    const { body: issued } = await token();
    expect(claimsIn(issued.access_token)).toMatchObject({ sub: 'bot', client_id: 'bot' });
    expect(await introspected(issued.access_token)).toBe(true);
    await server.admin.call(api.suspendAgent, at(id));
    expect((await token()).body.error).toBe('invalid_client');
    expect(await introspected(issued.access_token)).toBe(false);
    await activate(id);
    expect((await token()).status).toBe(200);
    await server.admin.call(api.revokeAgent, at(id));
    expect((await token()).body.error).toBe('invalid_client');
    expect((await eventsOf('bot')).map(({ type }) => type)).toEqual([
      'AGENT_CREATED',
      'AGENT_ACTIVATED',
      'AGENT_SUSPENDED',
      'AGENT_ACTIVATED',
      'AGENT_REVOKED',
    ]);
  });

  test('has the agent’s scopes of its own, and no others', async () => {
    await active({ scopes: ['email', 'phone', 'address'] });
    expect((await token({ scope: 'phone' })).body.scope).toBe('email phone');
    expect((await token({ scope: 'address' })).body.error).toBe('invalid_scope');
    const plain = await server.admin.call(api.listAgents, { params });
    await server.admin.call(api.putAgent, { ...at(plain.body![0]!.id), body: { scopes: [] } });
    expect((await token()).body).not.toHaveProperty('scope');
  });

  test('gets none from the moment at which the agent ends', async () => {
    const { id } = await active({ expiresAt: Date.now() + 600_000 });
    expect((await token()).status).toBe(200);
    clock = 601_000;
    expect((await token()).body.error).toBe('invalid_client');
    await server.admin.call(api.suspendAgent, at(id));
    expect(await told(activate(id))).toEqual([409, 'The agent bot can’t act: it has expired']);
  });

  test('is its own: no other agent has it, and it stays', async () => {
    const { id } = await make();
    expect((await problem(make({ name: 'other' }))).problem?.errors).toEqual([
      { path: 'clientId', message: 'bot belongs to the agent bot already' },
    ]);
    await makeClient(server, realm, { clientId: 'another' });
    const moved = server.admin.call(api.putAgent, { ...at(id), body: { clientId: 'another' } });
    expect((await problem(moved)).problem?.errors).toEqual([
      { path: 'clientId', message: 'stays bot: make another agent instead' },
    ]);
  });

  test('is disabled with the agent’s end, so that nothing goes on without anybody who answers for it', async () => {
    const { id } = await active();
    await server.admin.call(api.deleteAgent, at(id));
    expect((await token()).body.error).toBe('invalid_client');
    const { body: events = [] } = await server.admin.call(listEvents, { params, query: { type: 'CLIENT_UPDATED' } });
    expect(events[0]).toMatchObject({ clientId: 'bot', data: { fields: ['enabled'], reason: 'agent-deleted' } });
  });

  test('says when it was used last, by the audit log', async () => {
    const { id } = await active();
    expect((await read(id)).lastUsedAt).toBeNull();
    const before = Date.now();
    await token();
    await expect.poll(async () => (await read(id)).lastUsedAt ?? 0).toBeGreaterThanOrEqual(before - 1000);
    const { body: events = [] } = await server.admin.call(listEvents, { params, query: { type: 'TOKEN_ISSUED' } });
    expect(events[0]).toMatchObject({ actor: { type: 'agent', id, name: 'bot' }, clientId: 'bot' });
  });
});

describe('a move', () => {
  test.each<[string, string[], keyof typeof routes, string]>([
    ['suspended', [], 'suspend', 'The agent bot is draft'],
    ['reviewed', [], 'review', 'The agent bot is draft'],
    ['activated', ['activate'], 'activate', 'The agent bot is active'],
    ['suspended', ['activate', 'suspend'], 'suspend', 'The agent bot is suspended'],
    ['activated', ['revoke'], 'activate', 'The agent bot is revoked'],
    ['suspended', ['revoke'], 'suspend', 'The agent bot is revoked'],
    ['revoked', ['activate', 'revoke'], 'revoke', 'The agent bot is revoked'],
  ])('that its state forbids is refused: %s after %j', async (_what, before, move, message) => {
    const { id } = await make();
    for (const one of before as (keyof typeof routes)[]) await server.admin.call(routes[one], at(id));
    expect(await told(server.admin.call(routes[move], at(id)))).toEqual([409, message]);
  });
  const routes = {
    activate: api.activateAgent,
    suspend: api.suspendAgent,
    revoke: api.revokeAgent,
    review: api.reviewAgent,
  };

  test('to active needs an owner who is enabled', async () => {
    const { id } = await make({ owner: null });
    expect(await told(activate(id))).toEqual([409, 'The agent bot can’t act: it has no owner']);
    await server.admin.call(putUser, { params: { ...params, userId: ownerId }, body: { enabled: false } });
    await server.admin.call(api.putAgent, { ...at(id), body: { owner: 'ana' } });
    expect(await told(activate(id))).toEqual([409, 'The agent bot can’t act: its owner is disabled']);
  });

  test('names what is there: an unknown owner or client is refused by its field', async () => {
    expect((await problem(make({ owner: 'nobody' }))).problem?.errors).toMatchObject([
      { path: 'owner', message: 'there is no user nobody' },
    ]);
    expect((await problem(make({ clientId: 'nothing' }))).problem?.errors).toMatchObject([{ path: 'clientId' }]);
  });
});

describe('an owner who goes', () => {
  const reasonOf = async () => (await eventsOf('bot')).at(-1)?.data.reason;

  test.each<[string, () => Promise<unknown>, string[], string]>([
    [
      'disabled',
      () => server.admin.call(putUser, { params: { ...params, userId: ownerId }, body: { enabled: false } }),
      ['owner-disabled'],
      'owner-disabled',
    ],
    [
      'deleted',
      () => server.admin.call(deleteUser, { params: { ...params, userId: ownerId } }),
      ['owner-gone'],
      'owner-deleted',
    ],
    [
      'erased',
      () => server.admin.call(eraseUser, { params: { ...params, userId: ownerId } }),
      ['owner-gone'],
      'owner-deleted',
    ],
  ])('suspends what they answered for: %s', async (_how, go, reasons, cause) => {
    const { id } = await active();
    await go();
    expect((await token()).body.error).toBe('invalid_client');
    expect(await read(id)).toMatchObject({ status: 'suspended' });
    expect(await reasonOf()).toBe(cause);
    const { body } = await server.admin.call(api.listAgentsInReview, { params });
    expect(body).toMatchObject([{ name: 'bot', reasons }]);
    await server.admin.call(api.revokeAgent, at(id));
    expect((await server.admin.call(api.listAgentsInReview, { params })).body).toEqual([]);
  });

  test('keeps their agents by another name, and leaves them where somebody else takes over', async () => {
    const { id } = await active();
    await server.admin.call(putUser, { params: { ...params, userId: ownerId }, body: { username: 'anna' } });
    expect(await read(id)).toMatchObject({ owner: 'anna', status: 'active' });
    await server.admin.call(createUser, { params, body: { username: 'ben' } });
    await server.admin.call(api.putAgent, { ...at(id), body: { owner: 'ben' } });
    await server.admin.call(deleteUser, { params: { ...params, userId: ownerId } });
    expect((await token()).status).toBe(200);
  });
});

describe('rights', () => {
  const administrator = async (...permissions: ('agents:read' | 'agents:write' | 'users:read')[]): Promise<Client> => {
    const body = { username: 'boss', password: PASSWORD };
    const { body: boss } = await server.admin.call(createUser, { params, body });
    await server.admin.call(createAdminRole, { params, body: { name: 'agents', permissions } });
    const grants = [{ role: 'agents', realm }];
    await server.admin.call(putUserAdminRoles, { params: { ...params, userId: boss!.id }, body: { grants } });
    return server.signIn({ realm, username: 'boss', password: PASSWORD });
  };
  const strengthen = async () => {
    const { body } = await server.admin.call(exportRealm, { params });
    expect(body?.clients?.some(({ clientId }) => clientId === 'bot')).toBe(true);
    const { rows } = await server.pool.query("select id from client where realm_id = $1 and client_id = 'bot'", [
      realm,
    ]);
    const grants = [{ role: 'realm-admin', realm }];
    await server.admin.call(putClientAdminRoles, { params: { ...params, id: rows[0].id }, body: { grants } });
  };

  test('nobody makes, moves or ends an agent whose client holds more than they', async () => {
    const { id } = await make();
    await strengthen();
    const boss = await administrator('agents:read', 'agents:write', 'users:read');
    for (const work of [
      () => boss.call(api.activateAgent, at(id)),
      () => boss.call(api.revokeAgent, at(id)),
      () => boss.call(api.putAgent, { ...at(id), body: { scopes: ['phone'] } }),
      () => boss.call(api.deleteAgent, at(id)),
    ])
      expect((await problem(work())).problem?.type).toBe('urn:svc:problem:privilege-escalation');
  });

  test('who may not read users may not try names as owners', async () => {
    const boss = await administrator('agents:read', 'agents:write');
    const body = { name: 'other' };
    expect((await boss.call(api.createAgent, { params, body })).status).toBe(201);
    for (const owner of ['ana', 'nobody'])
      expect((await problem(boss.call(api.createAgent, { params, body: { name: 'more', owner } }))).status).toBe(403);
  });

  test('an active agent administers by its client’s roles, under its own name, and a stopped one is nobody', async () => {
    const { id } = await active();
    await strengthen();
    const resource = `${server.baseUrl}/admin`;
    const bearer = `Bearer ${(await token({ resource })).body.access_token}`;
    const call = (path: string, init: RequestInit = {}) =>
      fetch(`${server.baseUrl}${path}`, {
        ...init,
        headers: { authorization: bearer, 'content-type': 'application/json' },
      });
    expect(await (await call('/admin/session')).json()).toMatchObject({ type: 'agent', name: 'bot', realm });
    const body = JSON.stringify({ name: 'made-by-bot' });
    expect((await call(`/admin/realms/${realm}/groups`, { method: 'POST', body })).status).toBe(201);
    const { body: events = [] } = await server.admin.call(listEvents, { params, query: { type: 'GROUP_CREATED' } });
    expect(events[0]?.actor).toEqual({ type: 'agent', id, name: 'bot' });
    await server.admin.call(api.suspendAgent, at(id));
    expect((await call('/admin/session')).status).toBe(401);
  });
});

describe('in a document', () => {
  const apply = (agents: object[]) =>
    server.admin.call(importRealm, { params, query: { manager: 'git' }, body: { agents } as never });

  test('an agent is declared without its state, which stays as people set it', async () => {
    const { id } = await active();
    await apply([{ name: 'bot', purpose: 'Reports', scopes: ['phone'] }]);
    expect(await read(id)).toMatchObject({ status: 'active', owner: 'ana', purpose: 'Reports', scopes: ['phone'] });
    await apply([{ name: 'new', clientId: 'bot' }]).then(
      () => expect.unreachable(),
      ({ problem: refused }: ServerProblem) => expect(refused?.errors).toMatchObject([{ path: 'agents[0].clientId' }]),
    );
    await apply([{ name: 'bot' }, { name: 'new' }]);
    const { body } = await server.admin.call(api.listAgents, { params, query: { q: 'new' } });
    expect(body).toMatchObject([{ status: 'draft', owner: null }]);
  });

  test('all agents come as they are in a document with who owns them, and as suspended where nobody does', async () => {
    const { id } = await active();
    for (const name of ['paused', 'over']) await activate((await make({ name, clientId: null })).id);
    const { body: all = [] } = await server.admin.call(api.listAgents, { params });
    const idOf = (name: string) => all.find((one) => one.name === name)?.id ?? '';
    await server.admin.call(api.suspendAgent, at(idOf('paused')));
    await server.admin.call(api.revokeAgent, at(idOf('over')));
    await make({ name: 'new', clientId: null });
    expect((await read(id)).status).toBe('active');
    const { body: whole } = await server.admin.call(exportRealm, { params });
    const { body: alone } = await server.admin.call(exportRealm, { params, query: { users: 'false' } });
    const statesIn = async (into: string, document: typeof whole) => {
      // No secret is exported.
      const clients = document?.clients?.map((client) =>
        client.clientId === 'bot' ? { ...client, secret: SECRET } : client,
      );
      await server.admin.call(importRealm, {
        params: { realm: into },
        query: {},
        body: { ...document, clients } as never,
      });
      const { body: there = [] } = await server.admin.call(api.listAgents, { params: { realm: into } });
      return Object.fromEntries(there.map(({ name, status }) => [name, status]));
    };
    const states = { bot: 'active', new: 'draft', over: 'revoked', paused: 'suspended' };
    expect(await statesIn(`${realm}-moved`, whole)).toEqual(states);
    const { body: moved } = await server.admin.call(exportRealm, { params: { realm: `${realm}-moved` } });
    expect(moved?.agents).toEqual(whole?.agents);
    expect(await statesIn(`${realm}-alone`, alone)).toEqual({ ...states, bot: 'suspended' });
  });

  test('a document stops an agent, and lets none act that somebody stopped', async () => {
    const { id } = await active();
    const plans = async (status: string) => (await apply([{ name: 'bot', status }])).body?.changes.length;
    expect([await plans('active'), await plans('draft'), (await read(id)).status]).toEqual([0, 0, 'active']);
    expect([await plans('suspended'), (await read(id)).status]).toEqual([1, 'suspended']);
    expect((await token()).body.error).toBeDefined();
    expect([await plans('active'), (await read(id)).status]).toEqual([0, 'suspended']);
    expect([await plans('revoked'), (await read(id)).status]).toEqual([1, 'revoked']);
    for (const status of ['active', 'suspended', 'draft']) expect(await plans(status), status).toBe(0);
    expect((await read(id)).status).toBe('revoked');
    const types = (await server.admin.call(listEvents, { params, query: { limit: 5 } })).body?.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['AGENT_SUSPENDED', 'AGENT_REVOKED']));
  });

  test('a client that an agent acts as is kept from pruning, and a renamed one stays its own', async () => {
    const { id } = await active();
    const { rows } = await server.pool.query("select id from client where realm_id = $1 and client_id = 'bot'", [
      realm,
    ]);
    await server.admin.call(putClient, { params: { ...params, id: rows[0].id }, body: { clientId: 'robot' } });
    expect(await read(id)).toMatchObject({ clientId: 'robot' });
    expect((await server.admin.call(getClient, { params: { ...params, id: rows[0].id } })).body?.clientId).toBe(
      'robot',
    );
  });
});
