// Owns: a realm that Keycloak exported, moved here: its people sign in with their old passwords and codes, its objects are there,
// and what couldn't come along is told item by item.
// Does not own: the import that it goes through (transfer.*.test.ts). keycloak/ holds files as `kc.sh export` of Keycloak 26 writes them.
// Implements: decisions "Import, export, plan" (import/keycloak); specification 4.2.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listClients } from '../../../server/contract/clients.ts';
import { getDirectory } from '../../../server/contract/user-federation.ts';
import { listUsers } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { codeAt } from '../../support/authenticator-app.ts';
import { basic, post } from '../../support/clients.ts';
import { importKeycloak, sendKeycloak, signInAs } from '../../support/keycloak.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

const fixture = (name: string): string => readFileSync(path.join(import.meta.dirname, 'keycloak', name), 'utf8');
const acme = `[${['acme-realm.json', 'acme-users-0.json', 'acme-users-1.json'].map(fixture).join(',')}]`;

let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
  await send('acme', acme);
}, 120_000);
afterAll(() => server?.stop());

const send = (realm: string, body: string, query?: Record<string, string>) => importKeycloak(admin, realm, body, query);
const signIn = (realm: string, username: string, password: string) => signInAs(server, realm, username, password);
const hashOf = async (realm: string, username: string): Promise<string> => {
  const { rows } = await server.pool.query(
    `select c.secret ->> 'phc' as phc from credential c join realm_user u on u.realm_id = c.realm_id and u.id = c.user_id
     where u.realm_id = $1 and u.username = $2 and c.type = 'password'`,
    [realm, username],
  );
  return rows[0]?.phc;
};

test.each([
  ['ada', 'Ada knows 1 Engine', '$argon2id$v=19$m=7168,t=5,p=1$'],
  ['dan', 'Dan digs 4 Ditches', '$bcrypt$v=98$r=10$'],
])('%s signs in with the password of before, whose hash is then one of today’s', async (username, password, before) => {
  expect(await hashOf('acme', username)).toContain(before);
  expect((await signIn('acme', username, 'another one')).page.url).toContain('/login');
  expect((await signIn('acme', username, password)).page.url).toContain('/account');
  await expect.poll(() => hashOf('acme', username)).not.toContain(before);
  expect((await signIn('acme', username, password)).page.url).toContain('/account');
});

test('a second factor goes on working: the same authenticator app, asked for by the same flow', async () => {
  const { person, page } = await signIn('acme', 'cy', 'Cy counts 3 Stars');
  expect(page.url).toContain('/login');
  const secret = base32('Bw1kmG2yYQoHkXKbNjvZ');
  expect((await person.fill(page, { code: codeAt(secret) })).url).toContain('/account');
});
/** Keycloak's secret is the key itself, not its base32. */
function base32(text: string): string {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five, 2)])
    .join('');
}

test('people are who they were: the id that applications know, groups, roles, attributes; who was disabled is', async () => {
  const { body = [] } = await server.admin.call(listUsers, { params: { realm: 'acme' } });
  const exported = JSON.parse(fixture('acme-users-0.json')).users;
  const ada = (body ?? []).find(({ username }) => username === 'ada');
  expect(ada).toMatchObject({
    id: exported[0].id,
    createdAt: exported[0].createdTimestamp,
    emailVerified: true,
    attributes: { department: ['engineering'], badge: ['A0001'], locale: ['de'] },
    groups: ['/engineering/platform'],
    roles: ['default-roles-acme'],
  });
  expect((body ?? []).find(({ username }) => username === 'eve')).toMatchObject({
    enabled: false,
    attributes: { legacy: ['kept'] },
  });
  expect((body ?? []).find(({ username }) => username === 'fay')).toMatchObject({ requiredActions: ['CONFIGURE_OTP'] });
  expect((body ?? []).map(({ username }) => username)).not.toContain('service-account-billing');
  expect((await signIn('acme', 'eve', 'Eve eats 5 Apples')).page.url).toContain('/login');
});

