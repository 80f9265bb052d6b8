// JWE for clients that register keys: ID tokens, userinfo and logout tokens that only they can read, and requests that only
// the realm can read.
import {
  CompactEncrypt,
  compactDecrypt,
  createLocalJWKSet,
  decodeProtectedHeader,
  importJWK,
  type JWK,
  jwtVerify,
} from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient, deleteClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { deleteKey, listKeys, rotateKeys } from '../../../server/contract/keys.ts';
import { endSession, listSessions } from '../../../server/contract/sessions.ts';
import { PASSWORD } from '../../support/applications.ts';
import { type Keys, keySetOf, makeKeys } from '../../support/bank.ts';
import { basic, claimsIn, post, SECRET } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import {
  exchange,
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  requestPath,
  responseParameters,
  STATE,
  signInAt,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: REALM };
let server: TestServer;
let receiver: Receiver;
let issuer: string;
let signing: Keys;
const boxes = new Map<string, Keys>();
const algorithms = ['RSA-OAEP', 'RSA-OAEP-256', 'ECDH-ES', 'ECDH-ES+A128KW', 'ECDH-ES+A256KW'] as const;
const boxOf = (alg: string): Keys => boxes.get(alg) ?? expect.fail();

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile }, retryDelaysSeconds: [0] });
  issuer = `${server.baseUrl}/realms/${REALM}`;
  await makeProvider(server);
  signing = await makeKeys('ES256', 'signs');
  for (const alg of algorithms) {
    const box = await makeKeys(alg);
    boxes.set(alg, box);
    await makeRelyingParty(server, alg, {
      idTokenEncryptedResponseAlg: alg,
      userinfoEncryptedResponseAlg: alg,
      userinfoSignedResponseAlg: alg === 'ECDH-ES' ? null : 'RS256',
      // A key that only signs is none to encrypt for.
      jwks: { keys: [{ ...signing.jwk, use: 'sig' }, box.jwk] },
      backchannelLogoutUri: `${receiver.url}/${alg}`,
    });
  }
  await makeRelyingParty(server, 'secretive', {
    jwks: { keys: [signing.jwk] },
    requestObjectEncryptionAlg: 'RSA-OAEP-256',
  });
  await makeRelyingParty(server, 'open', { jwks: { keys: [signing.jwk] } });
});
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});
beforeEach(() => {
  receiver.received.length = 0;
});

const jwks = async (): Promise<JWK[]> => (await keySetOf(issuer)).keys;
const verified = async (jwt: string) =>
  (await jwtVerify(jwt, createLocalJWKSet({ keys: await jwks() }), { issuer })).payload;
const opened = async (jwe: unknown, alg: string): Promise<string> =>
  Buffer.from((await compactDecrypt(String(jwe), boxOf(alg).privateKey)).plaintext).toString();

