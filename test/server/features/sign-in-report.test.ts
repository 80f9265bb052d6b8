// Owns: the report on why a user can't sign in, and the simulation of a sign-in: that they say what a sign-in then does, and who may ask.
// Does not own: the engine's cases (engine.unit.test.ts), locks (users.access.test.ts), the score (risk.unit.test.ts).
// Implements: decisions "Sign-in report".
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { z } from 'zod';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import type { Client } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { putFlow } from '../../../server/contract/flows.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import {
  getSignInReport,
  simulateSignIn,
  simulateUnsavedFlow,
  type UnsavedSituation,
} from '../../../server/contract/sign-in-report.ts';
import { importRealm, type RealmDocument } from '../../../server/contract/transfer.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { listUsers, putRequiredActions, putUser, setPassword } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { administrator } from '../../support/administrators.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { createPerson } from '../../support/person.ts';
import { asOperator, realmctl, withOperator } from '../../support/realmctl.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let alice = '';
let made = 0;
beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `report${made}`;
  [alice = ''] = await makePeopledRealm(server, realm, ['alice']);
});

const settings = (body: object) => server.admin.call(putSettings, { params: { realm }, body });
async function report(query: Record<string, unknown> = {}, by: Client = server.admin, userId = alice) {
  const { body } = await by.call(getSignInReport, { params: { realm, userId }, query });
  if (!body) throw new Error('no report');
  return body;
}
async function simulate(query: Record<string, unknown> = {}, by: Client = server.admin) {
  const { body: answer } = await by.call(simulateSignIn, { params: { realm, userId: alice }, query });
  if (!answer) throw new Error('no simulation');
  return answer;
}
async function enter(password = PASSWORD) {
  const person = createPerson(server.baseUrl);
  return person.fill(await person.open(`/realms/${realm}/login`), { username: 'alice', password });
}
const stepsOf = ({ steps }: { steps: { authenticatorId: string | null; action: string | null; kind: string }[] }) =>
  steps.map(({ authenticatorId, action, kind }) => `${kind} ${action ?? authenticatorId}`);
const forbidden = { status: 403 };

test('nothing stands in the way of a user with a password, and the steps are those of a sign-in', async () => {
  expect(await report()).toMatchObject({
    username: 'alice',
    canSignIn: true,
    obstacles: [],
    enabled: true,
    lock: { locked: false, message: 'Not locked' },
    requiredActions: [],
    path: { flow: 'browser', boundBy: 'realm', ends: 'signed-in', level: 1 },
    attempts: [],
  });
  expect(stepsOf((await report()).path)).toEqual(['proof username-password']);
  expect((await enter()).url).toContain('/account');
});

test('wrong passwords are listed with their reasons in words, then the lock by its rule and its end', async () => {
  await settings({ lockoutEnabled: true, maxLoginFailures: 2 });
  await enter('wrong wrong wrong');
  const once = await report();
  expect(once).toMatchObject({ canSignIn: true, lock: { failures: 1 } });
  expect(once.attempts).toMatchObject([{ reason: 'wrong', message: 'The password was wrong', outcome: 'failure' }]);
  await enter('wrong wrong wrong');
  await enter();
  const locked = await report();
  expect(locked).toMatchObject({
    canSignIn: false,
    obstacles: [
      { code: 'locked', message: expect.stringMatching(/^Locked until \S+Z: \d+ failed attempts in a row$/) },
    ],
    lock: { locked: true, rule: 'failed-attempts', lockedUntil: expect.any(Number) },
  });
  expect(locked.attempts?.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
    'LOGIN_FAILURE locked',
    'LOGIN_FAILURE wrong',
    'USER_LOCKED null',
    'LOGIN_FAILURE wrong',
  ]);
  expect((await report({ attempts: 1 })).attempts).toHaveLength(1);
});

