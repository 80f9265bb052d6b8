// The walk of docs/mutual-tls.md, as it stands there: certificates by openssl, a client that shows one by curl, and its token.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { putSettings } from '../../server/contract/settings.ts';
import { importRealm, type RealmDocument } from '../../server/contract/transfer.ts';
import { makeRealm } from '../support/clients.ts';
import { docPage, runBlock } from '../support/doc-page.ts';
import { freePort } from '../support/free-port.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const REALM = 'acme';
const { block } = await docPage('mutual-tls.md');

let server: TestServer;
let folder: string;
let port: number;
const run = (command: string) => runBlock(command, { MTLS: `https://localhost:${port}` }, folder);
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'mutual-tls-'));
  port = await freePort();
  await run(block('sh', 'openssl req'));
  const [SVC_MTLS_CERT_FILE, SVC_MTLS_KEY_FILE] = ['tls.crt', 'tls.key'].map((name) => path.join(folder, name));
  server = await startTestServer({
    env: {
      SVC_MTLS_PORT: String(port),
      SVC_MTLS_CERT_FILE: String(SVC_MTLS_CERT_FILE),
      SVC_MTLS_KEY_FILE: String(SVC_MTLS_KEY_FILE),
    },
  });
  await makeRealm(server, REALM);
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a client gets a bound token by its certificate, which is refused without it, by the very commands of the page', async () => {
  const { clients }: RealmDocument = parse(block('yaml', 'tlsClientAuthSubjectDn'));
  const tlsClientAuthAuthorities = await readFile(path.join(folder, 'ca.crt'), 'utf8');
  await server.admin.call(putSettings, { params: { realm: REALM }, body: { tlsClientAuthAuthorities } });
  await server.admin.call(importRealm, { params: { realm: REALM }, body: clients ? { clients } : {} });
  const [status = '', ...introspected] = (await run(block('sh', 'TOKEN='))).split('\n');
  expect(status).toBe('401');
  expect(JSON.parse(introspected.join(''))).toMatchObject({
    active: true,
    client_id: 'billing',
    cnf: { 'x5t#S256': expect.stringMatching(/^[\w-]{43}$/) },
  });
});
