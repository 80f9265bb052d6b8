// The page docs/backchannel.md, as it stands there: its client is imported, and its command asks alice.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importRealm, type RealmDocument } from '../../server/contract/transfer.ts';
import { createUser } from '../../server/contract/users.ts';
import { makeRealm, SECRET } from '../support/clients.ts';
import { deviceFor } from '../support/devices.ts';
import { docPage, runBlock } from '../support/doc-page.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const params = { realm: 'acme' };
const { block } = await docPage('backchannel.md');

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, 'acme');
});
afterAll(async () => server?.stop());

test('alice is asked on her device by the command of the page', async () => {
  const described: RealmDocument = JSON.parse(block('json'));
  const clients = (described.clients ?? []).map((client) => ({ ...client, secret: SECRET }));
  await server.admin.call(importRealm, { params, body: { ...described, clients } });
  const { body: alice } = await server.admin.call(createUser, { params, body: { username: 'alice' } });
  const device = await deviceFor(server, 'acme', alice?.id ?? '');
  const answer = await runBlock(block('sh'), { ISSUER: `${server.baseUrl}/realms/acme`, SECRET });
  expect(JSON.parse(answer)).toMatchObject({ auth_req_id: expect.stringMatching(/^svc_ba_/), interval: 5 });
  expect((await device.ask('GET', '/backchannel')).body).toMatchObject([
    { application: 'till', username: 'alice', bindingMessage: 'W4SC' },
  ]);
});
