// The walk of docs/shared-signals.md, as it stands there: a receiver is declared, creates a stream, and fetches a token.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importRealm, type RealmDocument } from '../../server/contract/transfer.ts';
import { makeRealm, SECRET } from '../support/clients.ts';
import { docPage, runBlock } from '../support/doc-page.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const REALM = 'acme';
const { block } = await docPage('shared-signals.md');

let server: TestServer;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'shared-signals-'));
  server = await startTestServer();
  await makeRealm(server, REALM);
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a receiver gets its first token by the very commands of the page', async () => {
  const described: RealmDocument = JSON.parse(block('json', '"signalReceivers"'));
  const clients = (described.clients ?? []).map((client) => ({ ...client, secret: SECRET }));
  await server.admin.call(importRealm, { params: { realm: REALM }, body: { ...described, clients } });
  const env = { ISSUER: `${server.baseUrl}/realms/${REALM}`, SECRET };
  const { sets } = JSON.parse(await runBlock(block('sh', 'ssf/streams'), env, folder));
  const [jwt = ''] = Object.values<string>(sets);
  const claims = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
  expect(claims).toMatchObject({
    aud: 'device-manager',
    events: { 'https://schemas.openid.net/secevent/ssf/event-type/verification': { state: 'hello' } },
  });
});

test('the transmitter of the page is taken by a realm that has its identity provider', async () => {
  const described: RealmDocument = JSON.parse(
    block('json', '"signalTransmitters"').replace('Bearer …', 'Bearer of sixteen characters'),
  );
  const identityProviders = [
    { alias: 'corporate', type: 'oidc' as const, clientId: 'us', config: { issuer: 'https://id.example.com' } },
  ];
  await server.admin.call(importRealm, { params: { realm: REALM }, body: { identityProviders, ...described } });
});
