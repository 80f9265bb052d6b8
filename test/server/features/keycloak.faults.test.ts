// Owns: things in an export of Keycloak that can't be taken: each is cut out and told with its place in the file, and the rest comes.
// Does not own: things broken at random (keycloak.broken.test.ts), what becomes of an export without faults (keycloak.test.ts).
// Implements: decisions "Import, export, plan" (import/keycloak); docs/keycloak.md.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NotCarried } from '../../../server/contract/keycloak.ts';
import { createUser, listUsers } from '../../../server/contract/users.ts';
import { importKeycloak } from '../../support/keycloak.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
}, 120_000);
afterAll(() => server?.stop());

let made = 0;
/** Imported for good, after a dry run that says the same. @returns the realm as it is then, and what was told by its place */
async function imported(exported: object | object[], { into }: { into?: string } = {}) {
  made += 1;
  const realm = into ?? `faulty${made}`;
  const body = JSON.stringify(exported);
  const dry = await importKeycloak(admin, realm, body, { dryRun: 'true', from: 'faulty' });
  const plan = await importKeycloak(admin, realm, body, { from: 'faulty' });
  expect(plan.notCarried).toEqual(dry.notCarried);
  expect(plan.summary).toEqual(dry.summary);
  return { realm, plan, document: JSON.parse(await admin.download(realm)), told: byPlace(plan.notCarried) };
}
const byPlace = (notes: readonly NotCarried[]): Record<string, string> =>
  Object.fromEntries(notes.map(({ path, why }) => [path ?? '', why]));
const usersOf = async (realm: string) =>
  (await server.admin.call(listUsers, { params: { realm }, query: { limit: 500 } })).body ?? [];
const emails = async (realm: string) =>
  Object.fromEntries((await usersOf(realm)).map(({ username, email }) => [username, email]));
const names = (list: readonly Record<string, string>[] | undefined, key: string) => (list ?? []).map((one) => one[key]);

test('secrets that refer to Keycloak’s vault or its environment are told, and what they are of comes without them', async () => {
  const one = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
  const { document, told } = await imported({
    realm: 'faulty',
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: so Keycloak writes it
    clients: [
      { clientId: 'account' },
      { clientId: 'shop', secret: '${vault.shop}', redirectUris: ['https://shop.example/cb'] },
      { clientId: 'env', secret: '${SHOP_SECRET}' },
    ],
    identityProviders: [
      {
        alias: 'other',
        providerId: 'oidc',
        config: {
          issuer: 'https://other.example',
          authorizationUrl: 'https://other.example/auth',
          tokenUrl: 'https://other.example/token',
          clientId: 'us',
          clientSecret: '${vault.other}',
        },
      },
    ],
    smtpServer: { host: 'mail.example', from: 'a@mail.example', auth: 'true', user: 'us', password: '${vault.smtp}' },
    components: {
      'org.keycloak.storage.UserStorageProvider': [
        {
          name: 'corporate',
          providerId: 'ldap',
          config: one({
            connectionUrl: 'ldaps://ldap.example',
            usersDn: 'ou=people,dc=example',
            bindDn: 'cn=reader,dc=example',
            bindCredential: '${vault.ldap}',
            usernameLDAPAttribute: 'uid',
            uuidLDAPAttribute: 'entryUUID',
            userObjectClasses: 'inetOrgPerson',
          }),
          subComponents: {
            'org.keycloak.storage.ldap.mappers.LDAPStorageMapper': [
              {
                name: 'groups',
                providerId: 'group-ldap-mapper',
                config: one({ 'groups.dn': 'ou=groups,dc=example', 'groups.path': '/' }),
              },
            ],
          },
        },
      ],
    },
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: so Keycloak writes it
  });
  const why = 'refers to a secret that is not in the file: set it';
  expect(told).toMatchObject({
    'clients[1].secret': why,
    'clients[2].secret': why,
    'identityProviders[0].config.clientSecret': why,
    'smtpServer.password': why,
    'components.org.keycloak.storage.UserStorageProvider[0].config.bindCredential': why,
  });
  expect(names(document.clients, 'clientId')).toEqual(expect.arrayContaining(['shop', 'env']));
  expect(names(document.identityProviders, 'alias')).toEqual(['other']);
  expect(names(document.messagingProviders, 'driver')).toContain('smtp');
  expect(document.userFederation).toMatchObject([{ alias: 'corporate', groups: { below: '/' } }]);
});