test('a disabled user, one without a password, and required actions are told', async () => {
  const params = { realm, userId: alice };
  await server.admin.call(putUser, { params, body: { enabled: false } });
  expect((await report()).obstacles).toMatchObject([{ code: 'disabled' }]);
  await server.admin.call(putUser, { params, body: { enabled: true } });
  await server.admin.call(putRequiredActions, { params, body: { requiredActions: ['UPDATE_PROFILE'] } });
  await settings({ termsUrl: 'https://acme.example.com/terms', termsVersion: '2' });
  const { canSignIn, requiredActions, path } = await report();
  expect({ canSignIn, requiredActions }).toEqual({ canSignIn: true, requiredActions: ['UPDATE_PROFILE', 'TERMS'] });
  expect(stepsOf(path)).toEqual(['proof username-password', 'action UPDATE_PROFILE', 'action TERMS']);

  await server.admin.call(importRealm, { params: { realm }, body: { users: [{ username: 'bare' }] } });
  const { body: [bare] = [] } = await server.admin.call(listUsers, { params: { realm }, query: { q: 'bare' } });
  expect(await report({}, server.admin, bare?.id)).toMatchObject({
    canSignIn: false,
    obstacles: [{ code: 'no-way', message: 'The user has no password that can be used' }],
    path: { ends: 'stuck', level: null },
  });
});

test('a way is offered beside a step only where the realm has it: an identity provider on the page, mail', async () => {
  const beside = async () => (await report()).path.steps[0]?.others.map(({ authenticatorId }) => authenticatorId);
  const declare = (body: RealmDocument) => server.admin.call(importRealm, { params: { realm }, body });
  const corp = { alias: 'corp', type: 'oidc' as const, config: { issuer: 'https://corp.example.com' } };
  expect(await beside()).toEqual([]);
  await declare({ identityProviders: [{ ...corp, hidden: true }] });
  expect(await beside()).toEqual([]);
  await declare({ identityProviders: [{ ...corp, hidden: false }] });
  expect(await beside()).toEqual(['idp-redirect']);
  await declare({ identityProviders: [{ ...corp, enabled: false }] });
  expect(await beside()).toEqual([]);

  const executions = [
    { authenticatorId: 'username-password', requirement: 'ALTERNATIVE' as const },
    { authenticatorId: 'magic-link', requirement: 'ALTERNATIVE' as const },
    { authenticatorId: 'idp-redirect', requirement: 'ALTERNATIVE' as const, config: { provider: 'corp' } },
  ];
  await server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
  expect(await beside()).toEqual([]);
  await declare({
    identityProviders: [{ ...corp, enabled: true, hidden: true }],
    messagingProviders: [{ channel: 'EMAIL', driver: 'smtp', config: { host: 'mail.example.com' } }],
  });
  expect(await beside()).toEqual(['magic-link', 'idp-redirect']);
});

test('where the realm demands a second factor, the report says that the user sets one up, or can’t', async () => {
  await settings({ requireMfa: true });
  expect(stepsOf((await report()).path)).toEqual(['proof username-password', 'set-up otp']);
  expect((await enter()).heading).toBe('Set up a second factor');
  const risky = await simulate({ deviceKnown: 'false', riskBand: 'high' });
  expect(risky.path.ends).toBe('signed-in');
  await settings({ riskPolicyEnabled: true, riskHighAction: 'step_up' });
  expect((await simulate({ riskBand: 'high' })).path).toMatchObject({
    ends: 'refused',
    message: expect.stringContaining('A second factor is needed'),
  });
});

test('the simulation takes the address, the browser and the risk of the situation', async () => {
  await settings({ riskPolicyEnabled: true, riskMediumThreshold: 20, riskMediumAction: 'deny' });
  expect((await simulate()).path.ends).toBe('signed-in');
  await enter();
  const strange = await simulate({ deviceKnown: 'false', ipAddress: '203.0.113.9' });
  expect(strange.risk?.findings.map(({ reason }) => reason)).toEqual(['new-device', 'new-network']);
  expect(strange.path).toMatchObject({ ends: 'refused', message: 'The realm’s risk policy refuses the sign-in' });
  expect((await simulate({ deviceKnown: 'true' })).path.ends).toBe('signed-in');
  // the browser is new: a sign-in does what the simulation says
  expect((await enter()).url).not.toContain('/account');
  const [{ risk } = { risk: null }] = (await report()).attempts ?? [];
  expect(risk?.findings).toMatchObject([
    { reason: 'new-device', message: 'The user had not signed in with this browser before' },
  ]);

  await settings({ riskPolicyEnabled: false });
  await server.admin.call(putFlow, {
    params: { realm, alias: 'browser' },
    body: {
      executions: [
        { authenticatorId: 'username-password', requirement: 'REQUIRED' },
        {
          name: 'Outside',
          requirement: 'CONDITIONAL',
          executions: [
            { authenticatorId: 'network', requirement: 'REQUIRED', config: { networks: ['10.0.0.0/8'], negate: true } },
            { authenticatorId: 'otp', requirement: 'REQUIRED' },
          ],
        },
      ],
    },
  });
  expect(stepsOf((await simulate({ ipAddress: '10.1.2.3' })).path)).toEqual(['proof username-password']);
  expect(stepsOf((await simulate({ ipAddress: '192.0.2.1' })).path)).toEqual(['proof username-password', 'set-up otp']);
});