test('the realm is what it was: settings, clients, scopes and claims, roles, groups, flows, providers, mail', async () => {
  const document = JSON.parse(await admin.download('acme'));
  const named = (list: { [field: string]: unknown }[], field: string, name: string) =>
    list.find((one) => one[field] === name);
  expect(document.realm).toMatchObject({
    displayName: 'Acme',
    accessTokenTtlSeconds: 600,
    reuseRefreshTokens: false,
    rememberMeLifetimeSeconds: 604_800,
    lockoutEnabled: true,
    maxLoginFailures: 7,
    passwordMinLength: 10,
    passwordHistory: 5,
    supportedLocales: ['de', 'en'],
    browserFlow: 'acme browser',
  });
  expect(named(document.clients, 'clientId', 'shop')).toMatchObject({
    tokenEndpointAuthMethod: 'none',
    redirectUris: ['https://shop.acme.example/callback', 'myshop:/callback'],
    postLogoutRedirectUris: ['https://shop.acme.example/callback', 'myshop:/callback'],
    accessTokenTtlSeconds: 900,
    defaultClientScopes: ['department', 'email', 'profile', 'roles'],
  });
  expect(named(document.clients, 'clientId', 'billing')).toMatchObject({
    consentRequired: true,
    flowOverride: 'acme browser',
  });
  expect(named(document.clients, 'clientId', 'signed')).toMatchObject({ tokenEndpointAuthMethod: 'private_key_jwt' });
  expect(document.clients.map(({ clientId }: { clientId: string }) => clientId)).not.toContain('realm-management');
  expect(named(document.clientScopes, 'name', 'department')).toMatchObject({
    description: 'The department that you work in',
    claims: ['department', 'department:groups'],
  });
  expect(named(document.claims, 'name', 'preferred_username')).toMatchObject({
    in: ['accessToken', 'idToken', 'introspection', 'userinfo'],
  });
  expect(named(document.clientProtocolMappers, 'clientId', 'billing')).toMatchObject({
    mappers: [
      { source: 'audience', value: 'reports' },
      { claim: 'employee.badge', attribute: 'badge' },
      { value: 'gold' },
    ],
  });
  expect(named(document.roles, 'name', 'editor')).toMatchObject({
    composite: { roles: ['viewer'], clientRoles: { billing: ['read'] } },
    attributes: { level: ['2'] },
  });
  expect(named(document.roles, 'name', 'default-roles-acme')).toMatchObject({ default: true });
  expect(named(document.groups, 'path', '/engineering/platform')).toMatchObject({
    roles: ['editor'],
    clientRoles: { billing: ['write'] },
  });
  expect(named(document.groups, 'path', '/everybody')).toMatchObject({ default: true });
  expect(named(document.serviceAccountRoles, 'clientId', 'billing')).toMatchObject({
    clientRoles: { billing: ['write'] },
  });
  expect(named(document.flows, 'alias', 'acme browser')).toMatchObject({
    executions: [
      {
        executions: [
          { authenticatorId: 'username-password', requirement: 'REQUIRED' },
          { requirement: 'CONDITIONAL', executions: [{ authenticatorId: 'mfa-enabled' }, { authenticatorId: 'otp' }] },
        ],
      },
    ],
  });
  expect(named(document.identityProviders, 'alias', 'corporate')).toMatchObject({
    type: 'oidc',
    syncMode: 'always',
    mappers: [
      { claim: 'dept', to: 'attribute' },
      { claim: 'role', value: 'editor', to: 'role' },
    ],
  });
  expect(named(document.identityProviders, 'alias', 'google')).toMatchObject({
    config: { issuer: 'https://accounts.google.com' },
  });
  expect(document.organizations).toMatchObject([
    { name: 'globex', identityProviders: ['corporate'], members: ['bea'] },
  ]);
  // With what its scopes say there.
  const samlMappers = [
    { name: 'dept', nameFormat: 'uri' },
    { source: 'property' },
    { name: 'organization', source: 'organization' },
    { claim: 'Role', source: 'roles' },
  ];
  expect(document.samlClients).toMatchObject([{ nameIdFormat: 'emailAddress', mappers: samlMappers }]);
  expect(document.messagingProviders).toMatchObject([
    { fromAddress: 'no-reply@acme.example', config: { tls: 'starttls', username: 'mailer' } },
  ]);
  expect(document.userProfile).toMatchObject({ unmanagedAttributes: 'adminEdit' });
});