test('users who share an address, a name or an id come as far as they can, the first with all that is theirs', async () => {
  const id = '11111111-2222-4333-8444-555555555555';
  const { realm, told, plan } = await imported({
    realm: 'faulty',
    duplicateEmailsAllowed: true,
    users: [
      { username: 'ada', email: 'shared@example.org', id },
      { username: 'bob', email: 'SHARED@example.org' },
      { username: 'ADA', email: 'other@example.org' },
      { username: 'cy', email: 'dan@example.org' },
      { username: 'dan@example.org', email: 'dan@example.org' },
      { username: 'eve', id },
      { username: 'fay', email: 'n/a', attributes: { nick: ['f'] } },
      { username: 'gus', id: 'not-a-uuid', enabled: null, attributes: null },
      { username: null },
      7,
      { username: 'hal', realmRoles: ['nowhere', 5], groups: ['/gone'], requiredActions: ['DANCE', 'UPDATE_PASSWORD'] },
      {
        username: 'ida',
        federatedIdentities: [{ identityProvider: 'gone', userId: '1' }],
        credentials: [{ type: 'password', secretData: '{"value":"x"}', credentialData: '{"algorithm":"md5"}' }, 'odd'],
      },
      { username: 'x'.repeat(300) },
      { username: 'last', firstName: 'y'.repeat(300), lastName: 'Fine', createdTimestamp: -1 },
    ],
  });
  expect(await emails(realm)).toEqual({
    ada: 'shared@example.org',
    bob: null,
    cy: null,
    'dan@example.org': 'dan@example.org',
    eve: null,
    fay: null,
    gus: null,
    hal: null,
    ida: null,
    last: null,
  });
  expect(told).toMatchObject({
    'users[1].email': 'is another user’s before it',
    'users[2].username': 'is there twice: the first counts',
    'users[3].email': 'is another user’s username',
    'users[5].id': 'is another user’s before it: this one gets a new id',
    'users[6].email': expect.any(String),
    'users[7].id': 'is no UUID: the user gets a new id',
    'users[8]': expect.stringContaining('username'),
    'users[9]': expect.any(String),
    'users[10].realmRoles[1]': expect.any(String),
    'users[10].realmRoles[0]': 'nowhere isn’t carried over',
    'users[10].groups[0]': '/gone isn’t carried over',
    'users[11].credentials[1]': expect.any(String),
    'users[11].federatedIdentities[0]': expect.stringContaining('gone'),
    'users[12].username': expect.any(String),
    'users[13].firstName': expect.any(String),
    'users[13].createdTimestamp': expect.stringContaining('9999'),
  });
  expect(plan.notCarried.filter(({ file }) => file !== null)).toEqual([]);
  const all = await usersOf(realm);
  expect(all.find(({ username }) => username === 'ada')?.id).toBe(id);
  expect(all.find(({ username }) => username === 'last')).toMatchObject({ firstName: null, lastName: 'Fine' });
});

test('of a list of files each note says which one it speaks of; users of the realm keep their names', async () => {
  const { realm } = await imported({ realm: 'faulty', roles: { realm: [{ name: 'reader' }] }, users: [] });
  await server.admin.call(createUser, { params: { realm }, body: { username: 'here', email: 'here@example.org' } });
  await server.admin.call(createUser, { params: { realm }, body: { username: 'name@example.org' } });
  const { plan } = await imported(
    [
      { realm: 'faulty', users: [{ username: 'one', email: 'HERE@example.org', realmRoles: ['reader', 'nowhere'] }] },
      { realm: 'faulty', users: [{ username: 'two', email: 'name@example.org' }, { username: 'here@example.org' }] },
    ],
    { into: realm },
  );
  expect(await emails(realm)).toEqual({
    here: 'here@example.org',
    'name@example.org': null,
    one: null,
    two: null,
  });
  expect(plan.notCarried.map(({ file, path, why }) => `${file} ${path} ${why}`)).toEqual([
    '0 users[0].realmRoles[1] nowhere isn’t carried over',
    '0 users[0].email is another user’s username',
    '1 users[0].email is name@example.org’s in this realm',
    '1 users[1].username is here’s in this realm',
  ]);
  const one = (await usersOf(realm)).find(({ username }) => username === 'one');
  expect(one?.roles).toContain('reader');
});

