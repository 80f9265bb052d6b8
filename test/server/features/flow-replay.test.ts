// Owns: the replay of past sign-ins against an edited flow: whom it locks out or asks for more, what it can't try, and who may ask.
// Does not own: the engine's cases (engine.unit.test.ts), simulations of one user (sign-in-report.test.ts), growth (growth.long.test.ts).
// Implements: decisions "Sign-in report".
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { createAdminRole } from '../../../server/contract/admin-roles.ts';
import type { Client } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { replayFlow } from '../../../server/contract/flow-replay.ts';
import { createFlow, type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import type { Permission } from '../../../server/contract/permissions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { createUser, deleteUser, putRequiredActions, putUser } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { CALLBACK, getCode, makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { makeClient } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { asOperator, realmctl, withOperator } from '../../support/realmctl.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let ids: Record<string, string> = {};
let made = 0;
const people = ['alice', 'bob', 'carol'];
beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `replay${made}`;
  const found = await makePeopledRealm(server, realm, people);
  ids = Object.fromEntries(people.map((name, at) => [name, found[at] ?? '']));
});

const password: ExecutionInput = { authenticatorId: 'username-password', requirement: 'REQUIRED' };
const otp: ExecutionInput = { authenticatorId: 'otp', requirement: 'REQUIRED' };
const passkey: ExecutionInput = { authenticatorId: 'webauthn', requirement: 'REQUIRED' };
const behind = (authenticatorId: string, config: Record<string, unknown>): ExecutionInput => ({
  name: 'Some',
  requirement: 'CONDITIONAL',
  executions: [{ authenticatorId, requirement: 'REQUIRED', config }, otp],
});

async function enter(username: string, secret = PASSWORD) {
  const person = createPerson(server.baseUrl);
  return person.fill(await person.open(`/realms/${realm}/login`), { username, password: secret });
}
const give = (username: string, type: string) =>
  sqlOver(server.pool)`insert into credential (realm_id, id, user_id, type, secret, created_at)
    values (${realm}, ${newId()}, ${ids[username]}, ${type}, '{}', now())`;
const settings = (body: object) => server.admin.call(putSettings, { params: { realm }, body });
async function replay(body: Record<string, unknown> = {}, by: Client = server.admin, alias = 'browser') {
  const { body: answer } = await by.call(replayFlow, { params: { realm, alias }, body });
  if (!answer) throw new Error('no replay');
  return answer;
}
type Answer = Awaited<ReturnType<typeof replay>>;
const outcomesOf = ({ affected }: Answer) =>
  Object.fromEntries((affected ?? []).map(({ username, outcome }) => [username, outcome]));
const usersOf = ({ outcomes }: Answer) =>
  Object.fromEntries(outcomes.flatMap(({ outcome, users }) => (users > 0 ? [[outcome, users]] : [])));
async function administrator(username: string, permissions: Permission[]): Promise<Client> {
  const { body } = await server.admin.call(createUser, {
    params: { realm },
    body: { username, password: PASSWORD },
  });
  const at = { realm, userId: body?.id ?? '' };
  await server.admin.call(putRequiredActions, { params: at, body: { requiredActions: [] } });
  await server.admin.call(createAdminRole, { params: { realm }, body: { name: username, permissions } });
  await server.admin.call(putUserAdminRoles, { params: at, body: { grants: [{ role: username, realm }] } });
  return server.signIn({ realm, username, password: PASSWORD });
}

test('a flow that newly requires a one-time code asks those for more who have none', async () => {
  for (const name of people) await enter(name);
  await give('bob', 'otp');
  await give('carol', 'webauthn');
  const found = await replay({ executions: [password, otp] });
  expect(found).toMatchObject({
    flow: 'browser',
    signIns: 'of-flow',
    successes: { read: 3, sampled: false },
    replayed: { signIns: 3, users: 3 },
  });
  expect(usersOf(found)).toEqual({ 'asks-more': 2, unchanged: 1 });
  expect(outcomesOf(found)).toEqual({ alice: 'asks-more', carol: 'asks-more' });
  const [alice] = found.affected ?? [];
  expect(alice).toMatchObject({
    userId: ids.alice,
    message: expect.stringMatching(/^Must also set up One-time code/),
    more: [expect.stringMatching(/^set up /)],
    less: [],
    signIns: 1,
  });
  expect(found.assumptions.length).toBeGreaterThan(3);
});

test('a flow of passkeys alone locks those out who have none, and asks the others for less', async () => {
  for (const name of people) await enter(name);
  await enter('alice');
  await give('carol', 'webauthn');
  const found = await replay({ executions: [passkey] });
  expect(outcomesOf(found)).toEqual({ alice: 'locked-out', bob: 'locked-out', carol: 'asks-less' });
  expect(found.affected?.map(({ username, signIns }) => `${username} ${signIns}`)).toEqual([
    'alice 2',
    'bob 1',
    'carol 1',
  ]);
  expect(found.affected?.[0]?.message).toBe('The user has no passkey');
  expect(found.reasons[0]).toEqual({
    outcome: 'locked-out',
    message: 'The user has no passkey',
    users: 2,
    signIns: 3,
  });
  // the saved flow changes nothing
  expect(usersOf(await replay())).toEqual({ unchanged: 3 });
});