test('a client goes on with its secret, and its tokens say what they said', async () => {
  const { status, body } = await post(
    server,
    'acme',
    'token',
    { grant_type: 'client_credentials' },
    {
      authorization: basic('billing', 'hUq3ZpV9mB5tW2xY7kL0nR4sD8fG1jAc'),
    },
  );
  expect(status).toBe(200);
  const claims = JSON.parse(Buffer.from(String(body.access_token).split('.')[1] ?? '', 'base64url').toString());
  expect(claims).toMatchObject({ plan: 'gold', resource_access: { billing: { roles: ['read', 'write'] } } });
  expect([claims.aud].flat()).toContain('reports');
});

test('the same files again change nothing, and what they lack is told again', async () => {
  const again = await send('acme', acme);
  expect(again.changes).toEqual([]);
  expect(again).toMatchObject({ inSync: true, summary: { create: 0, update: 0, delete: 0 } });
  const told = again.notCarried.map(({ kind, key, field }) => `${kind} ${key} ${field}`);
  expect(told).toEqual(
    expect.arrayContaining([
      'client masked secret',
      'identityProvider corporate config.clientSecret',
      'realm acme smtpServer.password',
      'flow acme kerberos null',
      'client shop redirectUris',
      'user fay credentials.password',
      'user fay credentials.webauthn',
      'user dan clientRoles.realm-management',
      'identityProvider weibo null',
      'clientScope department protocolMappers.cost centre script',
    ]),
  );
  expect(again.notCarriedCount).toBe(again.notCarried.length);
  expect(JSON.stringify(again)).not.toMatch(/hUq3ZpV9|google-secret|\*{10}/);
});

test('a dry run tells the plan and what is left out, and writes nothing; users may be in the realm’s own file', async () => {
  const file = fixture('shop-eu-realm.json');
  const planned = await send('shop-eu', file, { dryRun: 'true' });
  expect(planned.changes).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ action: 'create', kind: 'client', key: 'spa' }),
      expect.objectContaining({ action: 'create', kind: 'user', key: 'gil' }),
    ]),
  );
  expect(planned.notCarried).toContainEqual(expect.objectContaining({ field: 'passwordPolicy.length' }));
  expect((await admin.fetch('/admin/realms/shop-eu')).status).toBe(404);
  await send('shop', file, { from: 'shop-eu' });
  expect((await signIn('shop', 'gil', 'Gil gulps 6 Gallons')).page.url).toContain('/account');
  const { body } = await server.admin.call(listClients, { params: { realm: 'shop' } });
  expect(body?.map(({ clientId }) => clientId)).toContain('spa');
});

test('of several realms in one file the one that is asked for is taken, and the others are told', async () => {
  const both = `[${fixture('shop-eu-realm.json')},${fixture('acme-realm.json')}]`;
  const plan = await send('shop-eu', both, { dryRun: 'true' });
  expect(plan.notCarried).toContainEqual(expect.objectContaining({ kind: 'realm', key: 'acme', field: null }));
  expect(plan.changes.some(({ key }) => key === 'billing')).toBe(false);
  const refused = await sendKeycloak(admin, 'another', both, { dryRun: 'true' });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('shop-eu, acme');
});

test('a file of users alone adds its people to a realm that was moved before', async () => {
  await send('later', fixture('acme-realm.json'));
  const { summary } = await send('later', fixture('acme-users-1.json'));
  expect(summary).toMatchObject({ create: 2 });
  expect((await signIn('later', 'eve', 'x')).page.url).toContain('/login');
});

