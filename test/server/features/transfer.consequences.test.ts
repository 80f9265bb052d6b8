// A plan says whom it touches: live sessions, people and active clients, and what locks somebody out who gets in now.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { getRealm } from '../../../server/contract/realms.ts';
import type { Plan, RealmDocument } from '../../../server/contract/transfer.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { administrator } from '../../support/administrators.ts';
import { CALLBACK, getCode, makePeopledRealm, redeem } from '../../support/applications.ts';
import { post } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

const realm = 'touched';
const WORKER_SECRET = 'a-secret-of-the-worker-0123456789';
const OTHER = 'https://other.example.com/';
let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
  await makePeopledRealm(server, realm, ['alice', 'bob', 'carol']);
  await admin.apply(realm, {
    clients: [
      { clientId: 'spa', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK, OTHER] },
      { clientId: 'unused', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] },
      {
        clientId: 'worker',
        grantTypes: ['client_credentials'],
        secret: WORKER_SECRET,
        tokenEndpointAuthMethod: 'client_secret_post',
      },
      { clientId: 'job', grantTypes: ['client_credentials'], secret: 'a-secret-of-the-job-0123456789' },
    ],
    roles: [{ name: 'editor' }, { name: 'idle' }],
    groups: [{ path: '/staff', roles: ['editor'] }],
    serviceAccountRoles: [{ clientId: 'job', roles: ['editor'] }],
    users: [
      { username: 'alice', roles: ['editor'] },
      { username: 'carol', groups: ['/staff'] },
    ],
  });
  // alice in two browsers, bob in one; carol has never signed in
  for (const username of ['alice', 'alice', 'bob']) {
    const grant = await getCode(server, realm, 'spa', { username });
    expect((await redeem(server, realm, 'spa', grant)).status).toBe(200);
  }
});
afterAll(() => server?.stop());

const plan = (document: RealmDocument, query = {}): Promise<Plan> =>
  admin.apply(realm, document, { dryRun: 'true', ...query });
const touched = async (document: RealmDocument) =>
  (await plan(document)).consequences.map(({ key, path, message, locksOut, sessions, people, clients }) => [
    `${path ?? key}: ${message}`,
    locksOut,
    sessions,
    people,
    clients,
  ]);

test('a redirect URI, a grant type and a client that go lock out who is signed in there', async () => {
  expect(await touched({ clients: [{ clientId: 'spa', redirectUris: [CALLBACK] }] })).toEqual([
    [`spa: sign-ins no longer return to ${OTHER}`, true, 3, 2, 1],
  ]);
  expect(await touched({ clients: [{ clientId: 'spa', grantTypes: ['authorization_code'] }] })).toEqual([
    ['spa: gets no tokens by refresh_token any more', true, 3, 2, 1],
  ]);
  expect(await touched({ clients: [{ clientId: 'unused', enabled: false }] })).toEqual([
    ['unused: gets no tokens any more, and nobody signs in to it', true, 0, 0, 0],
  ]);
  expect(await touched({ clients: [{ clientId: 'spa', name: 'Another', redirectUris: [OTHER, CALLBACK] }] })).toEqual(
    [],
  );
});

test('a role touches who holds it, by a group too, and service accounts', async () => {
  const manager = 'roles';
  await admin.apply(realm, { roles: [{ name: 'editor' }, { name: 'idle' }] }, { manager, force: 'true' });
  const document: RealmDocument = {
    roles: [],
    groups: [{ path: '/staff', roles: [] }],
    serviceAccountRoles: [{ clientId: 'job', roles: [] }],
  };
  const { consequences } = await plan(document, { manager, prune: 'true', force: 'true' });
  expect(consequences).toMatchObject([
    { kind: 'role', key: 'editor', locksOut: true, sessions: 2, people: 2, clients: 1 },
    { kind: 'group', key: '/staff', locksOut: true, sessions: 0, people: 1, clients: 0 },
    { kind: 'serviceAccountRoles', key: 'job', locksOut: true, sessions: 0, people: 0, clients: 0 },
    { kind: 'role', key: 'idle', locksOut: true, sessions: 0, people: 0, clients: 0 },
  ]);
});

test('a client without people is active while it gets tokens', async () => {
  const off: RealmDocument = { clients: [{ clientId: 'worker', enabled: false }] };
  const stops = ['worker: gets no tokens any more, and nobody signs in to it', true, 0, 0];
  expect(await touched(off)).toEqual([[...stops, 0]]);
  const answer = await post(server, realm, 'token', {
    grant_type: 'client_credentials',
    client_id: 'worker',
    client_secret: WORKER_SECRET,
  });
  expect(answer.status).toBe(200);
  await expect.poll(() => touched(off), { timeout: 30_000 }).toEqual([[...stops, 1]]);
});