describe.each(algorithms)('%s', (alg) => {
  test('encrypts the signed ID token and userinfo; the access token stays for the resource server to read', async () => {
    const { body } = await exchange(
      server,
      await signInAt(createPerson(server.baseUrl), requestPath({ client_id: alg, scope: 'openid email' })),
      {},
      alg,
    );
    const header = { alg, enc: 'A128CBC-HS256', cty: 'JWT', kid: alg };
    expect(decodeProtectedHeader(String(body.id_token))).toMatchObject(header);
    expect(await verified(await opened(body.id_token, alg))).toMatchObject({ aud: alg });
    expect(await verified(String(body.access_token))).toMatchObject({ client_id: alg });
    const userinfo = await fetch(`${issuer}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    expect(userinfo.headers.get('content-type')).toContain('application/jwt');
    const content = await opened(await userinfo.text(), alg);
    const said = alg === 'ECDH-ES' ? JSON.parse(content) : await verified(content);
    expect(said).toMatchObject({ email: 'alice@example.com' });
    const refreshed = await post(
      server,
      REALM,
      'token',
      { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) },
      { authorization: basic(alg) },
    );
    expect(await verified(await opened(refreshed.body.id_token, alg))).toMatchObject({ aud: alg });
  });
});

test('openid-client decrypts what it gets, and the decrypted ID token is a hint', async () => {
  const alg = 'RSA-OAEP-256';
  const metadata = { userinfo_signed_response_alg: 'RS256' };
  const insecure = { execute: [oidc.allowInsecureRequests] };
  const config = await oidc.discovery(new URL(issuer), alg, metadata, oidc.ClientSecretBasic(SECRET), insecure);
  oidc.enableDecryptingResponses(config, ['A128CBC-HS256'], { key: boxOf(alg).privateKey, kid: alg });
  expect(config.serverMetadata()).toMatchObject({
    id_token_encryption_alg_values_supported: [...algorithms],
    userinfo_encryption_enc_values_supported: expect.arrayContaining(['A128CBC-HS256', 'A256GCM']),
    request_object_encryption_alg_values_supported: ['RSA-OAEP-256'],
    request_object_encryption_enc_values_supported: expect.arrayContaining(['A256GCM']),
  });
  const url = oidc.buildAuthorizationUrl(config, { redirect_uri: RP, scope: 'openid', state: 'mine' });
  const person = createPerson(server.baseUrl);
  const page = await person.fill(await person.open(url.href), { username: 'alice', password: PASSWORD });
  const tokens = await oidc.authorizationCodeGrant(config, new URL(page.url), { expectedState: 'mine' });
  const sub = tokens.claims()?.sub ?? '';
  expect((await oidc.fetchUserInfo(config, tokens.access_token, sub)).sub).toBe(sub);
  const hint = await opened(tokens.id_token, alg);
  const silent = await person.open(requestPath({ client_id: alg, prompt: 'none', id_token_hint: hint }));
  expect(responseParameters(silent)?.code).toBeDefined();
});

test('a logout token is encrypted as ID tokens are (Back-Channel Logout §2.6)', async () => {
  const alg = 'ECDH-ES+A256KW';
  const { body } = await exchange(
    server,
    await signInAt(createPerson(server.baseUrl), requestPath({ client_id: alg })),
    {},
    alg,
  );
  const { sid, sub } = claimsIn(await opened(body.id_token, alg));
  const { body: sessions } = await server.admin.call(listSessions, { params, query: {} });
  expect(sessions?.map(({ id }) => id)).toContain(sid);
  await server.admin.call(endSession, { params: { realm: REALM, id: String(sid) } });
  await expect.poll(() => receiver.received.length).toBe(1);
  const token = new URLSearchParams(String(receiver.received[0]?.raw)).get('logout_token');
  expect(await verified(await opened(token, alg))).toMatchObject({ sid, sub, aud: alg });
});

describe('a request', () => {
  const asked = (clientId: string) => ({
    iss: clientId,
    aud: issuer,
    exp: Math.floor(Date.now() / 1000) + 300,
    client_id: clientId,
    response_type: 'code',
    redirect_uri: RP,
    scope: 'openid',
    state: STATE,
  });
  const signed = async (clientId: string, claims: object = {}) => {
    const { SignJWT } = await import('jose');
    return new SignJWT({ ...asked(clientId), ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: signing.kid, typ: 'oauth-authz-req+jwt' })
      .sign(signing.privateKey);
  };
  const realmKey = async () => (await jwks()).find(({ use }) => use === 'enc') ?? expect.fail('no key');
  const encrypt = async (content: string, { alg = 'RSA-OAEP-256', enc = 'A256GCM', key = realmKey() } = {}) => {
    const jwk = await key;
    return new CompactEncrypt(Buffer.from(content))
      .setProtectedHeader({ alg, enc, cty: 'JWT', ...(jwk.kid && { kid: jwk.kid }) })
      .encrypt(await importJWK({ ...jwk, alg }, alg));
  };
  const path = (clientId: string, request: string, more: Record<string, string> = {}) =>
    `/realms/${REALM}/oauth2/authorize?${new URLSearchParams({ client_id: clientId, request, ...more })}`;
  const push = async (clientId: string, request: string) =>
    (await post(server, REALM, 'par', { request }, { authorization: basic(clientId) })).body;

  test('that the client signed and encrypted is read, pushed or not, and stays encrypted in the browser', async () => {
    const request = await encrypt(await signed('secretive'));
    const answer = await signInAt(createPerson(server.baseUrl), path('secretive', request));
    expect(answer).toMatchObject({ state: STATE, code: expect.any(String) });
    const person = createPerson(server.baseUrl);
    const form = await person.open(path('secretive', request));
    expect(form.heading).toBe('Sign in');
    expect(form.text + form.url + [...person.jar].join()).not.toContain(await signed('secretive'));
    expect(await push('secretive', request)).toMatchObject({ request_uri: expect.any(String) });
  });

  test('that is faulty inside is answered to where it says, when it can be read', async () => {
    const request = await encrypt(await signed('secretive', { exp: 1 }));
    const { url } = await createPerson(server.baseUrl).open(path('secretive', request));
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      error: 'invalid_request_object',
      state: STATE,
    });
  });

  test('is refused: not signed, of another client, for another key, by another algorithm, or where the client declared none', async () => {
    const unsigned = JSON.stringify(asked('secretive'));
    const twice = await encrypt(await encrypt(await signed('secretive')));
    const refused: [string, string][] = [
      ['secretive', await encrypt(unsigned)],
      ['secretive', twice],
      ['secretive', await encrypt(await signed('open'))],
      ['secretive', await encrypt(await signed('secretive'), { alg: 'RSA-OAEP' })],
      ['secretive', await encrypt(await signed('secretive'), { key: Promise.resolve(boxOf('RSA-OAEP-256').jwk) })],
      // another key that says it is the realm's
      [
        'secretive',
        await encrypt(await signed('secretive'), {
          key: realmKey().then(({ kid }) => ({ ...boxOf('RSA-OAEP-256').jwk, kid: String(kid) })),
        }),
      ],
      ['secretive', `${(await encrypt(await signed('secretive'))).slice(0, -4)}AAAA`],
      ['open', await encrypt(await signed('open'))],
    ];
    for (const [clientId, request] of refused) {
      expect((await push(clientId, request)).error).toBe('invalid_request_object');
      const { url } = await createPerson(server.baseUrl).open(path(clientId, request, { redirect_uri: RP }));
      expect(new URL(url).searchParams.get('error')).toBe('invalid_request_object');
    }
  });

  test('is refused if its content is encrypted otherwise than the client declared', async () => {
    const more = { requestObjectEncryptionAlg: 'RSA-OAEP-256', requestObjectEncryptionEnc: 'A128GCM' } as const;
    await makeRelyingParty(server, 'exact', { jwks: { keys: [signing.jwk] }, ...more });
    expect((await push('exact', await encrypt(await signed('exact')))).error).toBe('invalid_request_object');
    const { request_uri } = await push('exact', await encrypt(await signed('exact'), { enc: 'A128GCM' }));
    expect(request_uri).toBeDefined();
  });

  test('for the key before a rotation is read still, and the key set has the new key alone', async () => {
    const before = await realmKey();
    await server.admin.call(rotateKeys, { params, body: { algorithm: 'RSA-OAEP-256' } });
    const after = await realmKey();
    expect(after.kid).not.toBe(before.kid);
    expect((await jwks()).filter(({ use }) => use === 'enc')).toEqual([after]);
    const request = await encrypt(await signed('secretive'), { key: Promise.resolve(before) });
    expect(await push('secretive', request)).toMatchObject({ request_uri: expect.any(String) });
    const { body: keys } = await server.admin.call(listKeys, { params });
    expect(keys?.filter(({ algorithm }) => algorithm === 'RSA-OAEP-256')).toMatchObject([
      { keyId: after.kid, status: 'ACTIVE' },
      { keyId: before.kid, status: 'RETAINED' },
    ]);
    const remove = (kid = '') => server.admin.call(deleteKey, { params: { realm: REALM, keyId: kid } });
    await expect(remove(after.kid)).rejects.toMatchObject({ problem: { type: 'urn:svc:problem:key-active' } });
    await remove(before.kid);
    expect((await push('secretive', request)).error).toBe('invalid_request_object');
    const { body: events } = await server.admin.call(listEvents, {
      params,
      query: { type: 'KEY_ROTATED', limit: 100 },
    });
    expect(events?.filter(({ data }) => data.algorithm === 'RSA-OAEP-256')).toHaveLength(2);
  });

  test('the realm’s key signs nothing: a token that says its kid is none', async () => {
    const { kid } = await realmKey();
    const [, payload, signature] = String(
      (await exchange(server, await signInAt(createPerson(server.baseUrl), requestPath()))).body.access_token,
    ).split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'RS256', typ: 'at+jwt', kid })).toString('base64url');
    const forged = [header, payload, signature].join('.');
    const { body } = await post(server, REALM, 'introspect', { token: forged }, { authorization: basic('rp') });
    expect(body).toEqual({ active: false });
  });
});

test('keys at a jwksUri are fetched, and a client without a fitting one is told so', async () => {
  const box = boxOf('ECDH-ES');
  receiver.answer = () => ({ body: JSON.stringify({ keys: [box.jwk] }) });
  await makeRelyingParty(server, 'remote', {
    jwksUri: `${receiver.url}/jwks`,
    idTokenEncryptedResponseAlg: 'ECDH-ES',
    idTokenEncryptedResponseEnc: 'A256GCM',
  });
  const got = async () =>
    (
      await exchange(
        server,
        await signInAt(createPerson(server.baseUrl), requestPath({ client_id: 'remote' })),
        {},
        'remote',
      )
    ).body;
  expect(await verified(await opened((await got()).id_token, 'ECDH-ES'))).toMatchObject({ aud: 'remote' });
  await makeRelyingParty(server, 'unfit', {
    jwksUri: `${receiver.url}/none`,
    idTokenEncryptedResponseAlg: 'ECDH-ES',
  });
  receiver.answer = () => ({ body: JSON.stringify({ keys: [signing.jwk].map((jwk) => ({ ...jwk, use: 'sig' })) }) });
  const { body } = await exchange(
    server,
    await signInAt(createPerson(server.baseUrl), requestPath({ client_id: 'unfit' })),
    {},
    'unfit',
  );
  expect(body).toMatchObject({ error: 'invalid_request' });
  expect(body.id_token).toBeUndefined();
});

test('registration takes and shows the algorithms, and refuses those without a key', async () => {
  const { putSettings } = await import('../../../server/contract/settings.ts');
  await server.admin.call(putSettings, { params, body: { clientRegistration: 'open' } });
  const register = async (metadata: object) => {
    const response = await fetch(`${issuer}/connect/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [RP], ...metadata }),
    });
    return response.json();
  };
  const said = {
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'ES256',
    request_object_signing_alg: 'ES256',
    request_object_encryption_alg: 'RSA-OAEP-256',
    request_object_encryption_enc: 'A256GCM',
    id_token_signed_response_alg: 'ES256',
    id_token_encrypted_response_alg: 'ECDH-ES',
    id_token_encrypted_response_enc: 'A256GCM',
    userinfo_signed_response_alg: 'PS256',
    userinfo_encrypted_response_alg: 'ECDH-ES+A128KW',
    userinfo_encrypted_response_enc: 'A128GCM',
    authorization_signed_response_alg: 'EdDSA',
    authorization_encrypted_response_alg: 'ECDH-ES',
    authorization_encrypted_response_enc: 'A256CBC-HS512',
    introspection_signed_response_alg: 'ES256',
    introspection_encrypted_response_alg: 'ECDH-ES+A256KW',
    introspection_encrypted_response_enc: 'A128CBC-HS256',
    jwks: { keys: [signing.jwk, boxOf('ECDH-ES').jwk] },
  };
  const registered = await register(said);
  expect(registered).toMatchObject(said);
  for (const fault of [
    { id_token_encrypted_response_alg: 'RSA1_5' },
    { id_token_encrypted_response_alg: 'dir' },
    { id_token_encrypted_response_alg: 'RSA-OAEP' },
    { id_token_encrypted_response_alg: undefined },
    { token_endpoint_auth_signing_alg: 'HS256' },
    { userinfo_encrypted_response_enc: 'A192GCM' },
    { request_object_encryption_alg: 'ECDH-ES' },
  ])
    expect(await register({ ...said, ...fault })).toMatchObject({ error: 'invalid_client_metadata' });
  const alone = await register({ id_token_encrypted_response_alg: 'ECDH-ES' });
  expect(alone).toMatchObject({ error: 'invalid_client_metadata' });
});

test('a realm has a key to encrypt for from the first client that declares it', async () => {
  const { createRealm } = await import('../../../server/contract/realms.ts');
  const at = { params: { realm: 'later' } };
  await server.admin.call(createRealm, { body: { realm: 'later' } });
  const uses = async () => {
    const { keys } = await keySetOf(`${server.baseUrl}/realms/later`);
    return keys.map(({ use }) => use);
  };
  expect(await uses()).toEqual(['sig']);
  const body = { clientId: 'first', secret: SECRET, requestObjectEncryptionAlg: 'RSA-OAEP-256' as const };
  const { body: made } = await server.admin.call(createClient, { ...at, body });
  expect(await uses()).toEqual(['sig', 'enc']);
  await server.admin.call(deleteClient, { params: { realm: 'later', id: made?.id ?? '' } });
});