test('roles that contain each other, at clients too, come without the step that closes the circle', async () => {
  const { document, told } = await imported({
    realm: 'faulty',
    clients: [{ clientId: 'shop' }],
    roles: {
      realm: [
        { name: 'a', composites: { realm: ['b', 'c'] } },
        { name: 'b', composites: { client: { shop: ['d'] } } },
        { name: 'c', composites: { realm: ['c'] } },
        { name: 'e', composites: { realm: ['nowhere', 'a'] } },
      ],
      client: { shop: [{ name: 'd', composites: { realm: ['a', 'c'] } }, { name: 'd' }] },
    },
  });
  const role = (name: string) => document.roles.find((one: { name: string }) => one.name === name).composite;
  expect(role('a')).toMatchObject({ roles: ['b', 'c'] });
  expect(role('b')).toMatchObject({ clientRoles: { shop: ['d'] } });
  expect(role('c').roles ?? []).toEqual([]);
  expect(role('e')).toMatchObject({ roles: ['a'] });
  expect(document.clientRoles.shop).toMatchObject([{ name: 'd', composite: { roles: ['c'] } }]);
  expect(told).toMatchObject({
    'roles.client.shop[0].composites.realm[0]': expect.stringContaining('contain each other'),
    'roles.realm[2].composites.realm[0]': expect.stringContaining('contain each other'),
    'roles.realm[3].composites.realm[0]': expect.stringContaining('nowhere'),
    'roles.client.shop[1]': expect.stringContaining('twice'),
  });
});

test('what names a scope, a role, a group, a flow or a provider that the file lacks comes without that', async () => {
  const mapper = { name: 'm', protocolMapper: 'saml-of-mars', config: {} };
  const { document, told } = await imported({
    realm: 'faulty',
    browserFlow: 'my flow',
    supportedLocales: ['de', 'tlh-Klingon-but-longer-than-any', 5],
    internationalizationEnabled: true,
    defaultGroups: ['/gone'],
    requiredActions: [{ alias: 'DANCE', enabled: true, defaultAction: true }],
    clientScopes: [{ name: 'mine', protocolMappers: [mapper] }, { name: 'mine' }, { name: 5 }],
    clients: [
      { clientId: 'shop', defaultClientScopes: ['mine', 'gone'], optionalClientScopes: ['lost', 'offline_access'] },
      { clientId: 'shop', redirectUris: ['https://second.example/cb'] },
      { clientId: 'flows', authenticationFlowBindingOverrides: { browser: 'gone' }, protocolMappers: [mapper] },
      { clientId: 'uris', redirectUris: ['https://ok.example/cb', 'http://a b', 'ht!tp', null, '*'] },
      { clientId: 'machine', serviceAccountsEnabled: true },
      { redirectUris: [] },
    ],
    roles: { realm: [{ name: 'reader' }, { name: 'reader' }] },
    groups: [
      { name: 'team', realmRoles: ['reader', 'nowhere'], clientRoles: { gone: ['x'] }, subGroups: [{ name: 'in' }] },
      { name: 'team' },
    ],
    organizations: [{ name: 'org', domains: [{ name: 'org.example' }], identityProviders: [{ alias: 'gone' }] }],
    identityProviders: [{ alias: 'mars', providerId: 'mars' }],
    users: [
      { username: 'service-account-machine', serviceAccountClientId: 'machine', realmRoles: ['reader', 'nowhere'] },
      { username: 'service-account-gone', serviceAccountClientId: 'gone' },
      { username: 'ann', clientRoles: { shop: ['nothing'], gone: ['x'] }, realmRoles: ['reader'] },
    ],
  });
  const shop = document.clients.find((one: { clientId: string }) => one.clientId === 'shop');
  expect(shop).toMatchObject({ defaultClientScopes: ['mine'], redirectUris: [] });
  expect(document.clients.find((one: { clientId: string }) => one.clientId === 'uris')).toMatchObject({
    redirectUris: ['https://ok.example/cb'],
  });
  expect(names(document.clients, 'clientId')).toEqual(expect.arrayContaining(['flows', 'machine']));
  expect(document.groups).toMatchObject([{ path: '/team', roles: ['reader'] }, { path: '/team/in' }]);
  expect(names(document.organizations, 'name')).toEqual(['org']);
  expect(document.serviceAccountRoles).toMatchObject([{ clientId: 'machine', roles: ['reader'] }]);
  expect(document.users).toMatchObject([{ username: 'ann', roles: ['reader'] }]);
  expect(told).toMatchObject({
    'clients[0].defaultClientScopes[1]': 'there is no clientScope gone',
    'clients[0].optionalClientScopes[0]': 'there is no clientScope lost',
    'clients[1]': 'shop is there twice: the first counts',
    'clients[2].authenticationFlowBindingOverrides': expect.any(String),
    'clients[2].protocolMappers[0]': expect.any(String),
    'clients[3].redirectUris[1]': expect.any(String),
    'clients[3].redirectUris[3]': expect.any(String),
    'clients[5]': expect.stringContaining('clientId'),
    'clientScopes[1]': 'mine is there twice: the first counts',
    'clientScopes[2].name': expect.any(String),
    'groups[0].realmRoles[1]': 'there is no role nowhere',
    'groups[1]': '/team is there twice: the first counts',
    'organizations[0].identityProviders[0]': expect.any(String),
    'identityProviders[0]': expect.stringContaining('mars'),
    'users[0].realmRoles[1]': 'nowhere isn’t carried over',
  });
});

