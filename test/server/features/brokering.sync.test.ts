// Owns: when what a provider says of somebody is written: at the end of a sign-in that succeeds, and before that only foreseen.
// Does not own: what mappers make of claims (brokering.mappers.test.ts, brokering.first.test.ts).
// Implements: decisions "Identity provider"; docs/brokering.md.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { getUser, listUsers, putUser } from '../../../server/contract/users.ts';
import { authorizePath, makePeopledRealm, newVerifier, redeem } from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { comeBy, makeProvider, oidcOf } from '../../support/brokering.ts';
import { claimsIn } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

let server: TestServer;
let upstream: Upstream;
let realm = '';
let userId = '';
let made = 0;
beforeAll(async () => {
  upstream = await startUpstream();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: upstream.caFile } });
});
afterAll(async () => {
  await server?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  made += 1;
  realm = `sync${made}`;
  upstream.reset();
  upstream.claims = { email: 'ada@corp.example', email_verified: true, dept: 'A', groups: [] };
  await makePeopledRealm(server, realm, []);
  await server.admin.call(createRole, { params: { realm }, body: { name: 'auditor' } });
  const mappers = [
    { name: 'dept', claim: 'dept', to: 'attribute' as const, target: 'department' },
    { name: 'auditor', claim: 'groups', value: 'auditors', to: 'role' as const, target: 'auditor' },
  ];
  await makeProvider(server, realm, oidcOf(upstream, { mappers, syncMode: 'always' }));
});

const byProvider: ExecutionInput = { authenticatorId: 'idp-redirect', requirement: 'REQUIRED' };
const byCode: ExecutionInput = { authenticatorId: 'otp', requirement: 'REQUIRED' };
const codeFor = (roles: string[]): ExecutionInput => ({
  requirement: 'CONDITIONAL',
  executions: [{ authenticatorId: 'role', requirement: 'REQUIRED', config: { roles } }, byCode],
});
const flow = (...executions: ExecutionInput[]) =>
  server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
const come = () => comeBy(server, realm, upstream);
const ada = async () => (await server.admin.call(getUser, { params: { realm, userId } })).body;
const synced = async () =>
  ((await server.admin.call(listEvents, { params: { realm }, query: { type: 'USER_UPDATED' } })).body ?? []).filter(
    ({ data }) => data.identityProvider === 'corp',
  ).length;
const isHome = ({ url }: { url: string }) => new URL(url).pathname === `/realms/${realm}/account`;
async function known(): Promise<void> {
  const [first] = (await server.admin.call(listUsers, { params: { realm } })).body ?? [];
  userId = first?.id ?? '';
}

test('what the provider said before its newest word changes nothing any more, whichever sign-in ends last', async () => {
  await flow(byProvider, byCode);
  const first = await come();
  const secret = secretOn(first.page);
  await first.person.fill(first.page, { code: codeAt(secret, Date.now() - 30_000) });
  await known();

  upstream.claims = { ...upstream.claims, dept: 'B', groups: ['auditors'] };
  const older = await come();
  upstream.claims = { ...upstream.claims, dept: 'C', groups: [] };
  const newer = await come();
  expect(isHome(await newer.person.fill(newer.page, { code: codeAt(secret) }))).toBe(true);
  expect(await ada()).toMatchObject({ attributes: { department: ['C'] }, roles: [] });
  expect(isHome(await older.person.fill(older.page, { code: codeAt(secret, Date.now() + 30_000) }))).toBe(true);
  expect(await ada()).toMatchObject({ attributes: { department: ['C'] }, roles: [] });
});

test('what the provider says now is written when the second factor was given, and not before', async () => {
  await flow(byProvider, byCode);
  const first = await come();
  const secret = secretOn(first.page);
  expect(isHome(await first.person.fill(first.page, { code: codeAt(secret, Date.now() - 30_000) }))).toBe(true);
  await known();
  expect(await ada()).toMatchObject({ attributes: { department: ['A'] }, roles: [] });
  const before = await synced();

  upstream.claims = { ...upstream.claims, dept: 'B', groups: ['auditors'] };
  const { person, page } = await come();
  expect(page.heading).toBe('Enter your code');
  expect(await ada()).toMatchObject({ attributes: { department: ['A'] }, roles: [] });
  expect(await synced()).toBe(before);
  expect(isHome(await person.fill(page, { code: codeAt(secret) }))).toBe(true);
  expect(await ada()).toMatchObject({ attributes: { department: ['B'] }, roles: ['auditor'] });
  expect(await synced()).toBe(before + 1);
});

test('nothing is written of whoever is disabled, or refused for their risk', async () => {
  await come();
  await known();
  const before = await synced();
  upstream.claims = { ...upstream.claims, dept: 'B', groups: ['auditors'] };

  await server.admin.call(putUser, { params: { realm, userId }, body: { enabled: false } });
  expect(isHome((await come()).page)).toBe(false);
  await server.admin.call(putUser, { params: { realm, userId }, body: { enabled: true } });
  const careful = { riskPolicyEnabled: true, riskLowAction: 'deny' as const };
  await server.admin.call(putSettings, { params: { realm }, body: careful });
  expect((await come()).page.heading).toBe('This sign-in was refused');

  expect(await ada()).toMatchObject({ attributes: { department: ['A'] }, roles: [] });
  expect(await synced()).toBe(before);
});

test('a flow’s conditions see the roles that the provider gives by this very sign-in, and those that it takes', async () => {
  await flow(byProvider, codeFor(['auditor']));
  expect(isHome((await come()).page)).toBe(true);
  await known();

  upstream.claims = { ...upstream.claims, groups: ['auditors'] };
  const { person, page } = await come();
  expect(page.heading).toBe('Set up a second factor');
  expect(await ada()).toMatchObject({ roles: [] });
  expect(isHome(await person.fill(page, { code: codeAt(secretOn(page)) }))).toBe(true);
  expect(await ada()).toMatchObject({ roles: ['auditor'] });

  upstream.claims = { ...upstream.claims, groups: [] };
  expect(isHome((await come()).page)).toBe(true);
  expect(await ada()).toMatchObject({ roles: [] });
});

test('an application that knows people by an attribute knows them by its new value at once', async () => {
  await server.admin.call(putSettings, {
    params: { realm },
    body: { subjectStrategy: 'attribute', subjectAttribute: 'department' },
  });
  const signIn = async () => {
    const verifier = newVerifier();
    const path = authorizePath(realm, 'spa', verifier);
    const { page } = await comeBy(server, realm, upstream, { person: createPerson(server.baseUrl), path });
    const code = new URL(page.url).searchParams.get('code') ?? '';
    return claimsIn(String((await redeem(server, realm, 'spa', { code, verifier })).body.id_token)).sub;
  };
  expect(await signIn()).toBe('A');
  upstream.claims = { ...upstream.claims, dept: 'B' };
  expect(await signIn()).toBe('B');
});
