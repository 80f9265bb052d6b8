// Owns: previews of tokens: that they show the claims that tokens then have, with their origins, and nothing that the caller may not see.
// Does not own: the claims themselves (claims.test.ts, protocol-mappers.test.ts).
// Implements: decisions "Token preview".
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import type { Client } from '../../../server/contract/client.ts';
import { listClients, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { addMember, createOrganization } from '../../../server/contract/organizations.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { previewToken } from '../../../server/contract/token-preview.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { listUsers, putUser, setPassword } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { administrator } from '../../support/administrators.ts';
import { getCode, makePeopledRealm, PASSWORD, redeem } from '../../support/applications.ts';
import { asOperator, realmctl, withOperator } from '../../support/realmctl.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let alice = '';
let spa = '';
let made = 0;
beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `preview${made}`;
  [alice = ''] = await makePeopledRealm(server, realm, ['alice']);
  await server.admin.call(importRealm, {
    params: { realm },
    body: {
      roles: [{ name: 'reader' }, { name: 'writer', composite: { roles: ['reader'], clientRoles: {} } }],
      groups: [{ path: '/sales', attributes: { region: ['north'] } }],
      clients: [{ clientId: 'robot', grantTypes: ['client_credentials'] }],
      clientProtocolMappers: [
        {
          clientId: 'spa',
          mappers: [
            {
              name: 'department',
              source: 'attribute',
              attribute: 'department',
              in: ['accessToken', 'idToken', 'userinfo'],
            },
            { name: 'region', source: 'attribute', attribute: 'region', in: ['accessToken'] },
            { name: 'orders', source: 'audience', value: 'https://orders.example.com', in: ['accessToken'] },
          ],
        },
      ],
      users: [{ username: 'alice', attributes: { department: ['shoes'] }, roles: ['writer'], groups: ['/sales'] }],
    },
  });
  spa = await clientNamed('spa');
});

const clientNamed = async (clientId: string) =>
  (await server.admin.call(listClients, { params: { realm } })).body?.find((one) => one.clientId === clientId)?.id ??
  '';
async function preview(
  query: Record<string, unknown> = {},
  { by = server.admin, id = spa }: { by?: Client; id?: string } = {},
) {
  const { body: answer } = await by.call(previewToken, { params: { realm, id }, query });
  if (!answer) throw new Error('no preview');
  return answer;
}
const originOf = (
  token: { origins: { claim: string; message: string; from: string; scope: string | null }[] } | null,
  claim: string,
) => token?.origins.find((one) => one.claim === claim);
const forbidden = { status: 403 };

test('the claims are those that the tokens then have', async () => {
  const shown = await preview({ userId: alice, scope: 'openid profile email' });
  expect(shown).toMatchObject({ refused: [], consentNeeded: false });
  const code = await getCode(server, realm, 'spa', { parameters: { scope: 'openid profile email' } });
  const { body } = await redeem(server, realm, 'spa', code);
  const same = (real: Record<string, unknown>, claims: Record<string, unknown> | undefined) => {
    expect(Object.keys(claims ?? {}).sort()).toEqual(
      Object.keys(real)
        .filter((name) => name !== 'nonce')
        .sort(),
    );
    for (const name of ['iat', 'exp', 'jti', 'gid', 'sid', 'auth_time', 'at_hash', 'nonce'])
      for (const some of [real, claims ?? {}]) delete some[name];
    expect(claims).toEqual(real);
  };
  const { access_token: access, id_token: id } = Object(body);
  expect(decodeJwt(access)).toMatchObject({ department: 'shoes', region: 'north' });
  same(decodeJwt(access), shown.accessToken.claims);
  same(decodeJwt(id), shown.idToken?.claims);
  const userinfo = await fetch(`${server.baseUrl}/realms/${realm}/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${access}` },
  });
  expect(shown.userinfo?.claims).toEqual(await userinfo.json());
});

test('each claim has its origin: a mapper, a client scope or the server', async () => {
  const { accessToken, idToken } = await preview({ userId: alice });
  expect(originOf(accessToken, 'department')).toMatchObject({ from: 'mapper', scope: null, source: 'attribute' });
  expect(originOf(accessToken, 'realm_access')).toMatchObject({
    from: 'client-scope',
    scope: 'roles',
    source: 'roles',
  });
  expect(originOf(accessToken, 'iss')).toMatchObject({ from: 'server', message: expect.stringContaining('issuer') });
  expect(accessToken.origins.filter(({ claim }) => claim === 'aud').map(({ from }) => from)).toEqual([
    'server',
    'mapper',
  ]);
  expect(accessToken.claims).toMatchObject({
    jti: '(a new id)',
    sid: '(the session)',
    realm_access: { roles: ['reader', 'writer'] },
  });
  for (const token of [accessToken, idToken])
    for (const claim of Object.keys(token?.claims ?? {})) expect(originOf(token, claim) ?? claim).toBeTypeOf('object');
});

test('what would be refused is said, and the claims are shown all the same', async () => {
  await server.admin.call(putUser, { params: { realm, userId: alice }, body: { enabled: false } });
  await server.admin.call(putClient, { params: { realm, id: spa }, body: { enabled: false } });
  const { refused, accessToken } = await preview({
    userId: alice,
    scope: 'openid nonsense',
    resource: 'https://elsewhere.example.com',
  });
  expect(refused.map(({ code }) => code).sort()).toEqual(['client', 'resource', 'scope', 'user']);
  expect(accessToken.claims.sub).toBe(alice);
  const robot = await preview({}, { id: await clientNamed('robot') });
  expect(robot).toMatchObject({
    refused: [],
    idToken: null,
    userinfo: null,
    accessToken: { claims: { sub: 'robot' } },
  });
  expect((await preview()).refused.map(({ code }) => code)).toContain('grant');
  await expect(preview({ userId: newId() })).rejects.toMatchObject({ status: 404 });
  await expect(preview({}, { id: newId() })).rejects.toMatchObject({ status: 404 });
  await expect(preview({ scope: 'a"b' })).rejects.toMatchObject({ status: 400 });
});

