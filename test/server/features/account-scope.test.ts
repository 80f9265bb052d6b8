// Owns: the scope `account`: which administrators give it to an application, what its users are asked, what its tokens change.
// Does not own: the account API's operations (account.api.test.ts), consent in general (authorize.consent.test.ts).
// Implements: decisions "Rights", "Single sign-on and freshness"; specification 4.11.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putClientAdminRoles, putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import type { Client } from '../../../server/contract/client.ts';
import { createClientScope, listClientScopes, putClientScope } from '../../../server/contract/client-scopes.ts';
import * as clients from '../../../server/contract/clients.ts';
import { undoHistory } from '../../../server/contract/history.ts';
import { TOKEN_EXCHANGE } from '../../../server/contract/oauth.ts';
import { builtInAdminRoles, type Permission, permissions } from '../../../server/contract/permissions.ts';
import { createInitialAccessToken, putProvisioning } from '../../../server/contract/provisioning.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { importRealm, type RealmDocument } from '../../../server/contract/transfer.ts';
import { administrator } from '../../support/administrators.ts';
import {
  authorizePath,
  CALLBACK,
  getCode,
  makePeopledRealm,
  newVerifier,
  PASSWORD,
  redeem,
  refresh,
} from '../../support/applications.ts';
import { basic, makeClient, post } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const realm = 'acme';
const params = { realm };
const app = { tokenEndpointAuthMethod: 'none' as const, redirectUris: [CALLBACK] };
let server: TestServer;
let clientManager: Client;
/** Of whom alice administers the realm. */
let alice = '';

const holding = (...held: readonly Permission[]) =>
  administrator(server, { home: realm, target: realm, permissions: held });

beforeAll(async () => {
  server = await startTestServer({ jobs: false });
  [alice = ''] = await makePeopledRealm(server, realm, ['alice', 'bob']);
  const grants = [{ role: 'realm-admin', realm }];
  await server.admin.call(putUserAdminRoles, { params: { realm, userId: alice }, body: { grants } });
  clientManager = await holding(...(builtInAdminRoles['client-manager'] ?? []));
  await makeClient(server, realm, { ...app, clientId: 'portal', optionalClientScopes: ['account', 'offline_access'] });
});
afterAll(() => server?.stop());

const refusal = (path: string) => ({
  status: 403,
  problem: {
    type: 'urn:svc:problem:privilege-escalation',
    permission: 'users:write',
    errors: [{ path, message: expect.stringContaining('users:write') }],
  },
});
const refused = { status: 403, problem: { type: 'urn:svc:problem:privilege-escalation' } };
const apply = (by: Client, body: RealmDocument, dryRun: 'true' | 'false', manager = 'theirs') =>
  by.call(importRealm, { params, query: { manager, dryRun }, body });

