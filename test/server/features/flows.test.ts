import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProblem } from '../../../server/contract/client.ts';
import { createClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import * as api from '../../../server/contract/flows.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { getSettings, putSettings } from '../../../server/contract/settings.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let made = 0;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

async function freshRealm(): Promise<string> {
  made += 1;
  await server.admin.call(createRealm, { body: { realm: `f${made}` } });
  return `f${made}`;
}
async function flow(realm: string, alias = 'browser') {
  const answer = await server.admin.call(api.getFlow, { params: { realm, alias } });
  if (!answer.body?.executions) throw new Error('no flow');
  return { ...answer.body, executions: answer.body.executions, etag: answer.etag };
}
async function problem(call: Promise<unknown>): Promise<ServerProblem> {
  const error = await call.then(
    () => undefined,
    (e: unknown) => e,
  );
  if (error instanceof ServerProblem) return error;
  throw new Error('it was not refused');
}
const put = (realm: string, alias: string, executions: api.ExecutionInput[]) =>
  server.admin.call(api.putFlow, { params: { realm, alias }, body: { executions } });
const countOf = async (realm: string) =>
  (await server.admin.call(listEvents, { params: { realm }, query: { limit: 1000 } })).body?.length;

test('a realm is seeded with the built-in flow, and lists show no executions', async () => {
  const realm = await freshRealm();
  const { body } = await server.admin.call(api.listFlows, { params: { realm } });
  expect(body).toEqual([{ realmId: realm, alias: 'browser', builtIn: true }]);
  const { executions } = await flow(realm);
  const [password, second, mfa, ...others] = executions;
  const stepUp = others.find(({ name }) => name === 'Step-up at risk');
  const under = (parent: typeof second) =>
    others
      .filter(({ parentId }) => parentId === parent?.executionId)
      .map((e) => `${e.requirement} ${e.authenticatorId}`);
  const theirs = ['otp', 'webauthn', 'push', 'recovery-codes'].map((id) => `ALTERNATIVE ${id}`);
  expect(password).toMatchObject({ authenticatorId: 'username-password', requirement: 'REQUIRED', priority: 10 });
  expect(second).toMatchObject({ authenticatorId: null, requirement: 'CONDITIONAL', parentId: null });
  expect(mfa).toMatchObject({ authenticatorId: 'mfa-enabled', condition: true, parentId: second?.executionId });
  expect(under(second)).toEqual(theirs);
  expect(under(stepUp)).toEqual(['REQUIRED risk', ...theirs]);
});

test('the registry names what works here', async () => {
  const realm = await freshRealm();
  const { body } = await server.admin.call(api.listAuthenticators, { params: { realm } });
  expect(body).toContainEqual({
    id: 'otp',
    displayName: expect.any(String),
    factorClass: 'POSSESSION',
    levelOfAssurance: 2,
    category: 'METHOD',
    configSchema: expect.objectContaining({ type: 'object' }),
  });
  expect(body?.find((a) => a.id === 'risk')).toMatchObject({
    factorClass: 'NONE',
    levelOfAssurance: 0,
    category: 'CONDITION',
  });
  expect(body?.find((a) => a.id === 'level-of-assurance')?.configSchema).toMatchObject({
    properties: { minimumLevel: { type: 'integer', minimum: 1 } },
    required: ['minimumLevel'],
  });
  expect(body?.map((a) => a.id).toSorted()).toEqual([
    'attribute',
    'client',
    'confirm-email',
    'create-account',
    'device-known',
    'email-otp',
    'group',
    'idp-redirect',
    'level-of-assurance',
    'link-email',
    'link-password',
    'magic-link',
    'mfa-enabled',
    'network',
    'otp',
    'push',
    'qr',
    'recovery-codes',
    'review-profile',
    'risk',
    'role',
    'sms-otp',
    'username-password',
    'webauthn',
  ]);
});

test('what GET answered can be PUT back: nothing changes, nothing is audited', async () => {
  const realm = await freshRealm();
  const before = await flow(realm);
  const events = await countOf(realm);
  const { etag, ...body } = before;
  const { body: after } = await server.admin.call(api.putFlow, { params: { realm, alias: 'browser' }, body });
  expect(after).toEqual(body);
  expect(await countOf(realm)).toBe(events);
});

test('a clone is a copy with ids of its own, an empty flow is empty and can be put back', async () => {
  const realm = await freshRealm();
  await server.admin.call(api.createFlow, { params: { realm }, body: { alias: 'copy', copyFromAlias: 'browser' } });
  await server.admin.call(api.createFlow, { params: { realm }, body: { alias: 'empty' } });
  const [source, copy] = [await flow(realm), await flow(realm, 'copy')];
  expect(copy.builtIn).toBe(false);
  expect(copy.executions.map((e) => e.authenticatorId)).toEqual(source.executions.map((e) => e.authenticatorId));
  const ids = new Set(source.executions.map((e) => e.executionId));
  expect(copy.executions.some((e) => ids.has(e.executionId) || ids.has(e.parentId ?? ''))).toBe(false);
  expect((await put(realm, 'empty', [])).body?.executions).toEqual([]);
  const taken = server.admin.call(api.createFlow, { params: { realm }, body: { alias: 'copy' } });
  expect((await problem(taken)).status).toBe(409);
  const missing = server.admin.call(api.createFlow, { params: { realm }, body: { alias: 'x', copyFromAlias: 'none' } });
  expect((await problem(missing)).status).toBe(404);
});

test('a nested tree is saved flat, ids that are sent are kept and others assigned', async () => {
  const realm = await freshRealm();
  await server.admin.call(api.createFlow, { params: { realm }, body: { alias: 'mine' } });
  const kept = '6f1f6c8e-7f3a-4a53-9d0e-0f4e1f0f0001';
  const { body } = await put(realm, 'mine', [
    { executionId: kept, authenticatorId: 'username-password', requirement: 'REQUIRED' },
    {
      name: 'Second',
      requirement: 'CONDITIONAL',
      executions: [
        { authenticatorId: 'risk', requirement: 'REQUIRED', config: { minimumBand: 'medium' } },
        { authenticatorId: 'otp', requirement: 'REQUIRED' },
      ],
    },
  ]);
  const rows = body?.executions ?? [];
  expect(rows[0]?.executionId).toBe(kept);
  expect(rows.map((r) => [r.authenticatorId, r.priority, r.condition])).toEqual([
    ['username-password', 10, false],
    [null, 20, false],
    ['risk', 10, true],
    ['otp', 20, false],
  ]);
  expect(rows[2]?.parentId).toBe(rows[1]?.executionId);
  // The rows of another flow, ids and all, are fine here too.
  const browser = await flow(realm);
  expect((await put(realm, 'mine', browser.executions)).body?.executions).toEqual(browser.executions);
});

const password = { authenticatorId: 'username-password', requirement: 'REQUIRED' } as const;
const id = (n: number) => `6f1f6c8e-7f3a-4a53-9d0e-0f4e1f0f000${n}`;
const unsound: [string, api.ExecutionInput[], string, RegExp][] = [
  ['no method', [{ requirement: 'REQUIRED', executions: [] }], 'executions[0]', /never authenticate/],
  ['nothing but disabled', [{ ...password, requirement: 'DISABLED' }], 'executions[0]', /never authenticate/],
  [
    'a code before anybody is known',
    [{ authenticatorId: 'otp', requirement: 'REQUIRED' }, password],
    'executions[0]',
    /before anybody/,
  ],
  [
    'an unknown authenticator',
    [password, { authenticatorId: 'magic', requirement: 'REQUIRED' }],
    'executions[1].authenticatorId',
    /magic/,
  ],
  [
    'a condition at the top',
    [password, { authenticatorId: 'risk', requirement: 'REQUIRED' }],
    'executions[1].parentId',
    /CONDITIONAL/,
  ],
  ['a condition flag on a method', [{ ...password, condition: true }], 'executions[0].condition', /not a condition/],
  ['a bad config', [{ ...password, config: { colour: 'red' } }], 'executions[0].config', /colour/],
  [
    'a bad config in a container',
    [
      password,
      {
        requirement: 'CONDITIONAL',
        executions: [{ authenticatorId: 'risk', requirement: 'REQUIRED', config: { minimumBand: 'purple' } }],
      },
    ],
    'executions[1].executions[0].config.minimumBand',
    /./,
  ],
  [
    'a cycle',
    [
      password,
      { executionId: id(1), parentId: id(2), requirement: 'REQUIRED' },
      { executionId: id(2), parentId: id(1), requirement: 'REQUIRED' },
    ],
    'executions[1].parentId',
    /cycle/,
  ],
  ['a missing parent', [{ ...password, parentId: id(1) }], 'executions[0].parentId', /no execution/],
  [
    'a child of a method',
    [
      { ...password, executionId: id(1) },
      { ...password, parentId: id(1) },
    ],
    'executions[1].parentId',
    /not a container/,
  ],
  [
    'the same id twice',
    [
      { ...password, executionId: id(1) },
      { ...password, executionId: id(1) },
    ],
    'executions[1].executionId',
    /twice/,
  ],
];
test.each(unsound)('a tree with %s is refused and named', async (_, executions, path, words) => {
  const realm = await freshRealm();
  const before = await flow(realm);
  const refused = await problem(put(realm, 'browser', executions));
  expect(refused.status).toBe(400);
  expect(refused.problem?.errors?.[0]?.path).toBe(path);
  expect(refused.problem?.errors?.[0]?.message).toMatch(words);
  expect((await flow(realm)).executions).toEqual(before.executions);
});

test('renaming takes the bindings along', async () => {
  const realm = await freshRealm();
  const body = { alias: 'mine', copyFromAlias: 'browser' };
  await server.admin.call(api.createFlow, { params: { realm }, body });
  await server.admin.call(putSettings, { params: { realm }, body: { browserFlow: 'mine' } });
  await server.admin.call(createClient, { params: { realm }, body: { clientId: 'app', flowOverride: 'mine' } });
  const renamed = await server.admin.call(api.renameFlow, {
    params: { realm, alias: 'mine' },
    body: { alias: 'ours' },
  });
  expect(renamed.body?.alias).toBe('ours');
  expect(renamed.body?.executions?.length).toBe((await flow(realm)).executions.length);
  expect((await server.admin.call(getSettings, { params: { realm } })).body?.browserFlow).toBe('ours');
  const { rows } = await server.pool.query('select flow_override from client where realm_id = $1 and client_id = $2', [
    realm,
    'app',
  ]);
  expect(rows).toEqual([{ flow_override: 'ours' }]);
  expect((await server.admin.call(api.getBrowserFlow, { params: { realm } })).body?.alias).toBe('ours');
  expect((await problem(flow(realm, 'mine'))).status).toBe(404);
});

test('the built-in flow is neither renamed nor deleted, a bound one not deleted, another is', async () => {
  const realm = await freshRealm();
  const remove = (alias: string) => server.admin.call(api.deleteFlow, { params: { realm, alias } });
  const types = [];
  types.push((await problem(remove('browser'))).problem?.type);
  const rename = server.admin.call(api.renameFlow, { params: { realm, alias: 'browser' }, body: { alias: 'x' } });
  types.push((await problem(rename)).problem?.type);
  await server.admin.call(api.createFlow, { params: { realm }, body: { alias: 'mine', copyFromAlias: 'browser' } });
  await server.admin.call(createClient, { params: { realm }, body: { clientId: 'app', flowOverride: 'mine' } });
  types.push((await problem(remove('mine'))).problem?.type);
  expect(types).toEqual([
    'urn:svc:problem:flow-built-in',
    'urn:svc:problem:flow-built-in',
    'urn:svc:problem:flow-in-use',
  ]);
  await server.admin.call(api.createFlow, { params: { realm }, body: { alias: 'free' } });
  expect((await remove('free')).status).toBe(204);
});

test('the bound flow is read and saved as /flow; a stale write is refused', async () => {
  const realm = await freshRealm();
  const { executions, etag } = await flow(realm);
  const fewer = executions.filter((e) => e.authenticatorId === 'username-password');
  const saved = await server.admin.call(api.putBrowserFlow, { params: { realm }, body: { executions: fewer } });
  expect(saved.body?.executions?.length).toBe(1);
  const stale = server.admin.call(api.putFlow, {
    params: { realm, alias: 'browser' },
    body: { executions },
    headers: { 'if-match': etag ?? '' },
  });
  expect((await problem(stale)).status).toBe(412);
});

test('a flow of one realm is not there for another', async () => {
  const [here, there] = [await freshRealm(), await freshRealm()];
  await server.admin.call(api.createFlow, { params: { realm: here }, body: { alias: 'mine' } });
  expect((await problem(flow(there, 'mine'))).status).toBe(404);
  const copy = server.admin.call(api.createFlow, {
    params: { realm: there },
    body: { alias: 'x', copyFromAlias: 'mine' },
  });
  expect((await problem(copy)).status).toBe(404);
});
