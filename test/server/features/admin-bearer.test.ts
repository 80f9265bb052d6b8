// Owns: machines on the admin API: an access token of a service account that holds admin roles, for the admin API's audience.
// Does not own: how tokens are issued (token.*.test.ts).
// Implements: decisions "Admin authentication": bearer.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putClientAdminRoles } from '../../../server/contract/admin-access.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { basic, claimsIn, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let robot = '';
const OPERATOR_SECRET = 'an operator secret of a person';
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET } });
  await makeRealm(server, 'acme');
  robot = await makeClient(server, 'acme', { clientId: 'robot', secret: SECRET, grantTypes: ['client_credentials'] });
  await makeClient(server, 'acme', { clientId: 'plain', secret: SECRET, grantTypes: ['client_credentials'] });
});
afterAll(() => server?.stop());

async function token(realm: string, clientId: string, secret: string, form: Record<string, string> = {}) {
  const resource = `${server.baseUrl}/admin`;
  const answer = await post(
    server,
    realm,
    'token',
    { grant_type: 'client_credentials', resource, ...form },
    { authorization: basic(clientId, secret) },
  );
  return { ...answer, token: String(answer.body.access_token) };
}
const call = (bearer: string, path = '/admin/session', init: RequestInit = {}) =>
  fetch(server.baseUrl + path, {
    ...init,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
  });
const grant = (grants: { role: string; realm: string }[]) =>
  server.admin.call(putClientAdminRoles, { params: { realm: 'acme', id: robot }, body: { grants } });

describe('the operator', () => {
  test('signs in by client credentials and administers every realm, without cookie or CSRF header', async () => {
    const { token: bearer } = await token('master', 'operator', OPERATOR_SECRET);
    expect(claimsIn(bearer).aud).toContain(`${server.baseUrl}/admin`);
    const me = await call(bearer);
    expect(await me.json()).toMatchObject({ type: 'client', name: 'operator', realm: 'master' });
    expect(me.headers.getSetCookie()).toEqual([]);
    const made = await call(bearer, createRealm.path, { method: 'POST', body: JSON.stringify({ realm: 'made' }) });
    expect(made.status).toBe(201);
  });

  test('is nobody with a token that is not for the admin API', async () => {
    const answer = await post(
      server,
      'master',
      'token',
      { grant_type: 'client_credentials' },
      { authorization: basic('operator', OPERATOR_SECRET) },
    );
    expect((await call(String(answer.body.access_token))).status).toBe(401);
  });
});

describe('a client of another realm', () => {
  test('without admin roles gets no token for the admin API', async () => {
    expect((await token('acme', 'plain', SECRET)).body.error).toBe('invalid_target');
  });

  test('administers its own realm alone, for as long as it holds the role', async () => {
    await grant([{ role: 'realm-admin', realm: 'acme' }]);
    const { token: bearer } = await token('acme', 'robot', SECRET);
    expect((await call(bearer, '/admin/realms/acme/users')).status).toBe(200);
    expect((await call(bearer, '/admin/realms/master/users')).status).toBe(403);
    expect((await call(bearer, '/admin/realms', { method: 'POST', body: '{"realm":"more"}' })).status).toBe(403);
    await grant([]);
    expect((await call(bearer, '/admin/realms/acme/users')).status).toBe(401);
  });

  test('is still found when its realm has an issuer of its own', async () => {
    await server.admin.call(putSettings, { params: { realm: 'acme' }, body: { issuer: 'https://id.acme.example' } });
    await grant([{ role: 'realm-viewer', realm: 'acme' }]);
    const { token: bearer } = await token('acme', 'robot', SECRET);
    expect((await call(bearer, '/admin/realms/acme/users')).status).toBe(200);
  });
});

test('a token that was tampered with, or made up, is nobody’s', async () => {
  const { token: bearer } = await token('master', 'operator', OPERATOR_SECRET);
  const [head = '', body = '', signature = ''] = bearer.split('.');
  const claims = Buffer.from(JSON.stringify({ ...claimsIn(bearer), sub: 'other' })).toString('base64url');
  const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
  const swapped = Buffer.from(JSON.stringify({ ...claimsIn(bearer), iss: `${server.baseUrl}/realms/acme` })).toString(
    'base64url',
  );
  for (const bad of [
    `${head}.${claims}.${signature}`,
    `${head}.${swapped}.${signature}`,
    `${none}.${body}.`,
    `${head}.${Buffer.from(JSON.stringify({ iss: `${server.baseUrl}/realms/nowhere` })).toString('base64url')}.${signature}`,
    'x',
    'a.b.c',
    `${head}.${Buffer.from('{"iss":"\\u0000"}').toString('base64url')}.${signature}`,
  ])
    expect((await call(bad)).status).toBe(401);
});
