// Owns: two whole realms as Keycloak 26.7.1 exported them, with one of nearly everything: they move, and what holds afterwards.
// Does not own: what becomes of single things (keycloak.test.ts). keycloak/26 holds the very files, without keys and registration
// policies, and claims of tokens that Keycloak issued for the same people.
// Implements: decisions "Import, export, plan" (import/keycloak); specification 4.2.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listIdentityLinks } from '../../../server/contract/identity-links.ts';
import { listUsers } from '../../../server/contract/users.ts';
import { basic, claimsIn, post } from '../../support/clients.ts';
import { importKeycloak, signInAs } from '../../support/keycloak.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

const file = (name: string): string => readFileSync(path.join(import.meta.dirname, 'keycloak/26', name), 'utf8');
const meridian = `[${['meridian-realm.json', 'meridian-users-0.json', 'meridian-users-1.json'].map(file).join(',')}]`;
const lakeside = file('lakeside-eu-realm.json');
const issued: Record<string, Record<string, Record<string, unknown>>> = JSON.parse(file('tokens.json'));

let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
  await send('meridian', meridian);
  await send('lakeside-eu', lakeside);
});
afterAll(() => server?.stop());

const send = (realm: string, body: string) => importKeycloak(admin, realm, body);
const signIn = (realm: string, username: string, password: string) => signInAs(server, realm, username, password);
const PASSWORD = 'Meridian knows 12 #';

test.each([
  ['argon2', 'anna', 'Alpha'],
  ['PBKDF2 with SHA-256', 'owen', 'Oscar'],
  ['PBKDF2 with SHA-512', 'pia', 'Papa'],
  ['PBKDF2 with SHA-1', 'quin', 'Quebec'],
  ['bcrypt, of an extension', 'egon', 'Echo'],
])('a password by %s is the one of before', async (_, username, word) => {
  expect((await signIn('meridian', username, `${PASSWORD} ${word}.`)).page.url).toContain('/login');
  expect((await signIn('meridian', username, `${PASSWORD} ${word}`)).page.url).toContain('/account');
});

const appOf = (key: string, of: { digits: number; period: number; algorithm: string }) =>
  new TOTP({ secret: Secret.fromLatin1(key), ...of });
test.each([
  ['of the usual kind', 'finn', 'Foxtrot', 'Q7nL2xW9mB4zR6tY1cF8', { digits: 6, period: 30, algorithm: 'SHA1' }],
  ['set up in a browser', 'mona', 'Mike', 's3wzsc95znMQoTHl78l1', { digits: 8, period: 60, algorithm: 'SHA256' }],
])('a code of an authenticator app %s is asked for, and counts', async (_, username, word, key, of) => {
  const { person, page } = await signIn('meridian', username, `${PASSWORD} ${word}`);
  expect(page.url).toContain('/login');
  expect((await person.fill(page, { code: '0'.repeat(of.digits) })).url).toContain('/login');
  expect((await person.fill(page, { code: appOf(key, of).generate() })).url).toContain('/account');
});
test('a key that Keycloak keeps in base32 counts, beside the other app of the same person', async () => {
  const { person, page } = await signIn('meridian', 'finn', `${PASSWORD} Foxtrot`);
  const secret = Secret.fromBase32('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP');
  const code = new TOTP({ secret, digits: 8, period: 60, algorithm: 'SHA256' }).generate();
  expect((await person.fill(page, { code })).url).toContain('/account');
});

test('where everybody needs a second factor, who has one is asked for it, and who has none sets one up', async () => {
  const { person, page } = await signIn('lakeside-eu', 'olga@lakeside.example', 'olga9!');
  expect(page.url).toContain('/login');
  const app = appOf('lakesideOtpSecret001', { digits: 6, period: 30, algorithm: 'SHA1' });
  expect((await person.fill(page, { code: app.generate() })).url).toContain('/account');
  expect((await signIn('lakeside-eu', 'pete@lakeside.example', 'pete99!')).page.text).toContain('class="secret"');
});

