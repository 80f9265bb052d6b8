// Mutual TLS behind a proxy that forwards certificates (RFC 8705 §6.5): what the server believes of which header.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { type Made, makeAuthority, makeCertificate, named, RSA_1024 } from '../../support/certificates.ts';
import { type Answer, claimsIn, makeClient, makeRealm, post } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'bank';
const FORM = { grant_type: 'client_credentials', client_id: 'billing' };
const servers: TestServer[] = [];
let ca: Made;
let own: Made;

async function serverWith(env: Record<string, string>): Promise<TestServer> {
  const server = await startTestServer({ env });
  servers.push(server);
  await makeRealm(server, REALM);
  await server.admin.call(putSettings, { params: { realm: REALM }, body: { tlsClientAuthAuthorities: ca.pem } });
  await makeClient(server, REALM, {
    clientId: 'billing',
    tokenEndpointAuthMethod: 'tls_client_auth',
    tlsClientAuthSanDns: 'billing.example.com',
    tlsClientCertificateBoundAccessTokens: true,
    grantTypes: ['client_credentials'],
  });
  return server;
}
const made = (more: object = {}) =>
  makeCertificate({ by: ca, extensions: [named('dns', 'billing.example.com')], ...more });
const forwarded = ({ pem }: Made) => ({ 'ssl-client-cert': encodeURIComponent(pem) });
const ask = (server: TestServer, headers: Record<string, string>): Promise<Answer> =>
  post(server, REALM, 'token', FORM, headers);

const discoveryOf = async ({ baseUrl }: TestServer): Promise<Record<string, unknown>> =>
  JSON.parse(await (await fetch(`${baseUrl}/realms/${REALM}/.well-known/openid-configuration`)).text());

beforeAll(async () => {
  ca = await makeAuthority();
  own = await made();
});
afterAll(async () => {
  for (const server of servers) await server.stop();
});

test('A client proves itself by the certificate that its proxy forwards, and its token works with this certificate alone', async () => {
  const server = await serverWith({ SVC_CLIENT_CERT_HEADER: 'nginx', SVC_CLIENT_CERT_PROXIES: 'loopback' });
  const { status, body } = await ask(server, forwarded(own));
  expect([status, claimsIn(body.access_token).cnf]).toEqual([200, { 'x5t#S256': own.thumbprint }]);
  expect((await ask(server, {})).body.error).toBe('invalid_client');
  expect((await ask(server, { 'client-cert': `:${own.der.toString('base64')}:` })).body.error).toBe('invalid_client');
  const short = await made({ algorithm: RSA_1024 });
  expect((await ask(server, forwarded(short))).body.error).toBe('invalid_client');
  const inspect = (headers: Record<string, string>) =>
    post(server, REALM, 'introspect', { token: String(body.access_token), client_id: 'billing' }, headers);
  expect((await inspect(forwarded(own))).body).toMatchObject({ active: true, cnf: { 'x5t#S256': own.thumbprint } });
  expect((await inspect({})).body.error).toBe('invalid_client');
  const metadata = await discoveryOf(server);
  expect(metadata.token_endpoint_auth_methods_supported).toContain('tls_client_auth');
  expect(metadata).not.toHaveProperty('mtls_endpoint_aliases');
});

test('A certificate in the header of a peer that is no such proxy proves nothing, even if X-Forwarded-* of that peer counts', async () => {
  const server = await serverWith({
    SVC_CLIENT_CERT_HEADER: 'nginx',
    SVC_CLIENT_CERT_PROXIES: '192.0.2.7',
    SVC_TRUST_PROXY: '127.0.0.1',
  });
  for (const headers of [forwarded(own), { ...forwarded(own), 'x-forwarded-for': '192.0.2.7' }])
    expect((await ask(server, headers)).body.error).toBe('invalid_client');
});

test('A server without these settings reads no header, and discovery names no method that shows a certificate', async () => {
  const server = await serverWith({});
  expect((await ask(server, forwarded(own))).body.error).toBe('invalid_client');
  const metadata = await discoveryOf(server);
  expect(metadata.token_endpoint_auth_methods_supported).not.toContain('tls_client_auth');
  expect(metadata).not.toHaveProperty('tls_client_certificate_bound_access_tokens');
});