test('nothing is issued or written, not even the salt of pairwise subjects', async () => {
  await server.admin.call(putSettings, { params: { realm }, body: { subjectStrategy: 'pairwise' } });
  const count = async () => (await server.admin.call(listEvents, { params: { realm } })).body?.length;
  const before = await count();
  expect((await preview({ userId: alice })).accessToken.claims.sub).toBe('(made by the first token)');
  const { rows } = await server.pool.query('select subject_salt from realm where realm_id = $1', [realm]);
  expect(rows).toEqual([{ subject_salt: null }]);
  expect(await count()).toBe(before);
  const code = await getCode(server, realm, 'spa');
  const { sub } = decodeJwt(Object((await redeem(server, realm, 'spa', code)).body).access_token);
  const { claims } = (await preview({ userId: alice })).accessToken;
  expect(claims).toMatchObject({ sub, svc_person: '(the user’s id, encrypted)' });
});

test('an attribute that administrators may not see is hidden, as a claim and as the subject', async () => {
  await server.admin.call(putUserProfile, {
    params: { realm },
    body: { unmanagedAttributes: 'enabled', attributes: [{ name: 'department', view: ['user'], edit: ['user'] }] },
  });
  const shown = await preview({ userId: alice });
  expect(shown.accessToken.claims).toMatchObject({ department: '(hidden)', region: 'north' });
  expect(originOf(shown.accessToken, 'department')).toMatchObject({ hidden: true });
  expect(JSON.stringify(shown)).not.toContain('shoes');
});

test('it needs rights over both, the client and the user, limited ones too, and leaks nothing of others', async () => {
  await server.admin.call(importRealm, {
    params: { realm },
    body: {
      adminRoles: [
        { name: 'spa-keeper', permissions: ['clients:read'], clients: ['spa'] },
        { name: 'sales-reader', permissions: ['users:read'], groups: ['/sales'] },
      ],
      users: [{ username: 'keeper' }, { username: 'other' }],
    },
  });
  const ids = new Map(
    (await server.admin.call(listUsers, { params: { realm } })).body?.map(({ username, id }) => [username, id]),
  );
  const params = { realm, userId: ids.get('keeper') ?? '' };
  const give = (...roles: string[]) =>
    server.admin.call(putUserAdminRoles, { params, body: { grants: roles.map((role) => ({ role, realm })) } });
  await server.admin.call(setPassword, { params, body: { password: PASSWORD } });
  await give('spa-keeper');
  const keeper = await server.signIn({ realm, username: 'keeper', password: PASSWORD });
  const robot = await clientNamed('robot');
  await expect(preview({}, { by: keeper, id: robot })).rejects.toMatchObject(forbidden);
  await expect(preview({}, { by: keeper, id: newId() })).rejects.toMatchObject(forbidden);
  await expect(preview({ userId: alice }, { by: keeper })).rejects.toMatchObject(forbidden);
  await give('spa-keeper', 'sales-reader');
  const shown = await preview({ userId: alice }, { by: keeper });
  // the group's attribute needs groups:read
  expect(shown.accessToken.claims).toMatchObject({ department: 'shoes', region: '(hidden)' });
  for (const userId of [ids.get('other'), newId()])
    await expect(preview({ userId }, { by: keeper })).rejects.toMatchObject(forbidden);
  await give('sales-reader');
  await expect(preview({ userId: alice }, { by: keeper })).rejects.toMatchObject(forbidden);
});

test('the organizations of a user are hidden without organizations:read, in each token', async () => {
  await server.admin.call(importRealm, {
    params: { realm },
    body: {
      clientProtocolMappers: [
        {
          clientId: 'spa',
          mappers: [
            { name: 'org', source: 'organization', in: ['accessToken', 'idToken', 'userinfo'] },
            { name: 'of.work', source: 'organization', jsonType: 'json', in: ['accessToken', 'idToken', 'userinfo'] },
          ],
        },
      ],
    },
  });
  const { body: organization } = await server.admin.call(createOrganization, {
    params: { realm },
    body: { name: 'takeover' },
  });
  const params = { realm, id: organization?.id ?? '', userId: alice };
  await server.admin.call(addMember, { params });
  expect((await preview({ userId: alice })).accessToken.claims).toMatchObject({ org: 'takeover' });
  const by = await administrator(server, { target: realm, permissions: ['users:read', 'clients:read'] });
  const shown = await preview({ userId: alice }, { by });
  for (const token of [shown.accessToken, shown.idToken, shown.userinfo]) {
    expect(token?.claims).toMatchObject({ org: '(hidden)', of: { work: '(hidden)' } });
    expect(originOf(token, 'org')).toMatchObject({ hidden: true });
  }
  expect(JSON.stringify(shown)).not.toContain('takeover');
});

test('realmctl preview token shows claims and where they come from', async () => {
  const run = (...args: string[]) => realmctl(asOperator(server), ['preview', 'token', ...args, '-r', realm]);
  const { code, stdout } = await run('spa', '--user', 'alice', '--scope', 'openid');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Access token\n/m);
  expect(stdout).toMatch(/^ {2}department: "shoes"\n {6}A mapper of the client: the user’s attribute department/m);
  expect((await run('robot', '-o', 'json')).stdout).toContain('"sub": "robot"');
  expect((await run('nothing')).code).toBe(2);
});
