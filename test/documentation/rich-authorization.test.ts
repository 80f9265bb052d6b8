// The page docs/rich-authorization.md, as it stands there: its types are imported, and its commands run.
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importRealm, type RealmDocument } from '../../server/contract/transfer.ts';
import { makeRealm, SECRET } from '../support/clients.ts';
import { docPage, runBlock } from '../support/doc-page.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const REALM = 'acme';
const { block } = await docPage('rich-authorization.md');

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, REALM);
  const described: RealmDocument = JSON.parse(block('json', '"authorizationDetailTypes"'));
  const clients = (described.clients ?? []).map((client) => ({ ...client, secret: SECRET }));
  await server.admin.call(importRealm, { params: { realm: REALM }, body: { ...described, clients } });
});
afterAll(async () => server?.stop());

const run = async (command: string) =>
  JSON.parse(await runBlock(command, { ISSUER: `${server.baseUrl}/realms/${REALM}`, SECRET }));

test('a client gets a detail for itself by the command of the page', async () => {
  const { access_token: token, authorization_details: details } = await run(block('sh', 'client_credentials'));
  expect(details).toEqual([{ type: 'file_access', actions: ['read'] }]);
  expect(decodeJwt(token)).toMatchObject({ authorization_details: details });
});

test('a payment is pushed by the command of the page, and one for a lie in its amount is not', async () => {
  const command = block('sh', 'oauth2/par');
  expect(await run(command)).toMatchObject({ request_uri: expect.stringContaining('urn:') });
  expect(await run(command.replace('12.50', 'free'))).toMatchObject({ error: 'invalid_authorization_details' });
});
