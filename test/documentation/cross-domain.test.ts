// The walk of docs/cross-domain.md, as it stands there: from an ID token of one realm to an access token of another.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClientScope } from '../../server/contract/client-scopes.ts';
import { TOKEN_EXCHANGE } from '../../server/contract/oauth.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { createUser } from '../../server/contract/users.ts';
import { claimsIn, makeClient, makeRealm, SECRET } from '../support/clients.ts';
import { CHAT, issuerOf, signIn, THERE } from '../support/cross-domain.ts';
import { docPage, runBlock } from '../support/doc-page.ts';
import { makeProvider, makeRelyingParty, REALM } from '../support/relying-party.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const { block } = await docPage('cross-domain.md');
let server: TestServer;
let folder: string;
const there = { realm: CHAT };
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'cross-domain-'));
  server = await startTestServer();
  await makeProvider(server);
  await makeRelyingParty(server, 'wiki', { grantTypes: ['authorization_code', TOKEN_EXCHANGE] });
  await makeRealm(server, CHAT);
  await server.admin.call(putSettings, { params: there, body: { resourceIndicators: ['https://api.chat.example'] } });
  await server.admin.call(createClientScope, { params: there, body: { name: 'chat.read' } });
  const client = {
    clientId: THERE,
    secret: SECRET,
    grantTypes: [],
    defaultClientScopes: [],
    optionalClientScopes: ['chat.read'],
  };
  await makeClient(server, CHAT, client);
  const body = { username: 'alice', email: 'alice@example.com', emailVerified: true };
  await server.admin.call(createUser, { params: there, body });
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('an ID token becomes an access token of the other domain by the documents and the commands of the page', async () => {
  const [ACME, OTHER] = [issuerOf(server, REALM), issuerOf(server, CHAT)];
  const here = (text: string) =>
    JSON.parse(
      text.replace('https://id.example.com/realms/acme', ACME).replace('https://auth.chat.example/realms/chat', OTHER),
    );
  await server.admin.call(importRealm, { params: { realm: REALM }, body: here(block('json', 'crossDomainPolicies')) });
  await server.admin.call(importRealm, { params: there, body: here(block('json', 'crossDomainTrusts')) });
  const { body } = await signIn(server);
  const env = { ACME, CHAT: OTHER, SECRET, SECRET_THERE: SECRET, ID_TOKEN: String(body.id_token) };
  const answer = JSON.parse(await runBlock(block('sh', 'id-jag'), env, folder));
  expect(answer).toMatchObject({ token_type: 'Bearer', scope: 'chat.read' });
  expect(claimsIn(answer.access_token)).toMatchObject({
    iss: OTHER,
    aud: 'https://api.chat.example',
    client_id: THERE,
  });
});

test('a gateway gets a transaction token by the documents and the commands of the page', async () => {
  const params = { realm: REALM };
  const API = 'https://api.shop.example';
  await server.admin.call(putSettings, { params, body: { resourceIndicators: [API] } });
  await server.admin.call(createClientScope, { params, body: { name: 'orders' } });
  const service = { secret: SECRET, grantTypes: [TOKEN_EXCHANGE] as [typeof TOKEN_EXCHANGE], allowedResources: [API] };
  for (const clientId of ['gateway', 'orders']) await makeClient(server, REALM, { ...service, clientId });
  await makeRelyingParty(server, 'shop', { optionalClientScopes: ['orders'] });
  await server.admin.call(importRealm, { params, body: JSON.parse(block('json', 'transactionTokenPolicies')) });
  const { body } = await signIn(server, { scope: 'openid orders', resource: API }, 'shop');
  const env = { ACME: issuerOf(server, REALM), SECRET, ACCESS_TOKEN: String(body.access_token) };
  const answer = JSON.parse(await runBlock(block('sh', 'txn_token'), env, folder));
  expect(claimsIn(answer.access_token)).toMatchObject({
    aud: 'shop.internal',
    scope: 'orders.place',
    req_wl: 'gateway',
    tctx: { article: 'A-7', quantity: 1 },
    rctx: { req_ip: '192.0.2.1' },
  });
});