const account = (token: unknown, path: string, init: { method?: string; body?: unknown } = {}) =>
  fetch(`${server.baseUrl}/realms/${realm}/account${path.startsWith('?') ? '' : '/'}${path}`, {
    method: init.method ?? 'GET',
    headers: {
      authorization: `Bearer ${token}`,
      ...(init.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(init.body !== undefined && { body: JSON.stringify(init.body) }),
  });
const tokensOf = async (clientId: string, username: string, scope = 'openid account') =>
  (await redeem(server, realm, clientId, await getCode(server, realm, clientId, { username, parameters: { scope } })))
    .body;

describe('without users:write, an administrator gives no client the scope account', () => {
  const scopes = ['defaultClientScopes', 'optionalClientScopes'] as const;
  test.each(scopes)('by %s of a new client, by API and by document, planned or applied', async (field) => {
    const body = { ...app, clientId: 'mine', [field]: ['account'] };
    await expect(clientManager.call(clients.createClient, { params, body })).rejects.toMatchObject(refusal(field));
    for (const dryRun of ['true', 'false'] as const)
      await expect(apply(clientManager, { clients: [body] }, dryRun)).rejects.toMatchObject(
        refusal(`clients[0].${field}`),
      );
  });

  test('nor to one that is there, nor by making another scope that one', async () => {
    const scope = await clientManager.call(createClientScope, { params, body: { name: 'innocent' } });
    const { body } = await clientManager.call(clients.createClient, {
      params,
      body: { ...app, clientId: 'grows', defaultClientScopes: ['innocent'] },
    });
    const at = { params: { realm, id: body?.id ?? '' } };
    const grown = { clientId: 'grows', defaultClientScopes: ['account', 'innocent'] };
    await expect(clientManager.call(clients.putClient, { ...at, body: grown })).rejects.toMatchObject(
      refusal('defaultClientScopes'),
    );
    const all = (await server.admin.call(listClientScopes, { params })).body ?? [];
    const own = all.find(({ name }) => name === 'account');
    const aside = { params: { realm, id: own?.id ?? '' } };
    const hidden = clientManager.call(putClientScope, { ...aside, body: { name: 'account-aside' } });
    await expect(hidden).rejects.toMatchObject(refusal('name'));
    await server.admin.call(putClientScope, { ...aside, body: { name: 'account-aside' } });
    const renamed = { params: { realm, id: scope.body?.id ?? '' }, body: { name: 'account' } };
    await expect(clientManager.call(putClientScope, renamed)).rejects.toMatchObject(refusal('name'));
    await server.admin.call(putClientScope, { ...aside, body: { name: 'account' } });
  });

  test('nor takes over one that has it: no address, no secret, no mapper', async () => {
    const body = { clientId: 'confidential', redirectUris: [CALLBACK], optionalClientScopes: ['account'] };
    const { body: made } = await server.admin.call(clients.createClient, { params, body });
    const at = { realm, id: made?.id ?? '' };
    const attempts = [
      () => clientManager.call(clients.putClient, { params: at, body: { redirectUris: ['https://evil.example/'] } }),
      () => clientManager.call(clients.putClient, { params: at, body: { secret: 'a secret of my own, long enough' } }),
      () => clientManager.call(clients.createClientSecret, { params: at }),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject(refused);
    const mappers = [{ clientId: 'confidential', mappers: [{ name: 'x' }] }];
    await expect(apply(clientManager, { clientProtocolMappers: mappers }, 'false')).rejects.toMatchObject(refused);
  });

  test('nor undoes what took it from a client', async () => {
    const before = { clients: [{ ...app, clientId: 'lent', optionalClientScopes: ['account'] }] };
    await apply(server.admin, before, 'false', 'hers');
    const taken = await apply(
      server.admin,
      { clients: [{ ...app, clientId: 'lent', optionalClientScopes: [] }] },
      'false',
      'hers',
    );
    const undo = (by: Client, dryRun: 'true' | 'false') =>
      by.call(undoHistory, { params: { realm, revision: String(taken.body?.revision) }, query: { dryRun } } as never);
    const some = await holding('clients:read', 'clients:write', 'managers:read', 'managers:write');
    for (const dryRun of ['true', 'false'] as const) await expect(undo(some, dryRun)).rejects.toMatchObject(refused);
  });

  test('with users:write beside it, they do', async () => {
    const both = await holding(...(builtInAdminRoles['client-manager'] ?? []), 'users:write');
    const body = { ...app, clientId: 'given', defaultClientScopes: ['account'] };
    expect((await both.call(clients.createClient, { params, body })).status).toBe(201);
  });
});

describe('registration of clients', () => {
  test('is opened for the scope account by nobody without users:write, nor widened once it is', async () => {
    const setter = await holding('settings:read', 'settings:write', 'clients:read', 'clients:write');
    const clientRegistrationScopes = ['account'];
    const body = { clientRegistration: 'open' as const, clientRegistrationScopes };
    await expect(setter.call(putSettings, { params, body })).rejects.toMatchObject(
      refusalAt('clientRegistrationScopes'),
    );
    await expect(setter.call(putProvisioning, { params, body: { allowedScopes: ['account'] } })).rejects.toMatchObject(
      refusalAt('clientRegistrationScopes'),
    );
    for (const dryRun of ['true', 'false'] as const)
      await expect(apply(setter, { realm: body }, dryRun)).rejects.toMatchObject(
        refusalAt('realm.clientRegistrationScopes'),
      );
    const limited = { clientRegistrationScopes, clientRegistrationRedirectHosts: ['127.0.0.1'] };
    await server.admin.call(putSettings, { params, body: limited });
    const wider: [string, Parameters<typeof apply>[1]['realm']][] = [
      ['clientRegistration', { clientRegistration: 'open' }],
      ['clientIdMetadataDocuments', { clientIdMetadataDocuments: true }],
      ['clientRegistrationRedirectHosts', { clientRegistrationRedirectHosts: [] }],
      ['clientRegistrationRedirectHosts', { clientRegistrationRedirectHosts: ['127.0.0.1', 'evil.example'] }],
    ];
    for (const [field, change] of wider) {
      await expect(setter.call(putSettings, { params, body: change ?? {} })).rejects.toMatchObject(refusalAt(field));
      await expect(apply(setter, { realm: change }, 'true')).rejects.toMatchObject(refusalAt(`realm.${field}`));
    }
    await expect(setter.call(createInitialAccessToken, { params, body: {} })).rejects.toMatchObject(refused);
    await setter.call(putSettings, { params, body: { clientRegistration: 'closed' } });
    await setter.call(putSettings, { params, body: { clientRegistrationScopes: [] } });
  });

  test('a client that registers with it, as the policy lets it, manages itself and asks its users all the same', async () => {
    const body = {
      clientRegistration: 'open' as const,
      clientRegistrationScopes: ['account'],
      clientRegistrationConsent: false,
    };
    await server.admin.call(putSettings, { params, body });
    const at = `${server.baseUrl}/realms/${realm}/connect/register`;
    const metadata = { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none', scope: 'account' };
    const send = async (url: string, method: string, said: object, token?: unknown) => {
      const headers = {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      };
      const answer = await fetch(url, { method, headers, body: JSON.stringify(said) });
      return { status: answer.status, body: Object(await answer.json()) };
    };
    const made = await send(at, 'POST', metadata);
    expect(made.status).toBe(201);
    const { registration_client_uri: uri, registration_access_token: token, client_id } = made.body;
    const renamed = await send(uri, 'PUT', { ...metadata, client_id, client_name: 'Portal' }, token);
    expect([renamed.status, renamed.body.client_name]).toEqual([200, 'Portal']);
    const person = createPerson(server.baseUrl);
    const path = authorizePath(realm, client_id, newVerifier(), { scope: 'openid account' });
    const page = await person.fill(await person.open(path), { username: 'bob', password: PASSWORD });
    expect(page.heading).toBe('Allow access?');
    await server.admin.call(putSettings, {
      params,
      body: { clientRegistration: 'closed', clientRegistrationScopes: [] },
    });
  });
});

const refusalAt = (path: string) => ({
  status: 403,
  problem: { permission: 'users:write', errors: expect.arrayContaining([expect.objectContaining({ path })]) },
});

describe('an application that asks for the scope account', () => {
  test('gets it from nobody who has not agreed, though its client asks for no consent', async () => {
    const person = createPerson(server.baseUrl);
    const path = (more = {}) => authorizePath(realm, 'portal', newVerifier(), { scope: 'openid account', ...more });
    const page = await person.fill(await person.open(path()), { username: 'bob', password: PASSWORD });
    expect(page.heading).toBe('Allow access?');
    const silent = await person.open(path({ prompt: 'none' }));
    expect(new URL(silent.url).searchParams.get('error')).toBe('consent_required');
    const plain = await person.open(authorizePath(realm, 'portal', newVerifier()));
    expect(new URL(plain.url).searchParams.get('code')).toMatch(/./);
    await person.post(`/realms/${realm}/oauth2/consent`, { ...page.fields, decision: 'allow' });
    const again = await person.open(path({ prompt: 'none' }));
    expect(new URL(again.url).searchParams.get('code')).toMatch(/./);
  });

  test('with tokens from before it was asked for reaches no account, refreshed or offline', async () => {
    const tokens = await tokensOf('portal', 'bob', 'openid account offline_access');
    expect((await account(tokens.access_token, 'profile')).status).toBe(200);
    await server.pool.query(`delete from consent where realm_id = $1`, [realm]);
    const refreshed = await refresh(server, realm, 'portal', tokens.refresh_token);
    for (const token of [tokens.access_token, refreshed.body.access_token]) {
      const answer = await account(token, 'profile');
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({
        type: 'urn:svc:problem:insufficient-scope',
        detail: expect.stringContaining('portal'),
      });
    }
  });

  test('gets none by exchanging another application’s token', async () => {
    const exchanging = {
      grantTypes: ['authorization_code' as const, TOKEN_EXCHANGE as never],
      redirectUris: [CALLBACK],
    };
    const secret = 'a-secret-of-a-service-0123456789';
    await makeClient(server, realm, {
      ...exchanging,
      clientId: 'service',
      secret,
      tokenExchangeImpersonation: true,
      optionalClientScopes: ['account'],
    });
    await makeClient(server, realm, { ...app, clientId: 'front', optionalClientScopes: ['account'] });
    const mapper = { name: 'aud', source: 'audience', value: 'service', in: ['accessToken'] };
    await apply(
      server.admin,
      { clientProtocolMappers: [{ clientId: 'front', mappers: [mapper as never] }] },
      'false',
      'maps',
    );
    const { access_token } = await tokensOf('front', 'bob');
    const { status, body } = await post(
      server,
      realm,
      'token',
      {
        grant_type: TOKEN_EXCHANGE,
        subject_token: String(access_token),
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      },
      { authorization: basic('service', secret) },
    );
    expect([status, String(body.scope ?? '').split(' ')]).toEqual([200, expect.not.arrayContaining(['account'])]);
    const headers = await account(body.access_token, 'profile');
    expect(headers.status).toBe(403);
  });
});

describe('an administrator’s own account', () => {
  test('is read and never changed by an application, which is told where its user does that', async () => {
    const { access_token: token } = await tokensOf('portal', 'alice');
    expect((await account(token, 'profile')).status).toBe(200);
    const id = '00000000-0000-4000-8000-000000000000';
    const attempts: [string, string, unknown?][] = [
      ['PUT', 'password', { password: 'five dry umbrellas' }],
      ['PUT', 'profile', { firstName: 'Mallory' }],
      ['POST', 'email', { email: 'mallory@evil.example' }],
      ['POST', 'phone', { number: '+15005550006' }],
      ['DELETE', 'phone'],
      ['POST', 'credentials/otp/start'],
      ['POST', 'credentials/webauthn/start'],
      ['POST', 'credentials/recovery-codes'],
      ['POST', 'enrollment-tokens'],
      ['DELETE', `credentials/otp/${id}`],
      ['DELETE', `identities/${id}`],
      ['DELETE', 'sessions'],
      ['DELETE', `sessions/${id}`],
      ['DELETE', '?username=alice'],
    ];
    for (const [method, path, body] of attempts) {
      const answer = await account(token, path, { method, body });
      expect([path, answer.status, await answer.json()]).toMatchObject([
        path,
        403,
        { type: 'urn:svc:problem:forbidden', detail: expect.stringContaining(`/realms/${realm}/account`) },
      ]);
    }
    const me = await fetch(`${server.baseUrl}/realms/${realm}/scim/v2/Me`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify({ schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: [] }),
    });
    expect(me.status).toBe(403);
    await server.signIn({ realm, username: 'alice', password: PASSWORD });
  });

  test('changes by the session of the administrator, and an ordinary user’s by an application still', async () => {
    const { access_token: token } = await tokensOf('portal', 'bob');
    const answer = await account(token, 'profile', { method: 'PUT', body: { firstName: 'Bobby' } });
    expect(answer.status).toBe(200);
    const person = createPerson(server.baseUrl);
    await person.fill(await person.open(authorizePath(realm, 'portal', newVerifier())), {
      username: 'alice',
      password: PASSWORD,
    });
    const read = await person.once(`/realms/${realm}/account/profile`);
    const changed = await person.once(`/realms/${realm}/account/profile`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'x-xsrf-token': read.headers.get('x-xsrf-token') ?? '' },
      body: JSON.stringify({ firstName: 'Alice' }),
    });
    expect(changed.status).toBe(200);
  });
});

test('who holds every permission but users:write is no way to a user’s account', async () => {
  const all = await holding(...permissions.filter((one) => one !== 'users:write'));
  const body = { ...app, clientId: 'mine', defaultClientScopes: ['account'] };
  await expect(all.call(clients.createClient, { params, body })).rejects.toMatchObject(refusal('defaultClientScopes'));
  const { body: made } = await server.admin.call(clients.createClient, {
    params,
    body: { clientId: 'robot', grantTypes: ['client_credentials'] },
  });
  const grants = [{ role: 'realm-admin', realm }];
  await server.admin.call(putClientAdminRoles, { params: { realm, id: made?.id ?? '' }, body: { grants } });
  await expect(all.call(clients.createClientSecret, { params: { realm, id: made?.id ?? '' } })).rejects.toMatchObject(
    refused,
  );
});
