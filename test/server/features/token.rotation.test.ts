// Keys rotate while tokens are issued: verifiers never see a gap. Step-up of a session by acr_values.
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rotateKeys } from '../../../server/contract/keys.ts';
import { createUser } from '../../../server/contract/users.ts';
import { authorizePath, CALLBACK, getCode, newVerifier, PASSWORD, redeem } from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { basic, claimsIn, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, 'acme');
  await makeClient(server, 'acme', { clientId: 'robot', secret: SECRET, grantTypes: ['client_credentials'] });
  await makeClient(server, 'acme', { clientId: 'spa', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] });
  await server.admin.call(createUser, {
    params: { realm: 'acme' },
    body: { username: 'alice', password: PASSWORD },
  });
});
afterAll(async () => server?.stop());

test('tokens verify against the live JWKS before, during and after rotations', async () => {
  const at = `${server.baseUrl}/realms/acme/oauth2`;
  const kids = new Set<string>();
  let running = true;
  let verified = 0;
  const worker = async () => {
    while (running) {
      const { body } = await post(
        server,
        'acme',
        'token',
        { grant_type: 'client_credentials' },
        { authorization: basic('robot') },
      );
      const live: JSONWebKeySet = JSON.parse(await (await fetch(`${at}/jwks`)).text());
      const { protectedHeader } = await jwtVerify(String(body.access_token), createLocalJWKSet(live));
      kids.add(String(protectedHeader.kid));
      verified += 1;
    }
  };
  const workers = Array.from({ length: 4 }, worker);
  try {
    for (let i = 0; i < 3; i += 1) await server.admin.call(rotateKeys, { params: { realm: 'acme' } });
    await expect.poll(() => kids.size).toBeGreaterThanOrEqual(3);
  } finally {
    running = false;
    await Promise.all(workers);
  }
  expect(verified).toBeGreaterThan(kids.size);
});

test('acr_values raises a session by a second factor, and tokens say so', async () => {
  const { person } = await getCode(server, 'acme', 'spa');
  const verifier = newVerifier();
  const ask = authorizePath('acme', 'spa', verifier, { acr_values: '2' });
  const silent = await person.open(authorizePath('acme', 'spa', verifier, { acr_values: '2', prompt: 'none' }));
  expect(new URL(silent.url).searchParams.get('error')).toBe('login_required');
  // Who has no second factor yet sets one up.
  const setUp = await person.open(ask);
  const page = await person.fill(setUp, { code: codeAt(secretOn(setUp)) });
  const code = new URL(page.url).searchParams.get('code') ?? '';
  const { body } = await redeem(server, 'acme', 'spa', { code, verifier });
  expect(claimsIn(body.id_token)).toMatchObject({ acr: '2', amr: ['pwd', 'otp'] });
  expect(claimsIn(body.access_token)).toMatchObject({ acr: '2', amr: ['pwd', 'otp'] });
  const again = await person.open(authorizePath('acme', 'spa', verifier, { acr_values: '2', prompt: 'none' }));
  expect(new URL(again.url).searchParams.get('code')).toMatch(/^svc_ac_/);
});