test('a tree that is not saved is simulated by the same engine, with its faults and without guesses', async () => {
  const password = { authenticatorId: 'username-password', requirement: 'REQUIRED' as const };
  const otp = { authenticatorId: 'otp', requirement: 'REQUIRED' as const };
  const unsaved = async (body: z.input<typeof UnsavedSituation>) =>
    (await server.admin.call(simulateUnsavedFlow, { params: { realm, userId: alice }, body })).body;
  expect(stepsOf((await simulate()).path)).toEqual(['proof username-password']);
  const found = await unsaved({ flow: 'browser', executions: [password, otp] });
  expect(found?.path).toMatchObject({ flow: 'browser', boundBy: 'request', ends: 'signed-in', level: 2 });
  expect(stepsOf(found?.path ?? { steps: [] })).toEqual(['proof username-password', 'set-up otp']);
  const inside = {
    requirement: 'CONDITIONAL' as const,
    executions: [
      { authenticatorId: 'network', requirement: 'REQUIRED' as const, config: { networks: ['10.0.0.0/8'] } },
      otp,
    ],
  };
  const executions = [password, inside];
  expect((await unsaved({ executions, ipAddress: '10.1.2.3' }))?.path.steps).toHaveLength(2);
  expect((await unsaved({ executions, ipAddress: '192.0.2.1' }))?.path.steps).toHaveLength(1);
  await expect(unsaved({ executions: [otp] })).rejects.toMatchObject({
    status: 400,
    problem: { errors: [{ path: 'executions[0]' }] },
  });
  await expect(unsaved({ executions, flow: 'nothing' })).rejects.toMatchObject({ status: 404 });
  await expect(unsaved({ executions, clientId: 'nothing' })).rejects.toMatchObject({ status: 404 });
  const salary = { name: 'salary', view: [], edit: [] };
  await server.admin.call(putUserProfile, { params: { realm }, body: { attributes: [salary] } });
  const guess = { authenticatorId: 'attribute', requirement: 'REQUIRED' as const, config: { attribute: 'salary' } };
  await expect(
    unsaved({ executions: [password, { requirement: 'CONDITIONAL', executions: [guess, otp] }] }),
  ).rejects.toMatchObject({
    status: 400,
    problem: { errors: [{ path: 'executions[1].executions[0].config.attribute' }] },
  });
});

test('nothing is written: no event, no failure, no device', async () => {
  const count = async () => (await server.admin.call(listEvents, { params: { realm } })).body?.length;
  const before = await count();
  await report();
  await simulate({ deviceKnown: 'false' });
  expect(await count()).toBe(before);
});

test('a reported path follows the client’s own flow; an unknown client, flow or user is not found', async () => {
  expect((await report({ clientId: 'spa' })).path).toMatchObject({ boundBy: 'realm' });
  const missing = { status: 404 };
  await expect(report({ clientId: 'nothing' })).rejects.toMatchObject(missing);
  await expect(simulate({ flow: 'nothing' })).rejects.toMatchObject(missing);
  await expect(report({}, server.admin, newId())).rejects.toMatchObject(missing);
  await expect(simulate({ ipAddress: 'everywhere' })).rejects.toMatchObject({ status: 400 });
});

