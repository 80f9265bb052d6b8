// Conditions of a flow in sign-ins: who is asked for a second factor because of what they are, where from, and for what.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ExecutionInput, listAuthenticators, putFlow } from '../../../server/contract/flows.ts';
import { createGroup } from '../../../server/contract/groups.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { putUser } from '../../../server/contract/users.ts';
import {
  authorizePath,
  CALLBACK,
  makePeopledRealm,
  newVerifier,
  PASSWORD,
  redeem,
  refresh,
} from '../../support/applications.ts';
import { makeClient } from '../../support/clients.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let alice = '';
let made = 0;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_TRUST_PROXY: '127.0.0.1' } });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `c${made}`;
  [alice = ''] = await makePeopledRealm(server, realm, ['alice', 'bob']);
});

/** A password, and a second factor where the condition holds. */
const tree = (authenticatorId: string, config: Record<string, unknown>, second = 'otp'): ExecutionInput[] => [
  { authenticatorId: 'username-password', requirement: 'REQUIRED' },
  {
    requirement: 'CONDITIONAL',
    executions: [
      { authenticatorId, requirement: 'REQUIRED', config },
      { authenticatorId: second, requirement: 'REQUIRED' },
    ],
  },
];
const bind = (authenticatorId: string, config: Record<string, unknown>, second?: string) =>
  server.admin.call(putFlow, {
    params: { realm, alias: 'browser' },
    body: { executions: tree(authenticatorId, config, second) },
  });
const from = (address: string) => createPerson(server.baseUrl, { 'x-forwarded-for': address });
async function signIn(
  username: string,
  person: Person = from('192.0.2.1'),
  clientId = 'spa',
  more = {},
): Promise<ShownPage> {
  const page = await person.open(authorizePath(realm, clientId, newVerifier(), more));
  return page.heading === 'Sign in' ? person.fill(page, { username, password: PASSWORD }) : page;
}
const isIn = ({ url }: ShownPage) => url.startsWith(CALLBACK);
const change = (body: Record<string, unknown>) =>
  server.admin.call(putUser, { params: { realm, userId: alice }, body });

test('role, group and attribute ask those for more who have them, and nobody else', async () => {
  await server.admin.call(createRole, { params: { realm }, body: { name: 'auditor' } });
  await server.admin.call(createGroup, { params: { realm }, body: { name: 'staff' } });
  const conditions: [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['role', { roles: ['auditor'] }, { roles: ['auditor'] }],
    ['group', { groups: ['/staff'] }, { groups: ['/staff'] }],
    ['attribute', { attribute: 'level', values: ['secret'] }, { attributes: { level: ['secret'] } }],
  ];
  for (const [id, config, holder] of conditions) {
    await bind(id, config);
    expect(isIn(await signIn('alice')), id).toBe(true);
    await change(holder);
    expect((await signIn('alice')).heading, id).toBe('Set up a second factor');
    expect(isIn(await signIn('bob')), id).toBe(true);
    await change({ roles: [], groups: [], attributes: {} });
  }
});

test('whoever gets the role while they are signed in is asked at the next request, and refreshes nothing till then', async () => {
  await server.admin.call(createRole, { params: { realm }, body: { name: 'auditor' } });
  await bind('role', { roles: ['auditor'] });
  const person = from('192.0.2.1');
  const verifier = newVerifier();
  const page = await person.open(authorizePath(realm, 'spa', verifier));
  const { url } = await person.fill(page, { username: 'alice', password: PASSWORD });
  const code = new URL(url).searchParams.get('code') ?? '';
  const { body } = await redeem(server, realm, 'spa', { code, verifier });
  const again = await refresh(server, realm, 'spa', body.refresh_token);
  expect(again.status).toBe(200);
  await change({ roles: ['auditor'] });
  expect((await signIn('alice', person)).heading).toBe('Set up a second factor');
  const refused = await refresh(server, realm, 'spa', again.body.refresh_token);
  expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
});

test('client asks for more where one of its clients asked, single sign-on included', async () => {
  await makeClient(server, realm, { clientId: 'bank', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] });
  await bind('client', { clients: ['bank'] });
  const person = from('192.0.2.1');
  expect(isIn(await signIn('alice', person))).toBe(true);
  expect((await signIn('alice', person, 'bank')).heading).toBe('Set up a second factor');
  expect(isIn(await signIn('alice', person))).toBe(true);
});

test('network lets those by who come from inside, and asks the same person outside, also when they only come back', async () => {
  await bind('network', { networks: ['192.0.2.0/24'], negate: true });
  const inside = from('192.0.2.77');
  expect(isIn(await signIn('alice', inside))).toBe(true);
  expect((await signIn('alice', from('198.51.100.1'))).heading).toBe('Set up a second factor');
  const outside = from('198.51.100.1');
  for (const [name, value] of inside.jar) outside.jar.set(name, value);
  expect((await signIn('alice', outside)).heading).toBe('Set up a second factor');
});

test('device-known holds in the browser that somebody signed in with, for them alone, with the risk policy off', async () => {
  await bind('device-known', {});
  const browser = from('192.0.2.1');
  const forget = () => browser.jar.delete([...browser.jar.keys()].find((name) => name.includes('SESSION')) ?? '');
  expect(isIn(await signIn('alice', browser))).toBe(true);
  forget();
  expect((await signIn('alice', browser)).heading).toBe('Set up a second factor');
  expect(isIn(await signIn('alice'))).toBe(true);
  const another = from('192.0.2.1');
  for (const [name, value] of browser.jar) if (name.includes('DEVICE')) another.jar.set(name, value);
  expect(isIn(await signIn('bob', another))).toBe(true);
});

test('level-of-assurance asks for its own step where the application asks for that level, and not below', async () => {
  await bind('level-of-assurance', { minimumLevel: 3 }, 'webauthn');
  const asked = (level: string) => signIn('alice', from('192.0.2.1'), 'spa', { acr_values: level });
  expect(isIn(await asked('1'))).toBe(true);
  expect((await asked('3')).heading).toBe('Set up a passkey');
});

test('a condition that is told what it can’t be is refused with its path, and saves nothing', async () => {
  const bad: [string, Record<string, unknown>, string][] = [
    ['role', {}, 'roles'],
    ['role', { roles: [] }, 'roles'],
    ['group', { groups: [''] }, 'groups.0'],
    ['attribute', { values: ['x'] }, 'attribute'],
    ['client', { clients: 'spa' }, 'clients'],
    ['network', { networks: ['192.0.2.0/33'] }, 'networks.0'],
    ['network', { networks: ['example.com'] }, 'networks.0'],
    ['device-known', { since: 3 }, ''],
    ['level-of-assurance', { minimumLevel: 0 }, 'minimumLevel'],
  ];
  for (const [id, config, field] of bad) {
    const path = `executions[1].executions[0].config${field === '' ? '' : `.${field}`}`;
    await expect(bind(id, config), id).rejects.toMatchObject({
      status: 400,
      problem: { errors: expect.arrayContaining([expect.objectContaining({ path })]) },
    });
  }
  const outside = { authenticatorId: 'client', requirement: 'REQUIRED' as const, config: { clients: ['spa'] } };
  const executions = [...tree('client', { clients: ['spa'] }), outside];
  await expect(
    server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } }),
  ).rejects.toMatchObject({ status: 400 });
  const { body } = await server.admin.call(listAuthenticators, { params: { realm } });
  expect(body?.find(({ id }) => id === 'network')).toMatchObject({ category: 'CONDITION', levelOfAssurance: 0 });
});
