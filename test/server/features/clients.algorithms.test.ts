// Settings of a single client: the algorithm of its assertions, and whether its refresh tokens rotate.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putClient } from '../../../server/contract/clients.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { CALLBACK, getCode, makePeopledRealm, redeem, refresh } from '../../support/applications.ts';
import { createBank, makeBankClient, makeKeys } from '../../support/bank.ts';
import { makeClient, post } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'pinned';
const params = { realm: REALM };
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makePeopledRealm(server, REALM);
});
afterAll(async () => server?.stop());

test('a client that names an algorithm of its assertions is known by no other, for all endpoints', async () => {
  const [es256, ps256] = await Promise.all([makeKeys('ES256'), makeKeys('PS256')]);
  const id = await makeBankClient(server, REALM, {
    clientId: 'bank',
    keys: [es256, ps256],
    tokenEndpointAuthSigningAlg: 'ES256',
  });
  const [mine, other] = [es256, ps256].map((keys) => createBank(server, { realm: REALM, clientId: 'bank', keys }));
  const form = { grant_type: 'client_credentials', token: 'x' };
  for (const endpoint of ['token', 'introspect', 'revoke']) {
    expect((await mine?.post(endpoint, form))?.status).toBe(200);
    expect((await other?.post(endpoint, form))?.body.error).toBe('invalid_client');
  }
  await server.admin.call(putClient, { params: { realm: REALM, id }, body: { tokenEndpointAuthSigningAlg: null } });
  expect((await other?.post('token', form))?.status).toBe(200);
});

test.each([
  ['stays, whatever the realm says', true, false, true],
  ['rotates, whatever the realm says', false, true, false],
  ['stays as the realm says', null, true, true],
  ['rotates as the realm says', null, false, false],
])('a client’s refresh token %s', async (name, reuseRefreshTokens, ofRealm, stays) => {
  const clientId = name.replaceAll(/\W/g, '-');
  await makeClient(server, REALM, {
    clientId,
    tokenEndpointAuthMethod: 'none',
    redirectUris: [CALLBACK],
    reuseRefreshTokens,
  });
  await server.admin.call(putSettings, { params, body: { reuseRefreshTokens: ofRealm } });
  const { body } = await redeem(server, REALM, clientId, await getCode(server, REALM, clientId));
  const first = await refresh(server, REALM, clientId, body.refresh_token);
  expect(first.body.refresh_token === body.refresh_token).toBe(stays);
  const again = await refresh(server, REALM, clientId, body.refresh_token);
  expect(again.status).toBe(stays ? 200 : 400);
  const newest = await post(server, REALM, 'token', {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: String(first.body.refresh_token),
  });
  // A replaced token that comes again ends the grant.
  expect(newest.status).toBe(stays ? 200 : 400);
});
