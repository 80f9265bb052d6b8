// The samples of docs/passkeys.md, and the walk of docs/openid-connect.md through Global Token Revocation, as they stand there.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { getFlow, putFlow } from '../../server/contract/flows.ts';
import { getSettings, putSettings } from '../../server/contract/settings.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { createUser } from '../../server/contract/users.ts';
import { makeRealm, SECRET } from '../support/clients.ts';
import { docPage, runBlock } from '../support/doc-page.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const REALM = 'acme';
const params = { realm: REALM };
const passkeys = await docPage('passkeys.md');
const { block } = await docPage('openid-connect.md');

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_VAR_SOC_SECRET: SECRET } });
  await makeRealm(server, REALM);
});
afterAll(() => server?.stop());

test('the settings of the page hold a realm to security keys of one model', async () => {
  const { settings } = parse(passkeys.block('yaml', 'passkeyBinding'));
  await server.admin.call(putSettings, { params, body: settings });
  expect((await server.admin.call(getSettings, { params })).body).toMatchObject(settings);
});

test('the flow of the page offers a passkey after a password', async () => {
  const body = putFlow.body.parse(parse(passkeys.block('yaml', 'createAfterPassword')));
  await server.admin.call(putFlow, { params: { ...params, alias: 'browser' }, body });
  const { body: flow } = await server.admin.call(getFlow, { params: { ...params, alias: 'browser' } });
  expect(JSON.stringify(flow)).toContain('"createAfterPassword":true');
});

test('a security tool ends the access of a user by the very commands of the page', async () => {
  await server.admin.call(importRealm, { params, body: parse(block('yaml', 'incident-response')) });
  const body = { username: 'ana', email: 'ana@example.com', emailVerified: true };
  await server.admin.call(createUser, { params, body });
  const run = () => runBlock(block('sh', 'global-token-revocation'), { URL: server.baseUrl, SOC_SECRET: SECRET });
  expect(await run()).toBe('204\n');
});