test('a condition on the risk counts where the event says that something was unusual', async () => {
  await settings({ riskPolicyEnabled: true, riskMediumThreshold: 20, riskMediumAction: 'allow' });
  await enter('bob');
  await enter('alice');
  await enter('alice'); // in another browser
  const executions = [password, behind('risk', { minimumBand: 'medium' })];
  const found = await replay({ executions });
  expect(usersOf(found)).toEqual({ 'locked-out': 1, unchanged: 2 });
  expect(found.affected).toMatchObject([
    {
      username: 'alice',
      outcome: 'locked-out',
      signIns: 1,
      message: expect.stringContaining('A second factor is needed'),
    },
  ]);
  await give('alice', 'otp');
  // who has a second factor is asked for it by the present flow, too
  expect(usersOf(await replay({ executions }))).toMatchObject({ 'asks-less': 1 });
});

test('a sign-in that the risk policy refused is tried; a wrong password, a stranger and a deleted user are counted', async () => {
  await settings({ riskPolicyEnabled: true, riskMediumThreshold: 20, riskMediumAction: 'deny' });
  await enter('alice');
  await enter('alice');
  await enter('bob', 'wrong wrong wrong');
  await enter('nobody-at-all', 'wrong wrong wrong');
  await enter('carol');
  await server.admin.call(deleteUser, { params: { realm, userId: ids.carol ?? '' } });
  const found = await replay();
  expect(found).toMatchObject({
    successes: { read: 2 },
    failures: { read: 3 },
    notReplayed: { otherFailures: 2, unknownUser: 1, otherFlow: 0, noTime: 0 },
    affected: [],
  });
  expect(usersOf(found)).toEqual({ unchanged: 1, 'blocked-already': 1 });
  await server.admin.call(putUser, { params: { realm, userId: ids.alice ?? '' }, body: { enabled: false } });
  expect(usersOf(await replay({ executions: [password, otp] }))).toEqual({ 'blocked-already': 1 });
});

test('sign-ins that another flow decides are left out, unless all are asked for', async () => {
  await server.admin.call(createFlow, { params: { realm }, body: { alias: 'kiosk', copyFromAlias: 'browser' } });
  await server.admin.call(createFlow, { params: { realm }, body: { alias: 'unbound', copyFromAlias: 'browser' } });
  await makeClient(server, realm, {
    clientId: 'kiosk',
    tokenEndpointAuthMethod: 'none',
    redirectUris: [CALLBACK],
    flowOverride: 'kiosk',
  });
  await getCode(server, realm, 'kiosk', { username: 'alice' });
  await getCode(server, realm, 'spa', { username: 'bob' });
  const executions = [passkey];
  const ofRealm = await replay({ executions });
  expect(outcomesOf(ofRealm)).toEqual({ bob: 'locked-out' });
  expect(ofRealm).toMatchObject({ signIns: 'of-flow', notReplayed: { otherFlow: 1 } });
  expect(ofRealm.affected).toMatchObject([{ clientId: 'spa' }]);
  expect(outcomesOf(await replay({ executions }, server.admin, 'kiosk'))).toEqual({ alice: 'locked-out' });
  const unbound = await replay({ executions }, server.admin, 'unbound');
  expect(unbound.signIns).toBe('all');
  expect(outcomesOf(unbound)).toEqual({ alice: 'locked-out', bob: 'locked-out' });
  expect(outcomesOf(await replay({ executions, signIns: 'of-flow' }, server.admin, 'unbound'))).toEqual({});
});

test('a period, the newest ones of many, and faults', async () => {
  for (const name of people) await enter(name);
  const sampled = await replay({ limit: 2 });
  expect(sampled).toMatchObject({ successes: { read: 2, sampled: true }, replayed: { users: 2 } });
  expect(sampled.successes.oldestAt).toBeGreaterThan(Date.now() - 60_000);
  expect(await replay({ to: Date.now() - 3_600_000 })).toMatchObject({
    successes: { read: 0, sampled: false, oldestAt: null },
    replayed: { signIns: 0 },
  });
  const now = Date.now();
  for (const body of [
    { from: now, to: now - 1 },
    { from: now - 40 * 86_400_000 },
    { limit: 501 },
    { executions: [otp] },
    { executions: [{ authenticatorId: 'nothing', requirement: 'REQUIRED' }] },
    { executions: [] },
  ])
    await expect(replay(body), JSON.stringify(body)).rejects.toMatchObject({ status: 400 });
  await expect(replay({ executions: [password, { ...otp, config: { x: 1 } }] })).rejects.toMatchObject({
    problem: { errors: [{ path: expect.stringMatching(/^executions\[1\]/) }] },
  });
});

