// Mutual TLS by the server's own listener (RFC 8705): how clients prove themselves by certificates, and certificates that prove nothing.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { exportJWK } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { getSettings, putSettings } from '../../../server/contract/settings.ts';
import {
  authority,
  forClients,
  forServers,
  KeyUsageFlags,
  type Made,
  makeAuthority,
  makeCertificate,
  named,
  shows,
  unknownExtension,
  usage,
  type Wanted,
} from '../../support/certificates.ts';
import { type Answer, basic, claimsIn, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { freePort } from '../../support/free-port.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'bank';
const SUBJECT = 'CN=billing, O=Example, C=DE';
/** The same, as RFC 4514 writes it: the last step first. */
const REGISTERED = 'C=DE,O=Example,CN=billing';
let server: TestServer;
/** Beyond the minute in which refusals of one address are counted together. */
let offset = 0;
beforeEach(() => {
  offset += 61_000;
});
let folder: string;
let at: (path: string) => string;
let ca: Made;
let others: Made;
let root: Made;
let own: Made;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'mutual-tls-'));
  const listener = await makeCertificate({ subject: 'CN=127.0.0.1' });
  const [certificateFile, keyFile] = [path.join(folder, 'tls.crt'), path.join(folder, 'tls.key')];
  await writeFile(certificateFile, listener.pem);
  await writeFile(keyFile, listener.key);
  const port = await freePort();
  server = await startTestServer({
    now: () => new Date(Date.now() + offset),
    env: {
      SVC_MTLS_PORT: String(port),
      SVC_MTLS_CERT_FILE: certificateFile,
      SVC_MTLS_KEY_FILE: keyFile,
      // a load balancer that passes TLS connections through, and forwards other requests
      SVC_TRUST_PROXY: '127.0.0.1',
    },
  });
  at = (endpoint) => `https://127.0.0.1:${port}/realms/${REALM}/${endpoint}`;
  [ca, others, root] = await Promise.all([
    makeAuthority(),
    makeAuthority('CN=Other authority'),
    makeAuthority('CN=Root'),
  ]);
  own = await makeCertificate({ subject: 'CN=self' });
  await makeRealm(server, REALM);
  await server.admin.call(putSettings, { params: { realm: REALM }, body: { tlsClientAuthAuthorities: ca.pem } });
  const machine = { grantTypes: ['client_credentials' as const] };
  const tls = { ...machine, tokenEndpointAuthMethod: 'tls_client_auth' as const };
  await makeClient(server, REALM, { ...tls, clientId: 'billing', tlsClientAuthSubjectDn: REGISTERED });
  await makeClient(server, REALM, { ...tls, clientId: 'dns', tlsClientAuthSanDns: 'jobs.example.com' });
  await makeClient(server, REALM, { ...tls, clientId: 'uri', tlsClientAuthSanUri: 'spiffe://example.org/jobs' });
  await makeClient(server, REALM, { ...tls, clientId: 'ip', tlsClientAuthSanIp: '2001:db8::1' });
  await makeClient(server, REALM, { ...tls, clientId: 'email', tlsClientAuthSanEmail: 'jobs@example.com' });
  await makeClient(server, REALM, {
    ...tls,
    clientId: 'apart',
    tlsClientAuthSubjectDn: REGISTERED,
    tlsClientAuthAuthorities: others.pem,
  });
  await makeClient(server, REALM, {
    ...tls,
    clientId: 'deep',
    tlsClientAuthSubjectDn: REGISTERED,
    tlsClientAuthAuthorities: root.pem,
  });
  const jwk = await exportJWK(own.keys.publicKey);
  await makeClient(server, REALM, {
    ...machine,
    clientId: 'self',
    tokenEndpointAuthMethod: 'self_signed_tls_client_auth',
    jwks: { keys: [{ ...jwk, x5c: [own.der.toString('base64')] }] },
  });
  await makeClient(server, REALM, { ...machine, clientId: 'secret', secret: SECRET });
});
afterAll(async () => {
  await server?.stop();
  if (folder) await rm(folder, { recursive: true });
});

