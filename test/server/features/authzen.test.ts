// The AuthZEN Authorization API 1.0: the Foundation's certification scenario, what gateways ask, and what others try with it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuthorizationServiceDocument } from '../../../server/contract/authorization-services.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser, putUser } from '../../../server/contract/users.ts';
import { basic, makeClient, makeRealm, SECRET } from '../../support/clients.ts';
import { REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { makeUma, protection, protectionToken } from '../../support/uma.ts';

let server: TestServer;
let ids: Record<string, string>;

const status = (values: string[]) => ({ attribute: 'resource.status', source: 'context' as const, values });
/** The fixture of the certification scenario, and routes of a gateway. */
const records: AuthorizationServiceDocument = {
  clientId: 'records',
  settings: { accessApi: 'search', remoteResources: true },
  scopes: ['read', 'write', 'delete', 'GET', 'POST'].map((name) => ({ name })),
  resources: [
    ...['record-1', 'record-2'].map((name) => ({ name, type: 'record', scopes: ['read', 'write', 'delete'] })),
    { name: 'untyped', scopes: ['read'] },
    { name: 'pets', type: 'route', uris: ['/pets', '/pets/{petId}'], scopes: ['GET'] },
    { name: 'pet-admin', type: 'route', uris: ['/pets/admin', '/pets/admin/*'], scopes: ['GET', 'POST'] },
    { name: '/orders/{id}', type: 'route', scopes: ['GET'] },
  ],
  policies: [
    { name: 'both', type: 'user', config: { users: ['alice', 'bob'] } },
    { name: 'alice', type: 'user', config: { users: ['alice'] } },
    { name: 'active', type: 'attribute', logic: 'negative', config: status(['archived']) },
    { name: 'archived', type: 'attribute', config: status(['archived']) },
    { name: 'admin', type: 'attribute', config: { attribute: 'subject.role', source: 'context', values: ['admin'] } },
    { name: 'bob', type: 'user', config: { users: ['bob'] } },
    { name: 'soft', type: 'attribute', config: { attribute: 'action.soft', source: 'context', values: ['true'] } },
    { name: 'alice-active', type: 'aggregate', config: { policies: ['alice', 'active'] } },
    { name: 'admin-archived', type: 'aggregate', config: { policies: ['admin', 'archived'] } },
    { name: 'bob-archived', type: 'aggregate', config: { policies: ['bob', 'archived'] } },
    { name: 'services', type: 'client', config: { clients: ['shop'] } },
  ],
  permissions: [
    { name: 'read', scopes: ['read'], policies: ['both'] },
    {
      name: 'write',
      scopes: ['write'],
      policies: ['alice-active', 'admin-archived', 'bob-archived'],
      decisionStrategy: 'affirmative',
    },
    { name: 'delete', scopes: ['delete'], policies: ['alice', 'soft'] },
    { name: 'pets', resources: ['pets', '/orders/{id}'], policies: ['both'] },
    { name: 'pet-admin', resources: ['pet-admin'], policies: ['alice'] },
  ],
};

beforeAll(async () => {
  server = await startTestServer();
  ids = await makeUma(server);
  for (const clientId of ['records', 'silent', 'deciding'])
    await makeClient(server, REALM, {
      clientId,
      secret: SECRET,
      grantTypes: ['client_credentials'],
      defaultClientScopes: [],
      optionalClientScopes: ['uma_protection'],
    });
  await server.admin.call(importRealm, {
    params: { realm: REALM },
    body: {
      authorizationServices: [
        records,
        { ...records, clientId: 'silent', settings: {} },
        { ...records, clientId: 'deciding', settings: { accessApi: 'decisions' } },
      ],
    },
  });
});
afterAll(() => server?.stop());

async function ask(
  path: string,
  body: unknown,
  {
    as = 'records',
    headers = {},
    realm = REALM,
  }: { as?: string; headers?: Record<string, string>; realm?: string } = {},
) {
  const response = await fetch(`${server.baseUrl}/realms/${realm}/access/v1/${path}`, {
    method: 'POST',
    headers: { authorization: basic(as), 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}
const user = (id: string, properties?: object) => ({ type: 'user', id, ...(properties && { properties }) });
const record = (id: string, properties?: object) => ({ type: 'record', id, ...(properties && { properties }) });
const action = (name: string, properties?: object) => ({ name, ...(properties && { properties }) });
const decision = async (subject: object, name: object, resource: object, more: object = {}) =>
  (await ask('evaluation', { subject, action: name, resource, ...more })).body.decision;

describe('a decision', () => {
  test('is that of the certification scenario, by names and by properties', async () => {
    const archived = record('record-2', { status: 'archived' });
    expect(
      await Promise.all([
        decision(user('alice'), action('read'), record('record-1')),
        decision(user('alice'), action('write'), record('record-1')),
        decision(user('bob'), action('read'), record('record-1')),
        decision(user('bob'), action('write'), record('record-1')),
        decision(user('alice'), action('write'), archived),
        decision(user('bob', { role: 'admin' }), action('write'), archived),
        decision(user('alice'), action('delete', { soft: true }), record('record-1')),
        decision(user('alice'), action('delete', { soft: false }), record('record-1')),
      ]),
    ).toEqual([true, true, true, false, false, true, true, false]);
  });

  test('ignores what it does not know, and repeats itself', async () => {
    const more = {
      context: { time: '2025-06-27T18:03-07:00', nested: { a: 1 } },
      foo: 'bar',
      future: { nested: true },
    };
    for (let nth = 0; nth < 3; nth += 1)
      expect(await decision(user('alice', { team: ['a', 'b'] }), action('read'), record('record-1'), more)).toBe(true);
  });

  test('says no alike to a stranger, an unknown resource, type and action, and a disabled user', async () => {
    const [bob, named] = [ids.bob ?? '', { ...user('bob') }];
    const no = [
      [user('nobody'), action('read'), record('record-1')],
      [user('alice'), action('read'), record('record-9')],
      [user('alice'), action('read'), { type: 'album', id: 'record-1' }],
      [user('alice'), action('print'), record('record-1')],
      [{ type: 'robot', id: 'alice' }, action('read'), record('record-1')],
      // a username is no `sub`, and an id no username
      [{ type: 'identity', id: 'alice' }, action('read'), record('record-1')],
      [user(bob), action('read'), record('record-1')],
    ] as const;
    for (const [subject, name, resource] of no) {
      const { status: code, body } = await ask('evaluation', { subject, action: name, resource });
      expect([code, body]).toEqual([200, { decision: false }]);
    }
    const params = { realm: REALM, userId: bob };
    await server.admin.call(putUser, { params, body: { enabled: false } });
    expect(await decision(named, action('read'), record('record-1'))).toBe(false);
    await server.admin.call(putUser, { params, body: { enabled: true } });
    expect(await decision(named, action('read'), record('record-1'))).toBe(true);
  });

  test('takes a user by the sub of tokens, a client by its clientId, and a resource without a type', async () => {
    expect(await decision({ type: 'identity', id: ids.bob }, action('read'), record('record-1'))).toBe(true);
    expect(await decision(user('alice'), action('read'), { type: 'resource', id: 'untyped' })).toBe(true);
    expect(await decision({ type: 'client', id: 'shop' }, action('read'), record('record-1'))).toBe(false);
  });

  test('is about a registered resource with its shares', async () => {
    const token = await protectionToken(server, 'records');
    const body = { resource_scopes: ['read', 'view'], type: 'record', name: 'mine', owner: 'bob' };
    const { _id: id } = (await protection(server, token, { path: 'resource_set', body })).body;
    expect(await decision(user('bob'), action('view'), record(id))).toBe(true);
    expect(await decision(user('zoe'), action('view'), record(id))).toBe(false);
    expect(await decision(user('bob'), action('view'), { type: 'album', id })).toBe(false);
    await protection(server, token, { path: `resource_set/${id}`, method: 'DELETE' });
  });

  test('is in the audit log with its subject', async () => {
    await decision(user('bob'), action('write'), record('record-1'));
    await expect
      .poll(async () => {
        const query = { type: 'ACCESS_EVALUATED' };
        const { body: events = [] } = await server.admin.call(listEvents, { params: { realm: REALM }, query });
        return events.find(({ data }) => data.action === 'write' && data.resource === 'record-1');
      })
      .toMatchObject({
        clientId: 'records',
        outcome: expect.any(String),
        subject: { type: 'user', name: expect.any(String) },
      });
  });
});

describe('a gateway', () => {
  const route = (id: string, name = 'GET', subject = 'bob') =>
    decision({ type: 'identity', id: ids[subject] ?? '' }, action(name), { type: 'route', id });

  test('names a path, whose most specific route decides', async () => {
    expect(await Promise.all(['/pets', '/pets/7', '/orders/{id}'].map((path) => route(path)))).toEqual([
      true,
      true,
      true,
    ]);
    expect(await route('/pets/admin')).toBe(false);
    expect(await route('/pets/admin/settings')).toBe(false);
    expect(await route('/pets/7', 'POST')).toBe(false);
  });

  test('gets no for a path that two servers could read differently', async () => {
    const paths = [
      '/pets/../pets',
      '/pets//7',
      '/pets/7/',
      '/pets/%2e%2e',
      '/pets/a%2Fb',
      '/pets/7?admin',
      '/pets/',
      'pets/7',
    ];
    for (const path of paths) expect([path, await route(path)]).toEqual([path, false]);
    expect(await decision({ type: 'identity', id: ids.bob }, action('GET'), { type: 'record', id: '/pets' })).toBe(
      false,
    );
  });
});

describe('many decisions', () => {
  const evaluations = async (body: object) => (await ask('evaluations', body)).body.evaluations;

  test('come in their order, each with what it says differently', async () => {
    expect(
      await evaluations({
        subject: user('bob'),
        resource: record('record-1'),
        evaluations: [
          { action: action('read') },
          { action: action('write') },
          { subject: user('alice'), action: action('write') },
        ],
      }),
    ).toEqual([{ decision: true }, { decision: false }, { decision: true }]);
    expect(
      await evaluations({
        subject: user('alice'),
        action: action('write'),
        resource: { type: 'record' },
        evaluations: [
          { resource: { id: 'record-1', properties: { status: 'active' } } },
          { resource: { id: 'record-2', properties: { status: 'archived' } } },
        ],
      }),
    ).toEqual([{ decision: true }, { decision: false }]);
  });

  test('stop where the caller says', async () => {
    const asked = {
      subject: user('bob'),
      resource: record('record-1'),
      evaluations: ['read', 'write', 'read'].map((name) => ({ action: action(name) })),
    };
    const by = async (semantic: string) =>
      (await evaluations({ ...asked, options: { evaluations_semantic: semantic } })).map(
        ({ decision: one }: { decision: boolean }) => one,
      );
    expect(await by('execute_all')).toEqual([true, false, true]);
    expect(await by('deny_on_first_deny')).toEqual([true, false]);
    expect(await by('permit_on_first_permit')).toEqual([true]);
    const refused = await ask('evaluations', { ...asked, options: { evaluations_semantic: 'permit_all' } });
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_request']);
  });

  test('deny an incomplete one by itself, and without a list the body is one', async () => {
    const body = { subject: user('alice'), action: action('read'), resource: record('record-1') };
    const [good, bad] = await evaluations({
      subject: body.subject,
      action: body.action,
      evaluations: [{ resource: body.resource }, {}],
    });
    expect([good, bad.decision, bad.context.error.status]).toEqual([{ decision: true }, false, 400]);
    for (const more of [{}, { evaluations: [] }])
      expect((await ask('evaluations', { ...body, ...more })).body).toEqual({ decision: true });
    const many = Array.from({ length: 201 }, () => ({}));
    expect((await ask('evaluations', { ...body, evaluations: many })).status).toBe(400);
  });
});

describe('a search', () => {
  const results = async (kind: string, body: object) => (await ask(`search/${kind}`, body)).body.results;

  test('finds subjects, resources and actions', async () => {
    const [archived, admin] = [record('record-2', { status: 'archived' }), user('bob', { role: 'admin' })];
    expect(
      await results('subject', { subject: { type: 'user' }, action: action('read'), resource: record('record-1') }),
    ).toEqual(expect.arrayContaining([user('alice'), user('bob')]));
    expect(
      await results('subject', { subject: { type: 'user' }, action: action('write'), resource: archived }),
    ).toContainEqual(user('bob'));
    expect(
      await results('subject', { subject: { type: 'identity' }, action: action('read'), resource: record('record-1') }),
    ).toContainEqual({ type: 'identity', id: ids.bob });
    expect(
      await results('resource', { subject: user('alice'), action: action('read'), resource: { type: 'record' } }),
    ).toEqual([record('record-1'), record('record-2')]);
    expect(await results('action', { subject: user('alice'), resource: record('record-1') })).toEqual([
      action('read'),
      action('write'),
    ]);
    expect(await results('action', { subject: admin, resource: archived })).toContainEqual(action('write'));
  });

  test('is given page by page, and a token of another search is refused', async () => {
    const asked = { subject: user('alice'), action: action('read'), resource: { type: 'record' } };
    const first = (await ask('search/resource', { ...asked, page: { limit: 1 } })).body;
    expect([first.results, first.page.count]).toEqual([[record('record-1')], 1]);
    const token = first.page.next_token;
    expect((await ask('search/resource', { ...asked, page: { token, limit: 1 } })).body.results).toEqual([
      record('record-2'),
    ]);
    for (const wrong of [token, 'e30', '***']) {
      const body = {
        subject: { type: 'user' },
        action: action('read'),
        resource: record('record-1'),
        page: { token: wrong },
      };
      expect((await ask('search/subject', body)).status).toBe(400);
    }
    const seen: string[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const body: object = {
        subject: { type: 'user' },
        action: action('read'),
        resource: record('record-1'),
        page: { token: next, limit: 1 },
      };
      const page: { results: { id: string }[]; page: { next_token: string } } = (await ask('search/subject', body))
        .body;
      seen.push(...page.results.map(({ id }) => id));
      next = page.page.next_token === '' ? undefined : page.page.next_token;
    }
    expect(seen.sort()).toEqual(['alice', 'bob']);
  });
});

test('an identity is the `sub` of tokens where that is an attribute of the user', async () => {
  const params = { realm: REALM };
  const at = { ...params, userId: ids.bob ?? '' };
  await server.admin.call(putUser, { params: at, body: { attributes: { staff: ['s-17'] } } });
  const settings = { subjectStrategy: 'attribute', subjectAttribute: 'staff' } as const;
  await server.admin.call(importRealm, { params, body: { realm: settings } });
  const sub = { type: 'identity', id: 's-17' };
  expect(await decision(sub, action('read'), record('record-1'))).toBe(true);
  const body = { subject: { type: 'identity' }, action: action('read'), resource: record('record-1') };
  expect((await ask('search/subject', body)).body.results).toEqual([sub]);
  await server.admin.call(importRealm, { params, body: { realm: { subjectStrategy: 'public' } } });
});

describe('a caller', () => {
  const asked = { subject: user('alice'), action: action('read'), resource: record('record-1') };

  test('is the client whose services decide, by its secret or by a token for the protection API', async () => {
    const token = await protectionToken(server, 'records');
    expect((await ask('evaluation', asked, { headers: { authorization: `Bearer ${token}` } })).body).toEqual({
      decision: true,
    });
    const refused = [
      { authorization: '' },
      { authorization: `Basic ${Buffer.from('records:wrong').toString('base64')}` },
      { authorization: 'Bearer nothing' },
    ];
    for (const headers of refused) expect((await ask('evaluation', asked, { headers })).status).toBe(401);
  });

  test('asks nothing where its services do not answer', async () => {
    const codes = async (as: string, path: string, body: object = asked) => (await ask(path, body, { as })).status;
    expect(await codes('silent', 'evaluation')).toBe(403);
    expect(await codes('silent', 'evaluations')).toBe(403);
    expect(await codes('deciding', 'evaluation')).toBe(200);
    expect(await codes('deciding', 'search/subject')).toBe(403);
    expect(await codes('deciding', 'search/action')).toBe(403);
  });

  test('asks in its own realm', async () => {
    await makeRealm(server, 'other-realm');
    expect((await ask('evaluation', asked, { realm: 'other-realm' })).status).toBe(401);
    expect((await ask('evaluation', asked, { realm: 'missing' })).status).toBe(404);
  });

  test('gets 400 for anything that is no request, and its request’s id back', async () => {
    const { subject, ...withoutSubject } = asked;
    const bad: unknown[] = [
      withoutSubject,
      { ...asked, action: undefined },
      { ...asked, resource: undefined },
      { ...asked, subject: { id: 'alice' } },
      { ...asked, subject: { type: 'user' } },
      { ...asked, action: {} },
      { ...asked, resource: { type: 'record' } },
      { ...asked, subject: 'alice' },
      { ...asked, action: { name: 123 } },
      { ...asked, subject: { ...subject, id: 'a\0b' } },
      '{',
      '',
    ];
    for (const body of bad) expect([body, (await ask('evaluation', body)).status]).toEqual([body, 400]);
    const form = await ask('evaluation', 'subject=alice', { headers: { 'content-type': 'text/plain' } });
    expect(form.status).toBe(400);
    const { headers } = await ask('evaluation', asked, {
      headers: { 'x-request-id': 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716' },
    });
    expect(headers.get('x-request-id')).toBe('bfe9eb29-ab87-4ca3-be83-a1d5d8305716');
  });
});

test('the metadata names the endpoints, in both places', async () => {
  const at = `${server.baseUrl}/realms/${REALM}`;
  for (const url of [
    `${at}/.well-known/authzen-configuration`,
    `${server.baseUrl}/.well-known/authzen-configuration/realms/${REALM}`,
  ])
    expect(await (await fetch(url)).json()).toEqual({
      policy_decision_point: at,
      access_evaluation_endpoint: `${at}/access/v1/evaluation`,
      access_evaluations_endpoint: `${at}/access/v1/evaluations`,
      search_subject_endpoint: `${at}/access/v1/search/subject`,
      search_resource_endpoint: `${at}/access/v1/search/resource`,
      search_action_endpoint: `${at}/access/v1/search/action`,
    });
  expect((await fetch(`${server.baseUrl}/.well-known/authzen-configuration/realms/missing`)).status).toBe(404);
});

test('a new user is found and decided about at once', async () => {
  const body = { username: 'carol', password: 'a password of carol' };
  await server.admin.call(createUser, { params: { realm: REALM }, body });
  expect(await decision(user('carol'), action('read'), record('record-1'))).toBe(false);
});