test('many replays at once are refused before they pile up, and later ones are answered', async () => {
  await enter('alice');
  const answers = await Promise.allSettled(Array.from({ length: 12 }, () => replay()));
  const refused = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason.status] : []));
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(12);
  expect(new Set(refused)).toEqual(new Set([429]));
  expect(usersOf(await replay())).toEqual({ unchanged: 1 });
});

test('nothing is written, and another realm’s flow and sign-ins are not there', async () => {
  for (const name of people) await enter(name);
  const count = async () => (await server.admin.call(listEvents, { params: { realm } })).body?.length;
  const before = await count();
  await replay({ executions: [password, otp] });
  expect(await count()).toBe(before);
  const mine = realm;
  await server.admin.call(createFlow, { params: { realm }, body: { alias: 'mine' } });
  realm = `${mine}-other`;
  await makePeopledRealm(server, realm, ['alice']);
  expect(await replay({ executions: [passkey] })).toMatchObject({ successes: { read: 0 }, affected: [] });
  await expect(replay({}, server.admin, 'mine')).rejects.toMatchObject({ status: 404 });
});

test('the sign-ins need events:read, their users users:read, and no guess tells what is hidden', async () => {
  await enter('alice');
  const flowsAlone = await administrator('flows-alone', ['flows:read']);
  const counting = await administrator('counting', ['flows:read', 'events:read']);
  const seeing = await administrator('seeing', ['flows:read', 'events:read', 'users:read']);
  const nothing = await administrator('writing', ['events:read', 'users:read', 'flows:write']);
  const executions = [passkey];
  for (const by of [flowsAlone, nothing])
    await expect(replay({ executions }, by)).rejects.toMatchObject({ status: 403 });
  const counted = await replay({ executions }, counting);
  expect(counted.affected).toBeNull();
  expect(JSON.stringify(counted)).not.toContain('alice');
  expect(counted.outcomes[0]).toMatchObject({ outcome: 'locked-out' });
  expect(outcomesOf(await replay({ executions }, seeing))).toMatchObject({ alice: 'locked-out' });

  const guess = [password, behind('attribute', { attribute: 'salary', values: ['100'] })];
  await expect(replay({ executions: guess }, counting)).rejects.toMatchObject({
    status: 400,
    problem: { errors: [{ path: 'executions[1].executions[0]' }] },
  });
  expect(usersOf(await replay({ executions: guess }, seeing))).toHaveProperty('unchanged');
  const salary = { name: 'salary', view: [], edit: [] };
  await server.admin.call(putUserProfile, { params: { realm }, body: { attributes: [salary] } });
  for (const by of [counting, seeing, server.admin])
    await expect(replay({ executions: guess }, by)).rejects.toMatchObject({ status: 400 });
  // a saved condition is no guess
  await server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions: guess } });
  for (const by of [counting, seeing])
    expect(usersOf(await replay({ executions: guess }, by))).toHaveProperty('unchanged');
});

test('realmctl flow replay takes a manifest, a document, and what it prints itself', async () => {
  await enter('alice');
  const run = (args: string[], stdin = '') => realmctl(asOperator(server), [...args, '-r', realm], { stdin });
  const executions = [{ authenticatorId: 'webauthn', requirement: 'REQUIRED' }];
  const files = [
    { apiVersion: 'realmkeeper.dev/v1', kind: 'Flow', metadata: { name: 'browser' }, spec: { executions } },
    {
      flows: [
        { alias: 'other', executions: [] },
        { alias: 'browser', executions },
      ],
    },
    { executions },
  ];
  for (const file of files) {
    const { code, stdout, stderr } = await run(['flow', 'replay', 'browser', '-f', '-'], JSON.stringify(file));
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^ {2}locked out: 1 users, 1 sign-ins$/m);
    expect(stdout).toMatch(/^ {2}alice, locked out: The user has no passkey \(\S+Z\)$/m);
  }
  const saved = await run(['get', 'flow', 'browser', '-o', 'yaml']);
  const same = await run(['flow', 'replay', 'browser', '-f', '-', '--since', '1h'], saved.stdout);
  expect(same.stdout, same.stderr).toMatch(/^ {2}as now: 1 users/m);
  expect(JSON.parse((await run(['flow', 'replay', 'browser', '-o', 'json'])).stdout)).toMatchObject({
    flow: 'browser',
  });
  expect(await run(['flow', 'replay', 'browser', '-f', '-'], '{"clients": []}')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has no flow browser'),
  });
  expect(await run(['flow', 'replay', 'browser', '--limit', 'many'])).toMatchObject({ code: 2 });
  const why = ['why', 'user', 'alice', '--flow', 'browser', '-f', '-'];
  expect((await run(why, JSON.stringify({ executions }))).stdout).toContain('The user has no passkey');
});