const asks = (clientId: string, by?: Made, chain: readonly Made[] = []): Promise<Answer> =>
  shows(at('oauth2/token'), { by, chain, form: { grant_type: 'client_credentials', client_id: clientId } });
const issuedBy = (by: Made, more: Wanted = {}) => makeCertificate({ subject: SUBJECT, by, ...more });
const hour = (hours: number) => new Date(Date.now() + hours * 3_600_000);
/** The newest refusal's cause, in the audit log, which is written in batches. */
const reason = async (): Promise<string> => {
  const query = { type: 'TOKEN_REFUSED', limit: 1 } as const;
  const { body = [] } = await server.admin.call(listEvents, { params: { realm: REALM }, query });
  return String(Object(body[0]?.data).reason);
};
const expectReason = (why: string) => expect.poll(reason).toContain(why);

describe('A client with tls_client_auth', () => {
  test('gets a token by the certificate of the realm’s authority that has its subject', async () => {
    const { status, body } = await asks('billing', await issuedBy(ca));
    expect(status, JSON.stringify(body)).toBe(200);
    expect(claimsIn(body.access_token)).toMatchObject({ client_id: 'billing' });
    expect(claimsIn(body.access_token).cnf).toBeUndefined();
  });

  test.each([
    ['dns', named('dns', 'JOBS.example.com'), named('dns', 'jobs.example.com.evil.example')],
    ['uri', named('url', 'spiffe://example.org/jobs'), named('url', 'spiffe://example.org/jobs/x')],
    ['ip', named('ip', '2001:db8::1'), named('ip', '2001:db8::2')],
    ['email', named('email', 'jobs@EXAMPLE.com'), named('email', 'JOBS@example.com')],
  ])('gets a token by an alternative name of its certificate (%s), and by no other', async (clientId, right, wrong) => {
    expect((await asks(clientId, await issuedBy(ca, { extensions: [right] }))).status).toBe(200);
    expect((await asks(clientId, await issuedBy(ca, { extensions: [wrong] }))).body.error).toBe('invalid_client');
    expect((await asks(clientId, await issuedBy(ca))).body.error).toBe('invalid_client');
  });

  test('gets a token by authorities of its own, whose certificates count for no other client', async () => {
    expect((await asks('apart', await issuedBy(others))).status).toBe(200);
    expect((await asks('apart', await issuedBy(ca))).body.error).toBe('invalid_client');
    expect((await asks('billing', await issuedBy(others))).body.error).toBe('invalid_client');
  });

  test('gets a token by a chain to its authority, if every step of it may issue', async () => {
    const between = await makeAuthority('CN=Between', { by: root });
    const leaf = await issuedBy(between);
    expect((await asks('deep', leaf, [between])).status).toBe(200);
    expect((await asks('deep', leaf)).body.error).toBe('invalid_client');
    const noAuthority = await makeCertificate({ subject: 'CN=Between', by: root });
    expect((await asks('deep', await issuedBy(noAuthority), [noAuthority])).body.error).toBe('invalid_client');
    await expectReason('basic constraints');
    const ended = await makeAuthority('CN=Between', { by: root, from: hour(-2), until: hour(-1) });
    expect((await asks('deep', await issuedBy(ended), [ended])).body.error).toBe('invalid_client');
    const short = await makeAuthority('CN=Short', { by: root, extensions: authority(0) });
    const below = await makeAuthority('CN=Below', { by: short });
    expect((await asks('deep', await issuedBy(below), [below, short])).body.error).toBe('invalid_client');
    await expectReason('longer than an authority allows');
    const signsOnly = await makeAuthority('CN=Signs', {
      by: root,
      extensions: [authority()[0]!, usage(KeyUsageFlags.digitalSignature)],
    });
    expect((await asks('deep', await issuedBy(signsOnly), [signsOnly])).body.error).toBe('invalid_client');
  });

  test.each<[string, (by: Made) => Promise<Made>, string]>([
    ['has expired', (by) => issuedBy(by, { from: hour(-2), until: hour(-1) }), 'expired'],
    ['is not valid yet', (by) => issuedBy(by, { from: hour(1), until: hour(2) }), 'not valid yet'],
    ['is another’s', (by) => issuedBy(by, { subject: 'CN=other, O=Example, C=DE' }), 'another name'],
    ['has the steps of the subject in another order', (by) => issuedBy(by, { subject: REGISTERED }), 'another name'],
    ['has one step more', (by) => issuedBy(by, { subject: `${SUBJECT}, OU=x` }), 'another name'],
    ['hides two steps in one', (by) => issuedBy(by, { subject: 'CN="billing,O=Example", C=DE' }), 'another name'],
    ['is self-signed with the same subject', () => makeCertificate({ subject: SUBJECT }), 'no authority'],
    ['is of an authority with the same name', async () => issuedBy(await makeAuthority()), 'no authority'],
    ['is for servers', (by) => issuedBy(by, { extensions: [forServers()] }), 'not for TLS clients'],
    [
      'has a key for another use',
      (by) => issuedBy(by, { extensions: [usage(KeyUsageFlags.keyAgreement)] }),
      'another use',
    ],
    ['is an authority’s', (by) => issuedBy(by, { extensions: authority() }), 'of an authority'],
    [
      'has an unknown critical extension',
      (by) => issuedBy(by, { extensions: [unknownExtension()] }),
      'critical extension',
    ],
  ])('is refused if its certificate %s', async (_, make, why) => {
    const refused = await asks('billing', await make(ca));
    expect([refused.status, refused.body]).toEqual([
      401,
      { error: 'invalid_client', error_description: 'The client could not be authenticated' },
    ]);
    await expectReason(why);
  });

  test('is accepted with uses that are for clients', async () => {
    const extensions = [forClients(), usage(KeyUsageFlags.digitalSignature)];
    expect((await asks('billing', await issuedBy(ca, { extensions }))).status).toBe(200);
  });

  test('is refused without a certificate, with a secret, and by the usual listener', async () => {
    expect((await asks('billing')).body.error).toBe('invalid_client');
    await expectReason('no certificate came with the request');
    const form = { grant_type: 'client_credentials', client_id: 'billing' };
    expect((await post(server, REALM, 'token', form)).body.error).toBe('invalid_client');
    const both = { ...form, client_secret: SECRET };
    expect((await shows(at('oauth2/token'), { by: await issuedBy(ca), form: both })).body.error).toBe('invalid_client');
  });

  test('gets the same answer as a client that does not exist', async () => {
    const certificate = await issuedBy(others);
    const [known, unknown] = [await asks('billing', certificate), await asks('nobody', certificate)];
    expect([known.status, known.text]).toEqual([unknown.status, unknown.text]);
  });

  test('is refused while no authority is configured for it', async () => {
    await makeRealm(server, 'bare');
    await makeClient(server, 'bare', {
      clientId: 'billing',
      tokenEndpointAuthMethod: 'tls_client_auth',
      grantTypes: ['client_credentials'],
      tlsClientAuthSubjectDn: REGISTERED,
    });
    const form = { grant_type: 'client_credentials', client_id: 'billing' };
    const address = at('oauth2/token').replace(REALM, 'bare');
    expect((await shows(address, { by: await issuedBy(ca), form })).body.error).toBe('invalid_client');
  });
});