test('a group, an identity provider, a directory, a SAML client and an organization touch their people', async () => {
  await admin.apply(realm, {
    identityProviders: [{ alias: 'partner', type: 'oidc', config: { issuer: 'https://partner.example.com' } }],
    samlClients: [
      {
        entityId: 'https://sp.example.com',
        assertionConsumerServices: [{ url: 'https://sp.example.com/acs', binding: 'POST', index: 0, default: true }],
      },
    ],
    organizations: [{ name: 'Acme', members: ['alice'] }],
    applications: [{ name: 'portal', clients: ['spa'] }],
    agents: [{ name: 'worker', clientId: 'worker', owner: 'alice', status: 'active' }],
    userFederation: [
      {
        alias: 'offices',
        type: 'ldap',
        connection: { urls: ['ldaps://a.example.com'] },
        users: { base: 'dc=example,dc=com' },
      },
    ],
  });
  const groups: RealmDocument = { groups: [{ path: '/staff', roles: [] }] };
  expect(await touched(groups)).toEqual([['/staff: no longer gives editor', true, 0, 1, 0]]);
  const off: RealmDocument = {
    identityProviders: [{ alias: 'partner', enabled: false }],
    samlClients: [{ entityId: 'https://sp.example.com', enabled: false }],
    organizations: [{ name: 'Acme', enabled: false }],
    userFederation: [{ alias: 'offices', enabled: false }],
    applications: [{ name: 'portal', roles: ['editor'] }],
    agents: [{ name: 'worker', status: 'revoked' }],
  };
  expect(
    (await touched({ identityProviders: [{ alias: 'partner', config: { issuer: 'https://other.example.com' } }] })).map(
      ([what, locksOut]) => [what, locksOut],
    ),
  ).toEqual([['partner: users who signed in by it are no longer recognized', true]]);
  expect((await touched(off)).toSorted()).toEqual([
    ['Acme: no claim names it, and its providers lead nowhere', false, 2, 1, 0],
    ['https://sp.example.com: nobody signs in to it any more', true, 0, 0, 0],
    ['offices: its people’s passwords count no more', true, 0, 0, 0],
    ['partner: nobody signs in by it any more', true, 0, 0, 0],
    ['portal: is for those alone who hold editor', true, 3, 2, 1],
    ['worker: gets no tokens any more', true, 0, 0, 1],
  ]);
});

test('settings touch everybody who is signed in; what locks out comes first', async () => {
  expect(
    await touched({ realm: { accessTokenTtlSeconds: 60, requireMfa: true, subjectStrategy: 'pairwise' } }),
  ).toEqual([
    ['subjectStrategy: applications know people by other names', true, 3, 2, 2],
    ['accessTokenTtlSeconds: access tokens end sooner: after 60 seconds', false, 3, 2, 2],
    ['requireMfa: who has no second factor sets one up at the next sign-in', false, 3, 2, 2],
  ]);
  expect(await touched({ realm: { accessTokenTtlSeconds: 7200, displayName: 'Longer' } })).toEqual([]);
});

test('a client’s own flow touches its people, the realm’s everybody', async () => {
  const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' as const }];
  await admin.apply(realm, { flows: [{ alias: 'steps', executions }] });
  const stricter = [...executions, { authenticatorId: 'otp', requirement: 'REQUIRED' as const }];
  const flows: RealmDocument = { flows: [{ alias: 'steps', executions: stricter }] };
  expect((await touched(flows)).map(([, , sessions]) => sessions)).toEqual([0]);
  await admin.apply(realm, { realm: { browserFlow: 'steps' } });
  expect(await touched(flows)).toEqual([['steps: asks otp of everybody', false, 3, 2, 1]]);
});

test('nothing is told of what is made, of a realm that is not there, or by what was applied, and nothing is written', async () => {
  const before = (await server.admin.call(getRealm, { params: { realm } })).body?.revision;
  expect((await plan({ clients: [{ clientId: 'new', grantTypes: ['client_credentials'] }] })).consequences).toEqual([]);
  const fresh = await admin.apply('not-there', { realm: { requireMfa: true } }, { dryRun: 'true' });
  expect(fresh.consequences).toEqual([]);
  expect((await server.admin.call(getRealm, { params: { realm } })).body?.revision).toBe(before);
  const applied = await admin.apply(realm, { clients: [{ clientId: 'spa', redirectUris: [CALLBACK] }] });
  expect(applied.consequences).toEqual([]);
});

test('who may not see sessions is told of none', async () => {
  const reader = await administrator(server, { target: realm, permissions: ['clients:read'] });
  const body: RealmDocument = { clients: [{ clientId: 'spa', enabled: false }] };
  const answer = await reader.call(importRealm, { params: { realm }, query: { dryRun: 'true' }, body });
  expect(answer.body?.changes).toHaveLength(1);
  expect(answer.body?.consequences).toEqual([]);
});
