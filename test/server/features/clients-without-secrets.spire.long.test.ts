// A real SPIRE: its JWT-SVIDs and X.509-SVIDs prove clients by the bundle that it publishes, and those of another trust domain don't.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorkloadIdentity } from '../../../server/contract/workload-identity.ts';
import { makeCertificate, shows } from '../../support/certificates.ts';
import { claimsIn, makeClient, makeRealm, post } from '../../support/clients.ts';
import { freePort } from '../../support/free-port.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Spire, spireAssets, startSpire } from '../../support/spire.ts';

const assets = await spireAssets();
const REALM = 'mesh';
const ID = 'spiffe://example.org/billing';
const SVID = 'urn:ietf:params:oauth:client-assertion-type:jwt-spiffe';

describe.skipIf(!assets.found)('a workload of SPIRE', () => {
  let [spire, foreign]: (Spire | undefined)[] = [];
  let server: TestServer;
  let folder: string;
  let issuer: string;
  let mtls: string;
  beforeAll(async () => {
    [spire, foreign] = await Promise.all([startSpire('example.org'), startSpire('example.com')]);
    folder = await mkdtemp(path.join(os.tmpdir(), 'spire-client-'));
    const listener = await makeCertificate({ subject: 'CN=127.0.0.1' });
    const [certificateFile, keyFile, caFile] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => path.join(folder, name));
    await writeFile(String(certificateFile), listener.pem);
    await writeFile(String(keyFile), listener.key);
    const authorities = await Promise.all([spire, foreign].map((one) => readFile(one?.caFile ?? '', 'utf8')));
    await writeFile(String(caFile), authorities.join('\n'));
    const port = await freePort();
    server = await startTestServer({
      env: {
        SVC_MTLS_PORT: String(port),
        SVC_MTLS_CERT_FILE: String(certificateFile),
        SVC_MTLS_KEY_FILE: String(keyFile),
        SVC_OUTBOUND_CA_FILE: String(caFile),
      },
    });
    issuer = `${server.baseUrl}/realms/${REALM}`;
    mtls = `https://127.0.0.1:${port}/realms/${REALM}/oauth2/token`;
    await makeRealm(server, REALM);
    for (const tokenEndpointAuthMethod of ['spiffe_jwt', 'spiffe_x509'] as const) {
      await makeClient(server, REALM, {
        clientId: tokenEndpointAuthMethod,
        tokenEndpointAuthMethod,
        grantTypes: ['client_credentials'],
      });
      const body = {
        name: tokenEndpointAuthMethod,
        issuer: 'spiffe://example.org',
        jwksUri: spire.bundleUrl,
        subject: ID,
        audience: tokenEndpointAuthMethod === 'spiffe_jwt' ? issuer : 'none',
        clientId: tokenEndpointAuthMethod,
        use: 'authentication' as const,
      };
      await server.admin.call(createWorkloadIdentity, { params: { realm: REALM }, body });
    }
  });
  afterAll(async () => {
    await server?.stop();
    await spire?.stop();
    await foreign?.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  const byJwt = (client_assertion = '') =>
    post(server, REALM, 'token', { grant_type: 'client_credentials', client_assertion_type: SVID, client_assertion });
  const byCertificate = (by: { pem: string; key: string } | undefined) =>
    shows(mtls, { by, form: { grant_type: 'client_credentials', client_id: 'spiffe_x509' } });

  test('gets tokens by its JWT-SVID, again and again', async () => {
    const svid = (await spire?.jwtSvid(ID, issuer)) ?? '';
    expect(decodeJwt(svid)).toMatchObject({ sub: ID, aud: [issuer] });
    for (const _ of [1, 2]) {
      const answer = await byJwt(svid);
      expect(answer.status, answer.text).toBe(200);
      expect(claimsIn(answer.body.access_token)).toMatchObject({ client_id: 'spiffe_jwt' });
    }
  });

  test('gets tokens by its X.509-SVID', async () => {
    const answer = await byCertificate(await spire?.x509Svid(ID));
    expect(answer.status, answer.text).toBe(200);
  });

  test('is refused with the SVID of another workload, for another audience, or of another trust domain', async () => {
    const answers = await Promise.all([
      byJwt(await spire?.jwtSvid(`${ID}/other`, issuer)),
      byJwt(await spire?.jwtSvid(ID, 'https://else.example')),
      byJwt(await foreign?.jwtSvid('spiffe://example.com/billing', issuer)),
      byCertificate(await spire?.x509Svid(`${ID}/other`)),
      byCertificate(await foreign?.x509Svid('spiffe://example.com/billing')),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  });
});