describe('A client with self_signed_tls_client_auth', () => {
  test('gets a token by the certificate that it registered', async () => {
    expect((await asks('self', own)).status).toBe(200);
  });
  test.each<[string, () => Promise<Made>]>([
    ['of another key with the same subject', () => makeCertificate({ subject: 'CN=self' })],
    ['of the same key that it did not register', () => makeCertificate({ subject: 'CN=self', keys: own.keys })],
    ['of the realm’s authority', () => makeCertificate({ subject: 'CN=self', by: ca })],
  ])('is refused with a certificate %s', async (_, make) => {
    expect((await asks('self', await make())).body.error).toBe('invalid_client');
  });
});

test('A certificate authenticates no client of another method', async () => {
  expect((await asks('secret', await issuedBy(ca))).body.error).toBe('invalid_client');
  const form = { grant_type: 'client_credentials' };
  const headers = { authorization: basic('secret') };
  expect((await shows(at('oauth2/token'), { by: await issuedBy(others), form, headers })).status).toBe(200);
});

test('A header with a certificate counts for nothing on a TLS connection', async () => {
  const right = await issuedBy(ca);
  const headers = {
    'client-cert': `:${right.der.toString('base64')}:`,
    'ssl-client-cert': encodeURIComponent(right.pem),
  };
  const form = { grant_type: 'client_credentials', client_id: 'billing' };
  expect((await shows(at('oauth2/token'), { form, headers })).body.error).toBe('invalid_client');
  expect((await shows(at('oauth2/token'), { by: own, form, headers })).body.error).toBe('invalid_client');
});

