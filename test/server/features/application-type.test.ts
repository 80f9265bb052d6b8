// The application type of clients, and the redirect URIs that it permits: OpenID Connect Dynamic Client Registration §2.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, listClients } from '../../../server/contract/clients.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { makeRealm } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'apps';
const params = { realm: REALM };
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, REALM);
  await server.admin.call(putSettings, { params, body: { clientRegistration: 'open' } });
});
afterAll(() => server?.stop());

async function register(
  metadata: object,
  at = `${server.baseUrl}/realms/${REALM}/connect/register`,
  more: RequestInit = {},
) {
  const response = await fetch(at, {
    method: 'POST',
    ...more,
    headers: { 'content-type': 'application/json', ...more.headers },
    body: JSON.stringify(metadata),
  });
  return { status: response.status, body: Object(await response.json()) };
}
const WEB = 'https://shop.example.com/cb';
const LOOPBACK = 'http://127.0.0.1/cb';
const OWN_SCHEME = 'com.example.app:/cb';

describe('a client that registers itself', () => {
  test.each([
    ['web', [WEB]],
    ['native', [LOOPBACK]],
    ['native', [OWN_SCHEME, 'http://localhost/cb', 'http://[::1]/cb']],
  ])('as %s gets the redirect URIs %j', async (application_type, redirect_uris) => {
    const { status, body } = await register({ application_type, redirect_uris });
    expect([status, body.application_type]).toEqual([201, application_type]);
    const { body: [client] = [] } = await server.admin.call(listClients, { params, query: { q: body.client_id } });
    expect(client?.applicationType).toBe(application_type);
  });

  test.each([
    ['web', [LOOPBACK]],
    ['web', [WEB, OWN_SCHEME]],
    ['web', ['https://localhost/cb']],
    ['native', [WEB]],
    ['native', [OWN_SCHEME, 'https://127.0.0.1/cb']],
  ])('as %s does not get %j', async (application_type, redirect_uris) => {
    const { status, body } = await register({ application_type, redirect_uris });
    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri']);
  });

  test('of an unknown type is refused', async () => {
    const { status, body } = await register({ application_type: 'mainframe', redirect_uris: [WEB] });
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata']);
  });

  test.each([
    ['web', [WEB]],
    ['native', [LOOPBACK, OWN_SCHEME]],
    [undefined, [WEB, LOOPBACK]],
  ])('without a type is %s by its redirect URIs %j', async (type, redirect_uris) => {
    const { status, body } = await register({ redirect_uris });
    expect([status, body.application_type]).toEqual([201, type]);
  });

  test('can send back what it was told, and changes no redirect URI against its type', async () => {
    const { body } = await register({ redirect_uris: [WEB] });
    const own = { method: 'PUT', headers: { authorization: `Bearer ${body.registration_access_token}` } };
    const { registration_access_token: _, registration_client_uri: at, client_id_issued_at: __, ...said } = body;
    delete said.client_secret_expires_at;
    const again = await register(said, at, own);
    expect([again.status, again.body.application_type]).toEqual([200, 'web']);
    const headers = { authorization: `Bearer ${again.body.registration_access_token}` };
    const moved = await register({ ...said, redirect_uris: [LOOPBACK] }, at, { ...own, headers });
    expect([moved.status, moved.body.error]).toEqual([400, 'invalid_redirect_uri']);
  });
});

test('an administrator gives a client no redirect URI against its type', async () => {
  const create = (body: object) => server.admin.call(createClient, { params, body: body as never });
  await create({ clientId: 'any', redirectUris: [WEB, LOOPBACK] });
  await create({ clientId: 'program', applicationType: 'native', redirectUris: [OWN_SCHEME] });
  await expect(
    create({ clientId: 'x', applicationType: 'native', redirectUris: [LOOPBACK, WEB] }),
  ).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('redirectUris[1]'),
  });
  await expect(create({ clientId: 'x', applicationType: 'web', redirectUris: [LOOPBACK] })).rejects.toMatchObject({
    status: 400,
  });
});
