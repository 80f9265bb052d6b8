// What RFC 9700 expects of attackers against people's codes and tokens, each played out. Attacks on single features are with those:
// docs/development.md says where.
import { createHash } from 'node:crypto';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { makeClient, makeRealm, post } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import {
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  requestPath,
  responseParameters,
  signInAt,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const OTHER = 'evil';
const open = { tokenEndpointAuthMethod: 'none', requirePkce: true, secret: undefined } as const;
const issuerOf = (realm: string) => `${server.baseUrl}/realms/${realm}`;
const challengeOf = (verifier: string) => ({
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
});
const VERIFIER = 'the-verifier-of-whoever-began-the-sign-in-0123456789';
const asked = (more: Record<string, string> = {}) =>
  requestPath({ client_id: 'spa', scope: 'openid email', ...challengeOf(VERIFIER), ...more });
const signedIn = (path = asked()) => signInAt(createPerson(server.baseUrl), path);
const redeem = ({ code = '' }: Record<string, string>, code_verifier: string | undefined = VERIFIER, realm = REALM) =>
  post(server, realm, 'token', {
    ...{ grant_type: 'authorization_code', client_id: 'spa', redirect_uri: RP, code },
    ...(code_verifier !== '' && { code_verifier }),
  });
const refresh = (refresh_token: unknown, client_id = 'spa', realm = REALM) =>
  post(server, realm, 'token', { grant_type: 'refresh_token', client_id, refresh_token: String(refresh_token) });
const userinfo = (token: unknown) =>
  fetch(`${issuerOf(REALM)}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` } });

beforeAll(async () => {
  server = await startTestServer();
  await makeProvider(server);
  await makeRelyingParty(server, 'spa', open);
  await makeRelyingParty(server, 'spa2', open);
  await makeRealm(server, OTHER);
  await makeClient(server, OTHER, { clientId: 'spa', ...open, redirectUris: [RP] });
  const body = { username: 'alice', email: 'alice@example.com', emailVerified: true, password: PASSWORD };
  await server.admin.call(createUser, { params: { realm: OTHER }, body });
});
afterAll(() => server?.stop());

test('mix-up: an answer says which realm gave it, an error too, and openid-client takes no other realm’s', async () => {
  const honest = await signedIn();
  expect(honest.iss).toBe(issuerOf(REALM));
  const refused = responseParameters(await createPerson(server.baseUrl).open(asked({ prompt: 'none' })));
  expect(refused).toMatchObject({ error: 'login_required', iss: issuerOf(REALM) });
  const landed = new URL(`${RP}?${new URLSearchParams(honest)}`);
  const checks = { pkceCodeVerifier: VERIFIER, expectedState: honest.state ?? '' };
  const redeemedAt = async (realm: string) => {
    const insecure = { execute: [oidc.allowInsecureRequests] };
    const config = await oidc.discovery(new URL(issuerOf(realm)), 'spa', undefined, oidc.None(), insecure);
    return oidc.authorizationCodeGrant(config, landed, checks);
  };
  const wrong = { cause: { message: expect.stringContaining('"iss"') } };
  await expect(redeemedAt(OTHER)).rejects.toMatchObject(wrong);
  expect((await redeemedAt(REALM)).claims()?.iss).toBe(issuerOf(REALM));
});

test('mix-up: a code or a refresh token that reached another realm is worth nothing there, and costs its owner nothing', async () => {
  const answer = await signedIn();
  expect((await redeem(answer, VERIFIER, OTHER)).body.error).toBe('invalid_grant');
  const { status, body } = await redeem(answer);
  expect(status).toBe(200);
  expect((await refresh(body.refresh_token, 'spa', OTHER)).body.error).toBe('invalid_grant');
  expect((await refresh(body.refresh_token)).status).toBe(200);
});

test.each([
  ['the challenge is cut out', { code_challenge: '', code_challenge_method: '' }],
  ['the method is cut out', { code_challenge_method: '' }],
  ['the method is made plain', { code_challenge_method: 'plain' }],
  ['both are made plain', { code_challenge: VERIFIER, code_challenge_method: 'plain' }],
])('PKCE downgrade: no code is given where %s on the way', async (_, changed) => {
  const person = createPerson(server.baseUrl);
  await signInAt(person, asked());
  const answer = responseParameters(await person.open(asked(changed)));
  expect(answer).toMatchObject({ error: 'invalid_request', iss: issuerOf(REALM) });
  expect(answer).not.toHaveProperty('code');
});

test('code injection: a stolen code in the thief’s own sign-in fails by their verifier, and is good for nobody afterwards', async () => {
  for (const verifier of [
    'the-verifier-of-the-thief-who-began-another-sign-in-01',
    challengeOf(VERIFIER).code_challenge,
  ]) {
    const stolen = await signedIn();
    expect((await redeem(stolen, verifier)).body.error).toBe('invalid_grant');
    expect((await redeem(stolen)).body.error).toBe('invalid_grant');
  }
  const bare = await signedIn();
  expect((await redeem(bare, '')).body.error).toBe('invalid_grant');
});

test('code replay: a thief without the verifier ends nothing of what the code gave to its owner', async () => {
  const answer = await signedIn();
  const { body } = await redeem(answer);
  for (const verifier of ['the-verifier-of-the-thief-who-began-another-sign-in-01', ''])
    expect((await redeem(answer, verifier)).body.error).toBe('invalid_grant');
  expect((await userinfo(body.access_token)).status).toBe(200);
  const { body: next } = await refresh(body.refresh_token);
  expect((await redeem(answer)).body.error).toBe('invalid_grant');
  expect((await userinfo(next.access_token)).status).toBe(401);
});

test('a password is not sent on: each answer to a form with a password, or to a request by POST, is a 303', async () => {
  const person = createPerson(server.baseUrl);
  const page = await person.open(asked());
  const fields = { ...page.fields, do: 'next', username: 'alice', password: PASSWORD };
  const init = (form: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(form) });
  const answered = await person.once(new URL(page.url).pathname, init(fields));
  expect([answered.status, answered.headers.get('location')]).toEqual([303, expect.stringContaining(`${RP}?code=`)]);
  const { pathname, searchParams } = new URL(asked(), server.baseUrl);
  const moved = await person.once(pathname, init(Object.fromEntries(searchParams)));
  expect([moved.status, moved.headers.get('location')]).toEqual([303, expect.stringContaining(pathname)]);
});

test('refresh theft: whoever comes second with a token, the owner or the thief, ends what both have', async () => {
  const { body: first } = await redeem(await signedIn());
  const { body: thiefs } = await refresh(first.refresh_token);
  const { body: thiefsNext } = await refresh(thiefs.refresh_token);
  expect((await userinfo(thiefsNext.access_token)).status).toBe(200);
  expect((await refresh(first.refresh_token)).body.error).toBe('invalid_grant');
  expect((await refresh(thiefsNext.refresh_token)).body.error).toBe('invalid_grant');
  for (const { access_token } of [first, thiefs, thiefsNext]) expect((await userinfo(access_token)).status).toBe(401);
});

test('refresh theft: another client gets nothing by it, and its owner keeps it', async () => {
  const { body } = await redeem(await signedIn());
  expect((await refresh(body.refresh_token, 'spa2')).body.error).toBe('invalid_grant');
  expect((await refresh(body.refresh_token)).status).toBe(200);
});