test('an authorization service with more than 2,000 permissions is left out whole and told; its client comes', async () => {
  const policies = Array.from({ length: 2_500 }, (_, i) => ({
    name: `p${i}`,
    type: 'resource',
    config: { resources: '["r"]', applyPolicies: '["nobody"]' },
  }));
  const nobody = { name: 'nobody', type: 'role', config: { roles: '[{"id":"reader"}]' } };
  const settings = (of: object[]) => ({ resources: [{ name: 'r' }], policies: [nobody, ...of] });
  const client = { serviceAccountsEnabled: true, authorizationServicesEnabled: true };
  const { document, told } = await imported({
    realm: 'faulty',
    roles: { realm: [{ name: 'reader' }] },
    clients: [
      { ...client, clientId: 'large', authorizationSettings: settings(policies) },
      { ...client, clientId: 'small', authorizationSettings: settings(policies.slice(0, 1_900)) },
    ],
  });
  expect(names(document.clients, 'clientId')).toEqual(expect.arrayContaining(['large', 'small']));
  expect(names(document.authorizationServices, 'clientId')).toEqual(['small']);
  expect(told).toMatchObject({ 'clients[0].authorizationSettings': expect.stringContaining('by hand') });
}, 120_000);

test.each([
  ['{"something":"else"}', 'what Keycloak exports'],
  ['[1]', 'object'],
  ['{"realm":', 'ends too early'],
])('a body that is no export, as %s, is refused whole', async (body, why) => {
  await expect(importKeycloak(admin, 'none', body)).rejects.toThrow(why);
  expect((await admin.fetch('/admin/realms/none')).status).toBe(404);
});

test('what is nested too deep to be kept is told, and what stands beside it comes', async () => {
  const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  const nested = Array.from({ length: 60 }).reduce<object>((inner, _, i) => ({ name: `g${i}`, subGroups: [inner] }), {
    name: 'innermost',
  });
  const { realm, told, document } = await imported({
    realm: 'faulty',
    attributes: { odd: deep(120) },
    roles: { realm: [{ name: 'clerk' }] },
    groups: [{ name: 'first' }, nested, { name: 'last' }],
    users: [{ username: 'ada' }, { username: 'bob', attributes: { odd: deep(120) } }, { username: 'cy' }],
  });
  const why = 'can’t be read: is nested deeper than 100 levels';
  expect(told).toEqual({ attributes: why, 'groups[1]': why, 'users[1]': why });
  expect(names(document.groups, 'path')).toEqual(['/first', '/last']);
  expect((await usersOf(realm)).map(({ username }) => username)).toEqual(['ada', 'cy']);
});