test('who was disabled is, and who had something to do still has', async () => {
  expect((await signIn('meridian', 'iris', `${PASSWORD} India`)).page.url).toContain('/login');
  const { body } = await server.admin.call(listUsers, { params: { realm: 'meridian' } });
  const named = (username: string) => body?.find((user) => user.username === username);
  expect(named('jack')?.requiredActions?.toSorted()).toEqual([
    'CONFIGURE_OTP',
    'CONFIGURE_PASSKEY',
    'CONFIGURE_RECOVERY_CODES',
    'TERMS',
    'UPDATE_PASSWORD',
    'UPDATE_PROFILE',
    'VERIFY_EMAIL',
  ]);
  expect(named('kate.o’neill+test@meridian.example')).toMatchObject({ email: 'kate@meridian.example' });
  expect(named('liam')).toMatchObject({ email: null, firstName: null });
  expect(named('anna')?.groups).toEqual(['/engineering/platform', '/engineering/platform/on call', '/everybody']);
});

test('people are known at identity providers as before; of one that isn’t here it is told', async () => {
  const { body: users } = await server.admin.call(listUsers, { params: { realm: 'meridian' } });
  const linksOf = async (username: string) => {
    const userId = users?.find((user) => user.username === username)?.id ?? '';
    const { body } = await server.admin.call(listIdentityLinks, { params: { realm: 'meridian', userId } });
    return (body ?? []).map(({ identityProvider, subject, name }) => [identityProvider, subject, name]).sort();
  };
  expect(await linksOf('hugo')).toEqual([
    ['corporate', '00uhugo', 'hugo@corp.example'],
    ['github', '4711', 'hugo-on-github'],
    ['partner', 'G-hugo-persistent', 'G-hugo-persistent'],
  ]);
  expect(await linksOf('ben')).toEqual([['google', '1122334455', 'ben@meridian.example']]);
});

/** What Keycloak says of itself, or of roles of its own clients; the rest is told in `notCarried`. */
const otherwise: Readonly<Record<string, readonly string[]>> = {
  'anna@webshop': ['acr', 'allowed-origins', 'aud', 'azp', 'group_names', 'typ'],
  'anna@backoffice': [
    'acr',
    'allowed-origins',
    'amr',
    'aud',
    'azp',
    'prefixed',
    'typ',
    'uid',
    'realm_access',
    'resource_access',
    'roles',
  ],
  nightly: [
    'acr',
    'aud',
    'azp',
    'typ',
    'sub',
    'clientAddress',
    'clientHost',
    'email_verified',
    'preferred_username',
    'realm_access',
  ],
};
const own = new Set(['account', 'realm-management']);
function comparable(claims: Record<string, unknown>, left: readonly string[]): Record<string, unknown> {
  const sorted = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(sorted).sort()
      : value !== null && typeof value === 'object'
        ? Object.fromEntries(
            Object.entries(value)
              .filter(([name]) => !own.has(name))
              .map(([name, one]) => [name, sorted(one)]),
          )
        : value;
  const kept = Object.entries(claims).filter(([name]) => !left.includes(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name === 'scope' ? String(value).split(' ').sort() : sorted(value)]),
  );
}

async function codeFlow({
  clientId,
  redirectUri,
  scope,
  secret,
}: Record<'clientId' | 'redirectUri' | 'scope', string> & { secret?: string }) {
  const verifier = 'v'.repeat(43);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  const person = createPerson(server.baseUrl);
  let page = await person.open(`/realms/meridian/oauth2/authorize?${query}`);
  page = await person.fill(page, { username: 'anna', password: `${PASSWORD} Alpha` });
  if (page.url.startsWith(server.baseUrl))
    page = await person.post('/realms/meridian/oauth2/consent', { ...page.fields, decision: 'allow' });
  const code = new URL(page.url).searchParams.get('code') ?? '';
  if (code === '') throw new Error(`no code: ${page.status} ${page.url} ${page.heading} ${page.text.slice(0, 2000)}`);
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
  const { body } = secret
    ? await post(server, 'meridian', 'token', form, { authorization: basic(clientId, secret) })
    : await post(server, 'meridian', 'token', { ...form, client_id: clientId });
  const answer = await fetch(`${server.baseUrl}/realms/meridian/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${body.access_token}` },
  });
  const said = await answer.text();
  return {
    access: claimsIn(body.access_token),
    id: claimsIn(body.id_token),
    userinfo: said.startsWith('{') ? JSON.parse(said) : claimsIn(`${said}`),
    expires: body.expires_in,
  };
}

