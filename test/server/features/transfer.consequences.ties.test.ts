// Whom a plan touches who is tied to what changes by something between: roles in roles, groups in groups, applications, flows,
// resources, claims in scopes, what administrators and people of other providers have.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { undoHistory } from '../../../server/contract/history.ts';
import type { Consequence, RealmDocument } from '../../../server/contract/transfer.ts';
import { administrator } from '../../support/administrators.ts';
import { CALLBACK, getCode, makePeopledRealm, redeem } from '../../support/applications.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { makeServiceProvider, serviceProvider, signedIn, WIKI } from '../../support/service-provider.ts';
import { type Importer, importer } from '../../support/transfer.ts';

const realm = 'tied';
const SHOP = 'https://shop.example.com/api';
let server: TestServer;
let admin: Importer;

const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' as const }];
const stricter = [...executions, { authenticatorId: 'otp', requirement: 'REQUIRED' as const }];
const everything: RealmDocument = {
  claims: [{ name: 'department', source: 'attribute', in: ['accessToken'] }],
  clientScopes: [{ name: 'work', claims: ['department'] }],
  clients: [
    { clientId: 'spa', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK], optionalClientScopes: ['work'] },
    { clientId: 'other', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK], allowedResources: [SHOP] },
    { clientId: 'job', grantTypes: ['client_credentials'], secret: 'a-secret-of-the-job-0123456789' },
  ],
  resourceIndicators: [SHOP],
  roles: [
    { name: 'chief', composite: { roles: ['editor'] } },
    { name: 'editor', composite: { roles: ['reader'], clientRoles: { job: ['runner'] } } },
    { name: 'reader' },
  ],
  clientRoles: { job: [{ name: 'runner' }] },
  groups: [{ path: '/staff', roles: ['chief'] }, { path: '/staff/night' }],
  serviceAccountRoles: [{ clientId: 'job', roles: ['editor'] }],
  flows: [{ alias: 'own', executions }],
  identityProviders: [{ alias: 'partner', type: 'oidc', config: { issuer: 'https://partner.example.com' } }],
  organizations: [
    { name: 'Acme', domains: [{ name: 'acme.example' }], identityProviders: ['partner'], members: ['alice'] },
  ],
  users: [
    { username: 'bob', roles: ['chief'] },
    {
      username: 'carol',
      groups: ['/staff/night'],
      identities: [{ identityProvider: 'partner', issuer: 'https://partner.example.com', subject: 'c' }],
    },
  ],
};

beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
  await makePeopledRealm(server, realm, ['alice', 'bob', 'carol']);
  await admin.apply(realm, everything);
  for (const [client, username] of [
    ['spa', 'alice'],
    ['spa', 'bob'],
    ['other', 'carol'],
  ] as const)
    expect((await redeem(server, realm, client, await getCode(server, realm, client, { username }))).status).toBe(200);
});
afterAll(() => server?.stop());

const words = ({ key, message, locksOut, sessions, people, clients }: Consequence) => [
  `${key}: ${message}`,
  locksOut,
  sessions,
  people,
  clients,
];
const plan = async (document: RealmDocument, query = {}): Promise<unknown[]> =>
  (await admin.apply(realm, document, { dryRun: 'true', ...query })).consequences.map(words);
/** Everything but that, by who declared everything. */
const pruned = (without: Partial<RealmDocument>) => {
  const { users: _, ...document } = everything;
  return plan({ ...document, ...without }, { prune: 'true' });
};

test('a role that goes touches who holds it by a role that contains it, by a group above, and as a service account', async () => {
  const [, , reader] = everything.roles ?? [];
  const without = await pruned({
    roles: [{ name: 'chief', composite: {} }, ...(reader ? [reader] : [])],
    serviceAccountRoles: [{ clientId: 'job', roles: [] }],
  });
  expect(without).toEqual([
    ['editor: is taken from all who hold it, and with it reader, job/runner', true, 2, 2, 1],
    ['chief: no longer gives editor', true, 2, 2, 0],
    ['job: no longer gives editor', true, 0, 0, 0],
  ]);
});

test('a composite that loses a part, realm’s or client’s, touches who holds it', async () => {
  const roles = [{ name: 'editor', composite: { roles: ['reader'] } }];
  expect(await plan({ roles })).toEqual([['editor: no longer gives job/runner', true, 2, 2, 1]]);
  expect(await plan({ roles: [{ name: 'editor', description: 'Writes' }] })).toEqual([]);
});

test('a client’s role that is held within others alone touches who holds those', async () => {
  const roles = everything.roles?.with(1, { name: 'editor', composite: { roles: ['reader'] } }) ?? [];
  expect(await pruned({ clientRoles: { job: [] }, roles })).toEqual([
    ['editor: no longer gives job/runner', true, 2, 2, 1],
    ['job/runner: is taken from all who hold it', true, 2, 2, 1],
  ]);
});

