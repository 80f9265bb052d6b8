// Checking the settings of an identity provider that is not saved: what is fetched, what is wrong in words, and that no secret goes out.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type IdentityProviderInput,
  listIdentityProviders,
  testIdentityProvider,
} from '../../../server/contract/identity-providers.ts';
import { administrator } from '../../support/administrators.ts';
import { makeRealm } from '../../support/clients.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { SAML_CERTIFICATE } from '../../support/saml.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

const params = { realm: 'acme' };
let server: TestServer;
let upstream: Upstream;
let receiver: Receiver;
beforeAll(async () => {
  upstream = await startUpstream();
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: upstream.caFile } });
  for (const realm of ['acme', 'other']) await makeRealm(server, realm);
});
afterAll(async () => {
  await server?.stop();
  await upstream?.stop();
  await receiver?.stop();
});
beforeEach(() => upstream.reset());

const oidc = (config: object = {}, more: object = {}): IdentityProviderInput => ({
  alias: 'corporate',
  type: 'oidc',
  clientId: 'realm',
  secret: 'a secret that stays here',
  scopes: ['openid'],
  config: { issuer: upstream.url, ...config },
  ...more,
});
const tested = async (body: IdentityProviderInput, as = server.admin) =>
  (await as.call(testIdentityProvider, { params, body })).body!;
const messages = ({ checks }: Awaited<ReturnType<typeof tested>>, result: string) =>
  checks.flatMap((one) => (one.result === result ? [`${one.check}: ${one.message}`] : []));

test('a provider with discovery and keys passes; its endpoints are said, nothing is written and no secret sent', async () => {
  const answer = await tested(oidc());
  expect(answer).toMatchObject({
    ok: true,
    found: { authorizationEndpoint: `${upstream.url}/authorize`, tokenEndpoint: `${upstream.url}/token` },
  });
  expect(messages(answer, 'passed')).toHaveLength(2);
  expect(JSON.stringify(upstream.received.map(({ raw, headers }) => [String(raw), headers]))).not.toContain(
    'stays here',
  );
  expect((await server.admin.call(listIdentityProviders, { params })).body).toEqual([]);
});

test.each<[string, Record<string, unknown>, RegExp]>([
  ['another issuer', { issuer: 'https://other.example' }, /names the issuer https:\/\/other\.example, the settings/],
  ['an endpoint in the clear', { token_endpoint: 'http://other.example/token' }, /not https: http:\/\/other/],
  ['no keys', { jwks_uri: undefined }, /names no jwksUri/],
  ['no code flow', { response_types_supported: ['id_token'] }, /no authorization code flow/],
])('a discovery document with %s fails, in words', async (_, discovery, words) => {
  upstream.discovery = discovery;
  const answer = await tested(oidc());
  expect(answer.ok).toBe(false);
  expect(messages(answer, 'failed').join()).toMatch(words);
});

test('what the provider does not list is a warning', async () => {
  upstream.discovery = { scopes_supported: ['openid'], code_challenge_methods_supported: ['plain'] };
  const answer = await tested(oidc({}, { scopes: ['openid', 'groups'] }));
  expect(answer.ok).toBe(true);
  expect(messages(answer, 'warning').join()).toMatch(/scopes groups.*PKCE/);
});

test('an address that can’t be reached, or that the guard refuses, fails in words', async () => {
  expect(messages(await tested(oidc({ issuer: 'https://127.0.0.1:1' })), 'failed')).toEqual([
    expect.stringMatching(/^discovery: .*can't be fetched/),
  ]);
  expect((await tested(oidc({ issuer: `${upstream.url}/nothing` }))).ok).toBe(false);
});

test('OAuth 2: each endpoint answers or does not', async () => {
  const config = {
    authorizationEndpoint: `${upstream.url}/authorize`,
    tokenEndpoint: `${upstream.url}/token`,
    userinfoEndpoint: 'https://127.0.0.1:1/userinfo',
  };
  const answer = await tested({ alias: 'git', type: 'oauth2', clientId: 'x', config });
  expect(answer.ok).toBe(false);
  expect(messages(answer, 'failed')).toEqual([expect.stringContaining("userinfoEndpoint can't be reached")]);
});

test('SAML: metadata that is none fails; settings alone are judged by their certificates', async () => {
  const metadata = await tested({ alias: 'saml', type: 'saml', config: { metadataUrl: `${upstream.url}/jwks` } });
  expect(messages(metadata, 'failed')).toEqual([expect.stringContaining('metadata: ')]);
  const config = { entityId: 'https://idp.example', singleSignOnUrl: 'https://idp.example/sso' };
  const bare = await tested({ alias: 'saml', type: 'saml', config });
  expect(messages(bare, 'failed').join()).toMatch(/no certificate/);
  const settled = await tested({
    alias: 'saml',
    type: 'saml',
    config: { ...config, signingCertificates: [SAML_CERTIFICATE] },
  });
  expect(settled.checks).toMatchObject([{ check: 'certificates' }]);
});

test('settings that no save would take are refused at their fields, and it needs the permission to write', async () => {
  await expect(tested({ alias: 'x', type: 'oidc', config: {} })).rejects.toMatchObject({
    status: 400,
    problem: { errors: [{ path: 'config', message: 'needs issuer' }] },
  });
  await expect(tested(oidc({ issuer: `\${SVC_VAR_ISSUER}` }))).rejects.toMatchObject({
    status: 400,
    problem: { errors: [{ path: 'config.issuer' }] },
  });
  const reader = await administrator(server, { target: 'acme', permissions: ['identity-providers:read'] });
  await expect(tested(oidc(), reader)).rejects.toMatchObject({ status: 403 });
  const elsewhere = await administrator(server, { target: 'other', permissions: ['identity-providers:write'] });
  await expect(tested(oidc(), elsewhere)).rejects.toMatchObject({ status: 403 });
});