describe('tokens say what Keycloak’s said of the same person', () => {
  test.each([
    [
      'a public client',
      'anna@webshop',
      { clientId: 'webshop', redirectUri: 'https://shop.meridian.example/callback', scope: 'openid' },
      300,
    ],
    [
      'a client with a secret, mappers of its own, a flow of its own and consent',
      'anna@backoffice',
      {
        clientId: 'backoffice',
        redirectUri: 'https://office.meridian.example/callback',
        scope: 'openid address phone',
        secret: 'Kp3vQ7nL2xW9mB4zR6tY1cF8sD5gH0jA',
      },
      420,
    ],
  ])('to %s', async (_, name, client, lifetime) => {
    const tokens = await codeFlow(client);
    const left = otherwise[name] ?? [];
    for (const place of ['access', 'id', 'userinfo'] as const) {
      const before = comparable(issued[name]?.[place] ?? {}, left);
      const now = comparable(tokens[place], left);
      expect({ place, ...now }).toMatchObject({ place, ...withoutRoles(before) });
      if ('realm_access' in before) expect(rolesIn(now)).toEqual(expect.arrayContaining(rolesIn(before)));
    }
    expect(tokens.expires).toBe(lifetime);
  });

  test('to a service account', async () => {
    const { body } = await post(
      server,
      'meridian',
      'token',
      { grant_type: 'client_credentials' },
      {
        authorization: basic('nightly', 'Nn5vQ7nL2xW9mB4zR6tY1cF8sD5gH0jB'),
      },
    );
    const left = otherwise.nightly ?? [];
    const now = comparable(claimsIn(body.access_token), left);
    expect(now).toMatchObject(comparable(issued.nightly?.access ?? {}, left));
    expect(body.expires_in).toBe(900);
  });
});
const withoutRoles = ({ realm_access: _, ...claims }: Record<string, unknown>) => claims;
const rolesIn = (claims: Record<string, unknown>): string[] => Object(claims.realm_access).roles ?? [];

test.each([
  ['meridian', () => meridian],
  ['lakeside-eu', () => lakeside],
])('the files of %s again change nothing', async (realm, files) => {
  const again = await send(realm, files());
  expect(again.changes).toEqual([]);
  expect(again).toMatchObject({ inSync: true, summary: { create: 0, update: 0, delete: 0 } });
});

test('what has no counterpart is told, each by its name, and what is carried over isn’t', async () => {
  const { notCarried, notCarriedCount } = await send('meridian', meridian);
  expect(notCarriedCount).toBe(notCarried.length);
  const told = notCarried.map(({ kind, key, field }) => `${kind} ${key} ${field}`);
  expect(told).toEqual(
    expect.arrayContaining([
      'realm meridian browserSecurityHeaders',
      'realm meridian waitIncrementSeconds',
      'realm meridian attributes.team',
      'realm meridian attributes.acr.loa.map',
      'client backoffice attributes.consent.screen.text',
      'client webshop attributes.default.acr.values',
      'client webshop baseUrl',
      'clientScope dyn attributes.is.dynamic.scope',
      'directory directory config.changedSyncPeriod',
      'client https://saml.meridian.example/sp attributes.saml.onetimeuse.condition',
      'client payments authorizationSettings.editors',
      'client payments authorizationSettings.see invoices',
      'identityProvider google config.hostedDomain',
      'identityProvider github linkOnly',
      'organization globex groups',
      'user gwen credentials.otp',
      'user ben federatedIdentities',
    ]),
  );
  // A slash in a group's name is escaped.
  expect(told.filter((one) => one.startsWith('group ') || one === 'user cleo groups')).toEqual([]);
  // Of `browser copied` each step has a counterpart, or says what is so here anyway.
  expect(told.filter((one) => one.startsWith('flow '))).toEqual([
    'flow meridian first login null',
    'flow meridian registration null',
    'flow meridian reset null',
    'flow refuses null',
  ]);
  expect(JSON.stringify(notCarried)).not.toMatch(/mail-secret-1|corporate-secret|Kp3vQ7nL2x|ldap-secret/);
});