test('what a group gives counts for the groups in it', async () => {
  expect(await plan({ groups: [{ path: '/staff', roles: [] }] })).toEqual([
    ['/staff: no longer gives chief', true, 1, 1, 0],
  ]);
});

test('a resource that goes touches the clients that may ask for it; a list of its own narrows a client', async () => {
  expect(
    await pruned({
      resourceIndicators: [],
      clients: everything.clients?.map((client) => ({ ...client, allowedResources: [] })) ?? [],
    }),
  ).toEqual([[`${SHOP}: no tokens are given for it any more`, true, 3, 3, 2]]);
  expect(await plan({ clients: [{ clientId: 'spa', allowedResources: [SHOP] }] })).toEqual([
    [`spa: gets tokens for ${SHOP} alone`, true, 2, 2, 1],
  ]);
  expect(await plan({ clients: [{ clientId: 'other', allowedResources: [] }] })).toEqual([]);
});

test('a claim touches the clients whose scopes have it', async () => {
  expect(await plan({ claims: [{ name: 'department', source: 'attribute', in: ['userinfo'] }] })).toEqual([
    ['department: tokens and userinfo say it otherwise', false, 2, 2, 1],
  ]);
  expect(await plan({ clientScopes: [{ name: 'work', claims: [] }] })).toEqual([
    ['work: tokens with it lose department', false, 2, 2, 1],
  ]);
});

test('a scope of very many clients touches who is signed in to one of them', async () => {
  const clients = Array.from({ length: 120 }, (_, n) => ({
    ...{ clientId: `wide-${n}`, tokenEndpointAuthMethod: 'none' as const },
    optionalClientScopes: ['wide'],
  }));
  const manager = 'wide';
  const clientScopes = [{ name: 'wide' }];
  await admin.apply(realm, { clientScopes, clients }, { manager });
  await admin.apply(realm, { clients: [{ clientId: 'spa', optionalClientScopes: ['wide', 'work'] }] });
  expect(await plan({ clientScopes: [{ name: 'wide', includeInTokenScope: false }] }, { manager })).toEqual([
    ['wide: tokens no longer name it', false, 2, 2, 1],
  ]);
  await admin.apply(realm, { clients: [{ clientId: 'spa', optionalClientScopes: ['work'] }] });
});

test('an identity provider and an organization that go touch their people', async () => {
  expect(await pruned({ identityProviders: [], organizations: [] })).toEqual([
    ['partner: goes: nobody signs in by it any more', true, 1, 1, 0],
    ['Acme: no claim names it, and its providers lead nowhere', false, 1, 1, 0],
  ]);
  expect(await plan({ organizations: [{ name: 'Acme', identityProviders: [], domains: [] }] })).toEqual([
    ['Acme: who comes with an address of acme.example is not of it any more', false, 1, 1, 0],
    ['Acme: its people are not sent to partner any more', false, 1, 1, 0],
  ]);
});

test('an application’s flow and rules touch its clients, and clients that come to it', async () => {
  await admin.apply(realm, { applications: [{ name: 'portal', clients: ['other'], flowOverride: 'own' }] });
  const flows: RealmDocument = { flows: [{ alias: 'own', executions: stricter }] };
  expect(await plan(flows)).toEqual([['own: asks otp of everybody', false, 1, 1, 1]]);
  const closed = [{ authenticatorId: 'idp-redirect', requirement: 'REQUIRED' as const }];
  expect((await plan({ flows: [{ alias: 'own', executions: closed }] }))[0]).toEqual([
    'own: nobody signs in by username-password any more',
    true,
    1,
    1,
    1,
  ]);
  expect(await plan({ applications: [{ name: 'portal', flowOverride: null }] })).toEqual([
    ['portal: people sign in by the realm’s flow', false, 1, 1, 1],
  ]);
  expect(await plan({ applications: [{ name: 'new', clients: ['spa'], roles: ['chief'] }] })).toEqual([
    ['new: spa is for those alone who hold chief', true, 2, 2, 1],
  ]);
  // its own flow goes before its application’s
  await admin.apply(realm, { clients: [{ clientId: 'other', flowOverride: 'browser' }] });
  expect((await plan(flows)).map((one) => Array(one).flat().slice(2))).toEqual([[0, 0, 0]]);
});