test('An address in a header counts for nothing on a TLS connection, even one that comes by a trusted proxy', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.9' };
  const form = { grant_type: 'client_credentials', client_id: 'billing' };
  const addressesOf = async (clientId: string) => {
    const query = { type: 'TOKEN_REFUSED', limit: 10 } as const;
    const { body = [] } = await server.admin.call(listEvents, { params: { realm: REALM }, query });
    return body.filter((event) => event.clientId === clientId).map(({ ipAddress }) => ipAddress);
  };
  await shows(at('oauth2/token'), { by: own, form, headers });
  await post(server, REALM, 'token', { ...form, client_id: 'uri' }, headers);
  await expect.poll(() => addressesOf('uri')).toContain('203.0.113.9');
  const addresses = await addressesOf('billing');
  expect(addresses).toContain('127.0.0.1');
  expect(addresses).not.toContain('203.0.113.9');
});

test('Discovery names the methods and the addresses at which certificates are asked for', async () => {
  const { body } = await shows(at('.well-known/openid-configuration'), {});
  expect(body).toMatchObject({
    issuer: `${server.baseUrl}/realms/${REALM}`,
    token_endpoint: `${server.baseUrl}/realms/${REALM}/oauth2/token`,
    tls_client_certificate_bound_access_tokens: true,
    token_endpoint_auth_methods_supported: expect.arrayContaining(['tls_client_auth', 'self_signed_tls_client_auth']),
    mtls_endpoint_aliases: {
      token_endpoint: at('oauth2/token').replace('127.0.0.1', 'localhost'),
      userinfo_endpoint: at('oauth2/userinfo').replace('127.0.0.1', 'localhost'),
    },
  });
});

test('Authorities and names that could match nothing are refused where they are declared', async () => {
  const set = (pem: string) =>
    server.admin.call(putSettings, { params: { realm: REALM }, body: { tlsClientAuthAuthorities: pem } });
  await expect(set(own.pem)).rejects.toThrow(/invalid|authority/i);
  await expect(set('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')).rejects.toThrow();
  const make = (more: object) =>
    makeClient(server, REALM, {
      clientId: 'x',
      tokenEndpointAuthMethod: 'tls_client_auth',
      grantTypes: ['client_credentials'],
      ...more,
    });
  await expect(make({})).rejects.toThrow();
  await expect(make({ tlsClientAuthSanDns: 'a.example', tlsClientAuthSanUri: 'https://a.example/' })).rejects.toThrow();
  await expect(make({ tlsClientAuthSanDns: '*.example.com' })).rejects.toThrow();
  await expect(make({ tlsClientAuthSanIp: '1.2.3' })).rejects.toThrow();
  await expect(make({ tlsClientAuthSubjectDn: 'billing' })).rejects.toThrow();
  const { body } = await server.admin.call(getSettings, { params: { realm: REALM } });
  expect(body?.tlsClientAuthAuthorities).toBe(ca.pem);
});