test('what no server of Keycloak wrote is refused with its place, and too much of it by its size', async () => {
  const faults = async (body: string) => {
    const response = await sendKeycloak(admin, 'nothing', body);
    return [response.status, await response.text()] as const;
  };
  expect(await faults('')).toEqual([400, expect.stringContaining('ends too early')]);
  expect(await faults('[{"realm":"a"}')).toEqual([400, expect.stringContaining('ends too early')]);
  expect(await faults('"realm"')).toEqual([400, expect.stringContaining('must be an object')]);
  expect(await faults('{"formatVersion":1,"oauth":{}}')).toEqual([
    400,
    expect.stringContaining('what Keycloak exports'),
  ]);
  expect(await faults('{"realm":"a","__proto__":{}}')).toEqual([400, expect.any(String)]);
  const big = 'x'.repeat(1000);
  const clients = Array.from({ length: 34_000 }, (_, i) => ({ clientId: `c${i}`, description: big }));
  expect((await faults(JSON.stringify({ realm: 'a', clients })))[0]).toBe(413);
  const users = Array.from({ length: 34_000 }, (_, i) => ({ username: `u${i}`, firstName: big }));
  expect(await faults(JSON.stringify({ users, realm: 'a' }))).toEqual([
    413,
    expect.stringContaining('realm’s file first'),
  ]);
  expect((await admin.fetch('/admin/realms/nothing')).status).toBe(404);
}, 60_000);

test('one bad address keeps nobody from moving: what isn’t taken is cut out and told', async () => {
  const { notCarried } = await send(
    'rough',
    JSON.stringify({
      realm: 'rough',
      displayName: 'Rough',
      accessTokenLifespan: 999_999_999,
      clients: [
        {
          clientId: 'odd',
          secret: 'short',
          serviceAccountsEnabled: true,
          redirectUris: ['https://ok.example/cb', 'javascript:alert(1)'],
        },
        { clientId: '5f0c1a6e-8b1d-4a53-9d53-0d6f3c3a7f11', publicClient: true },
      ],
      clientScopes: [
        {
          name: 'sly',
          protocolMappers: [
            {
              name: 'forge',
              protocolMapper: 'oidc-hardcoded-claim-mapper',
              config: { 'claim.name': 'client_id', 'claim.value': 'admin' },
            },
          ],
        },
        { name: 'two words' },
      ],
      roles: { realm: [{ name: 'fine' }] },
      users: [
        { username: 'ok', email: 'not an address', realmRoles: ['fine'] },
        { username: 'bad\u0007name' },
        { username: 7 },
      ],
    }),
  );
  const told = notCarried.map(({ kind, key, field }) => `${kind} ${key} ${field}`);
  expect(told).toEqual(
    expect.arrayContaining([
      'settings realm accessTokenLifespan',
      'client odd redirectUris[1]',
      'client 5f0c1a6e-8b1d-4a53-9d53-0d6f3c3a7f11 clientId',
      'claim client_id name',
      'clientScope two words name',
      'user ok email',
      'user bad\u0007name username',
      'user 7 username',
    ]),
  );
  const document = JSON.parse(await admin.download('rough'));
  expect(document.clients.map(({ clientId }: { clientId: string }) => clientId)).toContain('odd');
  expect(document.users).toMatchObject([{ username: 'ok', email: null, roles: ['fine'] }]);
});

