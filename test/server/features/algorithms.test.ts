// What realms sign by algorithms other than RS256, for clients that ask for it; and what stays as it was.
import { hash } from 'node:crypto';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SigningAlgorithm } from '../../../server/contract/algorithms.ts';
import { createClient, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { listKeys, rotateKeys } from '../../../server/contract/keys.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, makeClient, post, SECRET } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import {
  exchange,
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  requestPath,
  signInAt,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let issuer: string;
const params = { realm: REALM };
const others = ['PS256', 'ES256', 'EdDSA'] as const;
const machine = (algorithm: SigningAlgorithm) => `machine-${algorithm}`;

const Jwks = z.object({ keys: z.array(z.looseObject({ kid: z.string(), alg: SigningAlgorithm })) });
const jwks = async () => Jwks.parse(await (await fetch(`${issuer}/oauth2/jwks`)).json());
const verified = async (jwt: unknown, typ?: string) =>
  jwtVerify(String(jwt), createLocalJWKSet(await jwks()), { issuer, ...(typ && { typ }) });
const machineToken = async (algorithm: SigningAlgorithm): Promise<string> => {
  const form = { grant_type: 'client_credentials' };
  const { body } = await post(server, REALM, 'token', form, { authorization: basic(machine(algorithm)) });
  return String(body.access_token);
};
const activeKeys = async () =>
  ((await server.admin.call(listKeys, { params })).body ?? []).filter(({ status }) => status === 'ACTIVE');

beforeAll(async () => {
  server = await startTestServer();
  issuer = `${server.baseUrl}/realms/${REALM}`;
  await makeProvider(server);
  for (const algorithm of others) {
    const all = {
      idTokenSignedResponseAlg: algorithm,
      accessTokenSignedResponseAlg: algorithm,
      userinfoSignedResponseAlg: algorithm,
    };
    await makeRelyingParty(server, algorithm, all);
    await makeClient(server, REALM, {
      clientId: machine(algorithm),
      secret: SECRET,
      grantTypes: ['client_credentials'],
      accessTokenSignedResponseAlg: algorithm,
    });
  }
});
afterAll(async () => server?.stop());

describe.each(others)('%s', (algorithm) => {
  test('signs what openid-client gets: ID token, access token and userinfo', async () => {
    const metadata = { id_token_signed_response_alg: algorithm, userinfo_signed_response_alg: algorithm };
    const insecure = { execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks] };
    const proof = oidc.ClientSecretBasic(SECRET);
    const config = await oidc.discovery(new URL(issuer), algorithm, metadata, proof, insecure);
    expect(config.serverMetadata().id_token_signing_alg_values_supported).toContain(algorithm);
    const verifier = oidc.randomPKCECodeVerifier();
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: RP,
      scope: 'openid email',
      state: 'state',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const person = createPerson(server.baseUrl);
    const landed = await person.fill(await person.open(url.href), { username: 'alice', password: PASSWORD });
    const tokens = await oidc.authorizationCodeGrant(config, new URL(landed.url), {
      pkceCodeVerifier: verifier,
      expectedState: 'state',
    });
    const claims = tokens.claims();
    expect(decodeProtectedHeader(String(tokens.id_token)).alg).toBe(algorithm);
    const digest = hash(algorithm === 'EdDSA' ? 'sha512' : 'sha256', tokens.access_token, 'buffer');
    expect(claims?.at_hash).toBe(digest.subarray(0, digest.length / 2).toString('base64url'));
    expect((await verified(tokens.access_token, 'at+jwt')).protectedHeader.alg).toBe(algorithm);
    const userinfo = await oidc.fetchUserInfo(config, tokens.access_token, claims?.sub ?? '');
    expect(userinfo).toMatchObject({ email: 'alice@example.com', iss: issuer, aud: algorithm });
    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(decodeProtectedHeader(String(refreshed.id_token)).alg).toBe(algorithm);
  });

  test('has one key of its own in the JWKS, whoever needs it first', async () => {
    const made = await Promise.all([1, 2, 3].map(() => machineToken(algorithm)));
    const kids = await Promise.all(made.map(async (jwt) => (await verified(jwt)).protectedHeader.kid));
    const own = (await jwks()).keys.filter(({ alg }) => alg === algorithm);
    expect([...new Set(kids)]).toEqual(own.map(({ kid }) => kid));
    expect((await activeKeys()).filter((key) => key.algorithm === algorithm)).toHaveLength(1);
  });

  test('rotates alone, and what it signed before still verifies', async () => {
    const before = await machineToken(algorithm);
    const old = await activeKeys();
    const { body: rotated } = await server.admin.call(rotateKeys, { params, body: { algorithm } });
    expect(rotated).toMatchObject({ algorithm, status: 'ACTIVE' });
    const after = (await verified(await machineToken(algorithm))).protectedHeader;
    expect(after).toMatchObject({ alg: algorithm, kid: rotated?.keyId });
    expect((await verified(before)).protectedHeader.kid).not.toBe(rotated?.keyId);
    const rest = (keys: typeof old) => keys.filter((key) => key.algorithm !== algorithm).map(({ keyId }) => keyId);
    expect(rest(await activeKeys())).toEqual(rest(old));
  });
});