test('who administers one group sees its members’ reports, no other’s, and no client that they may not see', async () => {
  await server.admin.call(importRealm, {
    params: { realm },
    body: {
      groups: [{ path: '/sales' }],
      adminRoles: [
        { name: 'desk', permissions: ['users:read'], groups: ['/sales'] },
        { name: 'desk-with-sessions', permissions: ['users:read', 'sessions:read'], groups: ['/sales'] },
      ],
      users: [{ username: 'sal', groups: ['/sales'] }, { username: 'desk1' }, { username: 'desk2' }],
    },
  });
  const ids = new Map(
    (await server.admin.call(listUsers, { params: { realm } })).body?.map(({ username, id }) => [username, id]),
  );
  const desk = async (username: string, role: string) => {
    const params = { realm, userId: ids.get(username) ?? '' };
    await server.admin.call(setPassword, { params, body: { password: PASSWORD } });
    await server.admin.call(putUserAdminRoles, { params, body: { grants: [{ role, realm }] } });
    return server.signIn({ realm, username, password: PASSWORD });
  };
  const plain = await desk('desk1', 'desk');
  const withSessions = await desk('desk2', 'desk-with-sessions');
  const sal = ids.get('sal');
  expect((await report({}, plain, sal)).attempts).toBeNull();
  expect((await report({}, withSessions, sal)).attempts).toEqual([]);
  await expect(report({}, plain)).rejects.toMatchObject(forbidden);
  await expect(report({}, plain, newId())).rejects.toMatchObject(forbidden);
  // a client that exists, and one that doesn't
  for (const clientId of ['spa', 'nothing'])
    await expect(report({ clientId }, plain, sal)).rejects.toMatchObject(forbidden);
  const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' as const }];
  await expect(
    plain.call(simulateUnsavedFlow, { params: { realm, userId: sal ?? '' }, body: { executions } }),
  ).rejects.toMatchObject(forbidden);
  const query = { flow: 'browser' };
  await expect(plain.call(simulateSignIn, { params: { realm, userId: sal ?? '' }, query })).rejects.toMatchObject(
    forbidden,
  );
  const { body: [denied] = [] } = await server.admin.call(listEvents, {
    params: { realm },
    query: { type: 'ACCESS_DENIED' },
  });
  expect(denied?.data).toMatchObject({ permission: 'flows:read' });
});

test('an address is no question about former sign-ins for an administrator who may not see these', async () => {
  await settings({ riskPolicyEnabled: true });
  for (let i = 0; i < 3; i += 1) await enter();
  const [plain, reader] = await Promise.all(
    [[], ['events:read' as const]].map((more) =>
      administrator(server, { target: realm, permissions: ['users:read', 'flows:read', ...more] }),
    ),
  );
  const elsewhere = { ipAddress: '9.9.9.9' };
  expect((await simulate(elsewhere, reader)).risk?.findings).toMatchObject([{ reason: 'new-network' }]);
  for (const ipAddress of ['127.0.0.1', '9.9.9.9']) {
    expect((await simulate({ ipAddress, deviceKnown: 'false' }, plain)).risk).toBeNull();
    const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' as const }];
    const asked = { params: { realm, userId: alice }, body: { executions, ipAddress } };
    expect((await plain?.call(simulateUnsavedFlow, asked))?.body?.risk).toBeNull();
  }
  // a band that the caller names tells nothing
  expect((await simulate({ ...elsewhere, riskBand: 'high' }, plain)).path.ends).toBe('refused');
});

test('realmctl why user says it in a terminal, and what a situation would ask for', async () => {
  await enter('wrong wrong wrong');
  const run = (...args: string[]) => realmctl(asOperator(server), ['why', 'user', 'alice', '-r', realm, ...args]);
  const { code, stdout } = await run();
  expect(code).toBe(0);
  expect(stdout).toMatch(/^alice can sign in\nEnabled: yes\nLock: Not locked/);
  expect(stdout).toMatch(/^Flow: browser, bound by the realm\n {2}1\. The user can do this: Username and password\n/m);
  expect(stdout).toMatch(/^ {2}\S+Z, The password was wrong, from \S+$/m);
  expect((await run('--new-browser', '--risk', 'high')).stdout).toMatch(/^alice in this situation\nFlow: browser/);
  expect(JSON.parse((await run('-o', 'json')).stdout)).toMatchObject({ canSignIn: true });
  expect(await run('--level', 'high')).toMatchObject({ code: 2 });
});