test('a group whose name has a slash comes with it escaped, with its members and those below it', async () => {
  const { document, told } = await imported({
    realm: 'faulty',
    roles: { realm: [{ name: 'reader' }] },
    groups: [
      { name: 'R/D', path: '/R/D', realmRoles: ['reader'], subGroups: [{ name: 'Lab', path: '/R/D/Lab' }] },
      { name: 'Sales', path: '/Sales', subGroups: [{ name: 'EMEA', path: '/Sales/EMEA' }] },
    ],
    users: [{ username: 'ada', groups: ['/R/D', '/R/D/Lab', '/Sales/EMEA', '/nowhere'] }],
  });
  expect(names(document.groups, 'path')).toEqual(['/R%2FD', '/R%2FD/Lab', '/Sales', '/Sales/EMEA']);
  expect(document.groups[0]).toMatchObject({ roles: ['reader'] });
  expect(document.users[0].groups).toEqual(['/R%2FD', '/R%2FD/Lab', '/Sales/EMEA']);
  expect(Object.values(told).join()).toContain('/nowhere');
});

test('a slash that Keycloak escapes in the paths of groups is the same slash', async () => {
  const { document } = await imported({
    realm: 'faulty',
    groups: [
      { name: 'R/D', path: '/R~/D' },
      { name: 'Q/A', path: '/Q~/A' },
    ],
    defaultGroups: ['/Q~/A'],
    users: [{ username: 'ada', groups: ['/R~/D'] }],
  });
  expect(document.groups).toMatchObject([{ path: '/Q%2FA', default: true }, { path: '/R%2FD' }]);
  expect(document.users[0].groups).toEqual(['/R%2FD']);
});

test('numbers and truth values as text count as Keycloak counts them, and null is no value', async () => {
  const { document, told } = await imported({
    realm: 'faulty',
    accessTokenLifespan: '240',
    rememberMe: 'true',
    groups: [{ name: 'g', attributes: { none: null, some: [null, '1'] } }],
    clients: [{ clientId: 'web', publicClient: 'true', redirectUris: ['https://web.example.com/cb'] }],
  });
  expect(document.realm).toMatchObject({ accessTokenTtlSeconds: 240, rememberMe: true });
  expect(document.groups[0].attributes).toEqual({ some: ['1'] });
  expect(document.clients[0]).toMatchObject({ clientId: 'web', tokenEndpointAuthMethod: 'none' });
  expect(told).toEqual({ 'clients[0]': 'a public client sends PKCE here' });
});

test('a client of another protocol does not become one of OpenID Connect, and is told', async () => {
  const { document, told } = await imported({
    realm: 'faulty',
    clients: [{ clientId: 'registry', protocol: 'docker-v2' }, { clientId: 'web' }],
  });
  expect(names(document.clients, 'clientId')).toEqual(['web']);
  expect(Object.values(told).join()).toContain('docker-v2');
});

test('of two groups whose names differ in case only the first is carried over, and the other is told', async () => {
  const { document, told } = await imported({
    realm: 'faulty',
    groups: [
      { name: 'Sales', subGroups: [{ name: 'North' }, { name: 'NORTH' }] },
      { name: 'sales', subGroups: [{ name: 'South' }] },
    ],
    users: [{ username: 'ada', groups: ['/Sales/North', '/sales/South'] }],
  });
  expect(names(document.groups, 'path')).toEqual(['/Sales', '/Sales/North']);
  expect(document.users[0].groups).toEqual(['/Sales/North']);
  const words = Object.values(told).join();
  for (const other of ['/Sales', '/Sales/North']) expect(words).toContain(`the group ${other} in case only`);
});