describe('a key set that an application reads before its first token has the key', () => {
  const algorithmsOf = async (realm: string) => {
    const response = await fetch(`${server.baseUrl}/realms/${realm}/oauth2/jwks`);
    return Jwks.parse(await response.json())
      .keys.map(({ alg }) => alg)
      .sort();
  };
  const inRealm = async (realm: string) => {
    await server.admin.call(createRealm, { body: { realm } });
    return { params: { realm } };
  };
  const machineClient = { clientId: 'machine', secret: SECRET, grantTypes: ['client_credentials' as const] };

  test('of a client that the admin API creates or changes', async () => {
    const at = await inRealm('saved');
    const { body: made } = await server.admin.call(createClient, {
      ...at,
      body: { ...machineClient, idTokenSignedResponseAlg: 'ES256', userinfoSignedResponseAlg: 'ES256' },
    });
    expect(await algorithmsOf('saved')).toEqual(['ES256', 'RS256']);
    const id = made?.id ?? expect.fail();
    const change = (body: object) => server.admin.call(putClient, { params: { realm: 'saved', id }, body });
    await change({ accessTokenSignedResponseAlg: 'EdDSA' });
    expect(await algorithmsOf('saved')).toEqual(['ES256', 'EdDSA', 'RS256']);
    await change({ name: 'Machine' });
    expect(await algorithmsOf('saved')).toHaveLength(3);
    const { body: events } = await server.admin.call(listEvents, { ...at, query: { type: 'KEY_ROTATED', limit: 100 } });
    expect(events?.map(({ data, actor }) => [data.algorithm, actor?.type])).toEqual([
      ['EdDSA', 'system'],
      ['ES256', 'system'],
    ]);
  });

  test('of a client that a document declares, but not of a plan', async () => {
    await inRealm('imported');
    const body = { clients: [{ ...machineClient, accessTokenSignedResponseAlg: 'PS256' as const }] };
    const params = { realm: 'imported' };
    await server.admin.call(importRealm, { params, query: { manager: 'test', dryRun: 'true' }, body });
    expect(await algorithmsOf('imported')).toEqual(['RS256']);
    await server.admin.call(importRealm, { params, query: { manager: 'test' }, body });
    expect(await algorithmsOf('imported')).toEqual(['PS256', 'RS256']);
  });

  test('of clients that are saved at the same moment: one key, which signs', async () => {
    const at = await inRealm('atonce');
    const clientIds = ['a', 'b', 'c', 'd'];
    await Promise.all(
      clientIds.map((clientId) =>
        server.admin.call(createClient, {
          ...at,
          body: { ...machineClient, clientId, accessTokenSignedResponseAlg: 'EdDSA' },
        }),
      ),
    );
    expect(await algorithmsOf('atonce')).toEqual(['EdDSA', 'RS256']);
    const form = { grant_type: 'client_credentials' };
    const { body } = await post(server, 'atonce', 'token', form, { authorization: basic('a') });
    expect(decodeProtectedHeader(String(body.access_token)).alg).toBe('EdDSA');
    expect(await algorithmsOf('atonce')).toEqual(['EdDSA', 'RS256']);
  });

  test('but a client that is refused leaves none', async () => {
    const at = await inRealm('refused');
    const body = { ...machineClient, redirectUris: ['not a uri'], idTokenSignedResponseAlg: 'ES256' as const };
    await expect(server.admin.call(createClient, { ...at, body })).rejects.toMatchObject({ status: 400 });
    expect(await algorithmsOf('refused')).toEqual(['RS256']);
  });
});

test('the first key of an algorithm leaves an event of the server’s own', async () => {
  await machineToken('ES256');
  const { body } = await server.admin.call(listEvents, { params, query: { type: 'KEY_ROTATED', limit: 100 } });
  const first = body?.findLast(({ data }) => data.algorithm === 'ES256');
  expect(first?.actor).toMatchObject({ type: 'system' });
});

test('whoever asked for nothing gets RS256 and JSON, and SAML’s metadata has RSA certificates alone', async () => {
  await Promise.all(others.map(machineToken));
  const answer = await signInAt(createPerson(server.baseUrl), requestPath());
  const { body } = await exchange(server, answer);
  for (const token of [body.id_token, body.access_token])
    expect((await verified(token)).protectedHeader.alg).toBe('RS256');
  const userinfo = await fetch(`${issuer}/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${body.access_token}` },
  });
  expect(userinfo.headers.get('content-type')).toContain('application/json');
  const metadata = await (await fetch(`${issuer}/saml/idp/metadata`)).text();
  const rsa = (await jwks()).keys.filter(({ alg }) => alg === 'RS256');
  expect(metadata.split('use="signing"').length - 1).toBe(rsa.length);
});

test('a key’s signature counts by its own algorithm alone', async () => {
  const [header, payload, signature] = (await machineToken('PS256')).split('.');
  const other = { ...JSON.parse(Buffer.from(header ?? '', 'base64url').toString()), alg: 'RS256' };
  const forged = [Buffer.from(JSON.stringify(other)).toString('base64url'), payload, signature].join('.');
  const introspect = async (token: string) =>
    (await post(server, REALM, 'introspect', { token }, { authorization: basic(machine('PS256')) })).body.active;
  expect(await introspect([header, payload, signature].join('.'))).toBe(true);
  expect(await introspect(forged)).toBe(false);
});

test('an algorithm that nobody signs by is refused', async () => {
  const client = { clientId: 'other', secret: SECRET };
  // @ts-expect-error: HS256 is none
  const made = makeClient(server, REALM, { ...client, idTokenSignedResponseAlg: 'HS256' });
  await expect(made).rejects.toThrow();
});
