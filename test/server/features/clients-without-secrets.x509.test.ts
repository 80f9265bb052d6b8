// spiffe_x509: the X.509-SVID of a workload on the connection, by the authorities in the bundle of its trust domain (X509-SVID §2, §5;
// draft-ietf-oauth-spiffe-client-auth), and certificates that prove nothing.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { exportJWK } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { listEvents } from '../../../server/contract/events.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createWorkloadIdentity, type WorkloadIdentityInput } from '../../../server/contract/workload-identity.ts';
import { type Made, makeAuthority, makeCertificate, named, shows, type Wanted } from '../../support/certificates.ts';
import { type Answer, makeClient, makeRealm } from '../../support/clients.ts';
import { freePort } from '../../support/free-port.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'mesh';
const params = { realm: REALM };
const ID = 'spiffe://example.org/shop';
let server: TestServer;
let bundles: Receiver;
let folder: string;
let at: (path: string) => string;
let domain: Made;
let foreign: Made;
let offset = 0;
beforeEach(() => {
  offset += 61_000;
});

/** As SPIRE's bundle endpoint answers. */
const bundleOf = async (...authorities: Made[]) =>
  JSON.stringify({
    keys: await Promise.all(
      authorities.map(async ({ der, keys }) => ({
        use: 'x509-svid',
        ...(await exportJWK(keys.publicKey)),
        x5c: [der.toString('base64')],
      })),
    ),
    spiffe_sequence: 1,
    spiffe_refresh_hint: 300,
  });

beforeAll(async () => {
  [domain, foreign, bundles] = await Promise.all([
    makeAuthority('CN=example.org,O=SPIFFE'),
    makeAuthority('CN=example.com,O=SPIFFE'),
    startReceiver(),
  ]);
  const answers: Record<string, string> = { '/org': await bundleOf(domain), '/com': await bundleOf(foreign) };
  bundles.answer = ({ url }) => ({ body: answers[url] ?? '{}' });
  folder = await mkdtemp(path.join(os.tmpdir(), 'svid-'));
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
      SVC_OUTBOUND_CA_FILE: bundles.caFile,
    },
  });
  at = (endpoint) => `https://127.0.0.1:${port}/realms/${REALM}/${endpoint}`;
  await makeRealm(server, REALM);
  for (const clientId of ['shop', 'billing'])
    await makeClient(server, REALM, {
      clientId,
      tokenEndpointAuthMethod: 'spiffe_x509',
      grantTypes: ['client_credentials'],
      tlsClientCertificateBoundAccessTokens: true,
    });
  // Authorities of clients with tls_client_auth say nothing about SPIFFE IDs.
  await server.admin.call(putSettings, { params, body: { tlsClientAuthAuthorities: foreign.pem } });
  const identity = { audience: 'unused', use: 'authentication' as const };
  const org = { ...identity, issuer: 'spiffe://example.org', jwksUri: `${bundles.url}/org` };
  const com = { ...identity, issuer: 'spiffe://example.com', jwksUri: `${bundles.url}/com` };
  const trust = (body: z.input<typeof WorkloadIdentityInput>) =>
    server.admin.call(createWorkloadIdentity, { params, body });
  await trust({ ...org, name: 'shop', subject: ID, clientId: 'shop' });
  await trust({ ...com, name: 'billing', subject: 'spiffe://example.com/billing', clientId: 'billing' });
});
afterAll(async () => {
  await server?.stop();
  await bundles?.stop();
  if (folder) await rm(folder, { recursive: true });
});

const ask = (clientId: string, by?: Made): Promise<Answer> =>
  shows(at('oauth2/token'), { by, form: { grant_type: 'client_credentials', client_id: clientId } });
const svid = (ids: readonly string[] = [ID], by = domain, more: Wanted = {}) =>
  makeCertificate({ subject: 'O=SPIRE', by, extensions: ids.length > 0 ? [named('url', ...ids)] : [], ...more });
const newest = async (type: string) =>
  (await server.admin.call(listEvents, { params, query: { type, limit: 1 } })).body?.[0];

test('The SVID of the declared workload proves its client, and binds its tokens', async () => {
  const certificate = await svid();
  const answer = await ask('shop', certificate);
  expect(answer.status, answer.text).toBe(200);
  await expect.poll(() => newest('TOKEN_ISSUED')).toMatchObject({ data: { workloadIdentity: 'shop' } });
  const { token_endpoint_auth_methods_supported: methods } = Object(
    await (await fetch(`${server.baseUrl}/realms/${REALM}/.well-known/openid-configuration`)).json(),
  );
  expect(methods).toContain('spiffe_x509');
});

describe('No client is proven', () => {
  test.each<[string, () => Promise<Made | undefined>, string]>([
    ['without a certificate', async () => undefined, 'no certificate'],
    ['by an SVID that another trust domain signed', () => svid([ID], foreign), 'no authority of the client'],
    ['by an SVID of another workload', () => svid(['spiffe://example.org/shop/admin']), 'has this SPIFFE ID'],
    ['by an SVID of another trust domain', () => svid(['spiffe://example.com/shop'], foreign), 'has this SPIFFE ID'],
    ['by a certificate with two URIs', () => svid([ID, 'spiffe://example.org/other']), 'not exactly one URI'],
    ['by a certificate without a URI', () => svid([]), 'not exactly one URI'],
    ['by an SVID that has expired', () => svid([ID], domain, { until: new Date(Date.now() - 1000) }), 'has expired'],
    [
      'by an SVID that signed itself',
      () => makeCertificate({ extensions: [named('url', ID)] }),
      'no authority of the client',
    ],
  ])('%s', async (_, make, why) => {
    expect((await ask('shop', await make())).status).toBe(401);
    await expect.poll(async () => String((await newest('TOKEN_REFUSED'))?.data?.reason)).toContain(why);
  });

  test('by the SVID of the workload of another client', async () => {
    expect((await ask('billing', await svid())).status).toBe(401);
    expect((await ask('billing', await svid(['spiffe://example.com/billing'], foreign))).status).toBe(200);
  });
});

test('A trust domain is declared with its bundle, and for its own SPIFFE IDs alone', async () => {
  const body = {
    name: 'wrong',
    issuer: 'spiffe://example.org',
    jwksUri: `${bundles.url}/org`,
    subject: ID,
    audience: 'other',
    clientId: 'shop',
  };
  const wrong: [object, string][] = [
    [{ subject: 'spiffe://example.com/shop' }, 'subject'],
    [{ issuer: 'spiffe://example.org/shop' }, 'issuer'],
    [{ jwksUri: null }, 'jwksUri'],
  ];
  for (const [more, field] of wrong)
    await expect(
      server.admin.call(createWorkloadIdentity, { params, body: { ...body, ...more } }),
    ).rejects.toMatchObject({
      status: 400,
      problem: { errors: expect.arrayContaining([expect.objectContaining({ path: field })]) },
    });
});