test('a SAML client that goes, or whose flow or keys change, touches who is signed in to it', async () => {
  await makeServiceProvider(server, realm, { flowOverride: 'own', nameIdFormat: 'persistent' });
  const sp = await serviceProvider(server, realm, { entityId: WIKI });
  const { person } = await getCode(server, realm, 'spa', { username: 'alice' });
  await signedIn(person, await person.open(await sp.getAuthorizeUrlAsync('', undefined, {})));
  const manager = 'saml';
  const samlClients = [{ entityId: WIKI, flowOverride: 'own' }];
  await admin.apply(realm, { samlClients }, { manager });
  expect(await plan({ samlClients: [] }, { manager, prune: 'true' })).toEqual([
    [`${WIKI}: goes: nobody signs in to it any more`, true, 1, 1, 1],
  ]);
  await admin.apply(realm, { applications: [{ name: 'portal', clients: [] }] });
  expect(await plan({ flows: [{ alias: 'own', executions: stricter }] })).toEqual([
    ['own: asks otp of everybody', false, 1, 1, 1],
  ]);
  expect(
    await plan({ samlClients: [{ entityId: WIKI, flowOverride: null, signAssertions: false }] }, { manager }),
  ).toEqual([
    [`${WIKI}: its assertions carry no signature of the realm’s`, true, 1, 1, 1],
    [`${WIKI}: people sign in by the realm’s flow`, false, 1, 1, 1],
  ]);
  // an application that takes it in counts for it, too
  expect(await plan({ applications: [{ name: 'new', samlClients: [WIKI], enabled: false }] })).toEqual([
    [`new: nobody signs in to ${WIKI} any more`, true, 1, 1, 1],
  ]);
});

test('an admin role that allows less touches who administers by it', async () => {
  await administrator(server, { target: realm, permissions: ['roles:read', 'users:read'] });
  const { rows } = await server.pool.query<{ name: string }>(
    `select r.name from admin_role r join admin_grant g on g.realm_id = r.realm_id and g.role_id = r.id
     where r.realm_id = 'master' and r.permissions = array['roles:read', 'users:read']`,
  );
  const adminRoles = [{ name: rows[0]?.name ?? '', permissions: ['roles:read' as const] }];
  const { consequences } = await admin.apply('master', { adminRoles }, { dryRun: 'true' });
  expect(consequences).toMatchObject([{ message: 'no longer allows users:read', locksOut: true, people: 1 }]);
});

test('mail that is sent no more touches who signed in by it', async () => {
  await server.pool.query(
    `update session set factors = '[{"authenticator": "username-password", "at": 1}, {"authenticator": "email-otp", "at": 2}]'
     where realm_id = $1 and user_id = (select id from realm_user where realm_id = $1 and username = 'bob')`,
    [realm],
  );
  expect(await plan({ realm: { maxEmailsPerHour: 0, maxSmsPerHour: 0 } })).toEqual([
    ['tied: no e-mail is sent any more, nor a code by it', true, 1, 1, 0],
    ['tied: no SMS is sent any more, nor a code by it', true, 0, 0, 0],
  ]);
});

test('people who go, are disabled or lose roles by a document are counted together, who is new is not', async () => {
  const manager = 'hr';
  await admin.apply(realm, { users: [{ username: 'alice' }, { username: 'dora' }] }, { manager, force: 'true' });
  const users = [
    { username: 'new', roles: ['reader'] },
    { username: 'bob', roles: [] },
    { username: 'carol', enabled: false, groups: [] },
  ];
  const planned = await plan({ users }, { manager, prune: 'true', force: 'true' });
  expect(planned.toSorted()).toEqual([
    ['*: are deleted, with all their data', true, expect.any(Number), 2, 0],
    ['*: lose roles or groups', true, 1, 1, 0],
    ['*: sign in no more', true, 1, 1, 0],
  ]);
  expect(await plan({ users: [{ username: 'bob', firstName: 'Bob' }] }, { manager, force: 'true' })).toEqual([]);
});

test('undoing a plan says whom that touches, too', async () => {
  const roles = [{ name: 'late', composite: { roles: ['reader'] } }];
  const users = [{ username: 'bob', roles: ['late'] }];
  const { revision } = await admin.apply(realm, { roles }, { manager: 'later' });
  await admin.apply(realm, { users }, { manager: 'people', force: 'true' });
  const at = { params: { realm, revision }, query: { dryRun: 'true' } } as const;
  const { body } = await server.admin.call(undoHistory, at);
  expect(body?.consequences.map(words)).toEqual([
    ['late: is taken from all who hold it, and with it reader', true, 1, 1, 0],
  ]);
});

test('an agent made of a client that works stops it', async () => {
  expect(await plan({ agents: [{ name: 'helper', clientId: 'spa' }] })).toEqual([
    ['helper: its client gets no tokens until it is active', true, 3, 2, 1],
  ]);
});