test('the document has what the realm had: clients’ protocol, flows’ conditions, who may do what with a client’s resources', async () => {
  const document = JSON.parse(await admin.download('meridian'));
  const named = (list: { [field: string]: unknown }[], field: string, name: string) =>
    list.find((one) => one[field] === name);
  expect(document.realm).toMatchObject({
    passwordRecoveryEnabled: true,
    registrationVerifyEmail: true,
    browserFlow: 'meridian browser',
  });
  expect(named(document.clients, 'clientId', 'backoffice')).toMatchObject({
    frontchannelLogoutUri: 'https://office.meridian.example/logout',
    accessTokenSignedResponseAlg: 'PS256',
    idTokenSignedResponseAlg: 'ES256',
    userinfoSignedResponseAlg: 'ES256',
    requestObjectSigningAlg: 'ES256',
    flowOverride: 'by role',
  });
  expect(named(document.clients, 'clientId', 'webshop')).toMatchObject({
    backchannelLogoutUri: 'https://shop.meridian.example/backchannel',
  });
  expect(named(document.clients, 'clientId', 'signed-jobs')).toMatchObject({ dpopBoundAccessTokens: true });
  expect(named(document.clients, 'clientId', 'signed-remote')).toMatchObject({ requireSignedRequestObject: true });
  expect(named(document.flows, 'alias', 'by role')).toMatchObject({
    executions: [
      { authenticatorId: 'username-password' },
      { executions: [{ authenticatorId: 'role', config: { roles: ['chief'] } }, { authenticatorId: 'otp' }] },
    ],
  });
  expect(named(document.flows, 'alias', 'step up')).toMatchObject({
    executions: [
      { requirement: 'REQUIRED', executions: [{ authenticatorId: 'username-password' }] },
      {
        requirement: 'CONDITIONAL',
        executions: [
          { authenticatorId: 'level-of-assurance', config: { minimumLevel: 2 } },
          { authenticatorId: 'otp' },
        ],
      },
    ],
  });
  expect(named(document.identityProviders, 'alias', 'corporate')).toMatchObject({ config: { trustEmail: true } });
  expect(named(document.identityProviders, 'alias', 'github')).toMatchObject({ enabled: false });
  expect(document.authorizationServices).toMatchObject([
    {
      clientId: 'payments',
      settings: { enforcement: 'enforcing', decisionStrategy: 'affirmative', remoteResources: true, accessApi: 'none' },
      permissions: expect.arrayContaining([
        expect.objectContaining({ name: 'see invoices', policies: [] }),
        expect.objectContaining({ name: 'refund invoices', policies: ['engineers'], scopes: ['refund'] }),
        expect.objectContaining({ name: 'all of a type', resourceType: 'urn:payments:invoice' }),
      ]),
    },
  ]);
  const saml = named(document.samlClients, 'entityId', 'plain-saml');
  expect(saml?.mappers).toContainEqual(expect.objectContaining({ source: 'roles' }));
});

test('policies whose times are none, and all that go by them, are left out and told', async () => {
  const policy = (name: string, type: string, config: Record<string, string>) => ({ name, type, config });
  const byOther = Array.from({ length: 200 }, (_, i) =>
    policy(`by ${i}`, 'aggregate', { applyPolicies: JSON.stringify([i === 199 ? 'for ever' : `by ${i + 1}`]) }),
  );
  const { notCarried } = await send(
    'times',
    JSON.stringify({
      realm: 'times',
      clients: [
        {
          clientId: 'invoices',
          secret: 'invoices-secret-of-old',
          serviceAccountsEnabled: true,
          authorizationServicesEnabled: true,
          authorizationSettings: {
            policies: [
              ...byOther,
              policy('for ever', 'time', { dayMonth: '1', dayMonthEnd: '4000000000' }),
              policy('late', 'time', { hour: 'noon' }),
              policy('of winter', 'time', { month: '11', monthEnd: '2' }),
            ],
          },
        },
      ],
    }),
  );
  const told = notCarried.filter(({ field }) => field?.startsWith('authorizationSettings.'));
  expect(told.map(({ field }) => field?.replace('authorizationSettings.', '')).sort()).toEqual(
    [...byOther.map(({ name }) => name), 'for ever', 'late'].sort(),
  );
  const { authorizationServices } = JSON.parse(await admin.download('times'));
  expect(authorizationServices[0].policies).toMatchObject([{ name: 'of winter', config: { months: [1, 2, 11, 12] } }]);
});