test('an LDAP user storage becomes a directory, and what has no counterpart is told', async () => {
  const one = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
  const { notCarried } = await send(
    'directories',
    JSON.stringify({
      realm: 'directories',
      components: {
        'org.keycloak.storage.UserStorageProvider': [
          {
            name: 'corporate',
            providerId: 'ldap',
            config: one({
              enabled: 'true',
              connectionUrl: 'ldap://ldap.example.com:389',
              bindDn: 'cn=admin,dc=example,dc=com',
              bindCredential: 'admin',
              usersDn: 'ou=people,dc=example,dc=com',
              userObjectClasses: 'inetOrgPerson, organizationalPerson',
              customUserSearchFilter: '(mail=*)',
              usernameLDAPAttribute: 'uid',
              uuidLDAPAttribute: 'entryUUID',
              searchScope: '1',
              fullSyncPeriod: '86400',
              batchSizeForSync: '500',
              editMode: 'WRITABLE',
              trustEmail: 'true',
            }),
            subComponents: {
              'org.keycloak.storage.ldap.mappers.LDAPStorageMapper': [
                {
                  name: 'email',
                  providerId: 'user-attribute-ldap-mapper',
                  config: one({ 'ldap.attribute': 'mail', 'user.model.attribute': 'email' }),
                },
                { name: 'full name', providerId: 'full-name-ldap-mapper', config: {} },
                {
                  name: 'groups',
                  providerId: 'group-ldap-mapper',
                  config: one({
                    'groups.dn': 'ou=groups,dc=example,dc=com',
                    'group.object.classes': 'groupOfNames',
                    'group.name.ldap.attribute': 'cn',
                    'membership.ldap.attribute': 'member',
                    'groups.path': '/',
                  }),
                },
              ],
            },
          },
          { name: 'kerberos', providerId: 'kerberos', config: {} },
        ],
      },
    }),
  );
  expect(JSON.parse(await admin.download('directories')).userFederation).toMatchObject([
    {
      alias: 'corporate',
      mode: 'import',
      connection: { urls: ['ldap://ldap.example.com:389'], startTls: true, bindDn: 'cn=admin,dc=example,dc=com' },
      users: {
        base: 'ou=people,dc=example,dc=com',
        filter: '(&(objectClass=inetOrgPerson)(objectClass=organizationalPerson)(mail=*))',
        scope: 'one',
        attributes: { username: 'uid', email: 'mail' },
        trustEmail: true,
      },
      groups: { base: 'ou=groups,dc=example,dc=com', filter: '(objectClass=groupOfNames)' },
      schedule: 86_400,
      pageSize: 500,
    },
  ]);
  const { body } = await server.admin.call(getDirectory, { params: { realm: 'directories', alias: 'corporate' } });
  expect(body).toMatchObject({ secretSet: true });
  expect(notCarried.filter(({ kind }) => kind === 'directory').map(({ key, field }) => `${key} ${field}`)).toEqual([
    'corporate config.connectionUrl',
    'corporate config.editMode',
    'corporate mappers.full name',
    'kerberos null',
  ]);
});

test('whoever moves a realm needs what its document would need', async () => {
  const reader = await administrator(server, { target: 'acme', permissions: ['clients:read'] });
  const { importKeycloak } = await import('../../../server/contract/keycloak.ts');
  const call = reader.call(importKeycloak, {
    params: { realm: 'acme' },
    query: {},
    body: JSON.parse(fixture('acme-realm.json')),
  });
  await expect(call).rejects.toMatchObject({ status: 403 });
});

test('of providers it is told what is still to be set, and why a person’s link stays behind', async () => {
  const link = (identityProvider: string, userId = 'u-1') => ({ identityProvider, userId });
  const links = [link('away'), link('unnamed'), link('sealed', ''), link('keeps')];
  const file = {
    realm: 'tied',
    identityProviders: [
      { alias: 'keeps', providerId: 'github', storeToken: true, config: { clientId: 'c', clientSecret: 'a secret' } },
      {
        alias: 'sealed',
        providerId: 'saml',
        storeToken: true,
        config: {
          idpEntityId: 'https://idp.example',
          singleSignOnServiceUrl: 'https://idp.example/sso',
          wantAssertionsEncrypted: 'true',
        },
      },
      { alias: 'unnamed', providerId: 'saml', config: { metadataDescriptorUrl: 'https://idp2.example/metadata' } },
    ],
    users: [{ username: 'ada', federatedIdentities: links }],
  };
  const { notCarried } = await send('tied', JSON.stringify(file));
  const document = JSON.parse(await admin.download('tied'));
  const configOf = (alias: string) =>
    document.identityProviders.find((one: { alias: string }) => one.alias === alias)?.config;
  expect(configOf('keeps')).toMatchObject({ storeToken: true });
  expect(configOf('sealed')).toMatchObject({ wantAssertionsEncrypted: true });
  expect(configOf('sealed')).not.toHaveProperty('storeToken');
  const told = notCarried.map(({ key, field, why }) => `${key} ${field}: ${why}`);
  expect(told).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^keeps storeToken: .*tokenReaders/),
      'sealed storeToken: assertions are not kept here',
      expect.stringMatching(/^sealed config.wantAssertionsEncrypted: is asked for/),
      'ada federatedIdentities: away: the provider isn’t carried over',
      'ada federatedIdentities: unnamed: the provider has no issuer or entity id that says whose ids these are',
      'ada federatedIdentities: sealed: the link doesn’t say who they are there',
    ]),
  );
  expect(told.filter((one) => one.includes('federatedIdentities'))).toHaveLength(3);
});
