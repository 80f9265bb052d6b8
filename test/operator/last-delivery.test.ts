// A Webhook's status says how its last delivery went, and stays as it is while nothing is delivered.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listDeliveries, listWebhooks, testWebhook } from '../../server/contract/webhooks.ts';
import {
  createFolder,
  eventually,
  type Folder,
  OPERATOR_SECRET,
  resource,
  startTestOperator,
  type TestOperator,
} from '../support/operator.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let folder: Folder;
let operator: TestOperator;
const realm = 'acme';
const hook = (enabled: boolean) =>
  resource('Webhook', 'audit', { realm, url: 'https://127.0.0.1:1/hook', eventTypes: ['LOGIN_SUCCESS'], enabled });

beforeAll(async () => {
  server = await startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET } });
  folder = await createFolder();
  await folder.write('realm.yaml', resource('Realm', 'acme', { realm }));
  await folder.write('hook.yaml', hook(false));
  operator = await startTestOperator({ serverUrl: server.baseUrl, dir: folder.dir });
});
afterAll(async () => {
  await operator?.stop();
  await server?.stop();
  await folder?.drop();
});

test('the last delivery is told at the next look', async () => {
  await operator.ready('Webhook', 'audit');
  expect(operator.status('Webhook', 'audit')).not.toHaveProperty('lastDelivery');
  const { body: hooks = [] } = await server.admin.call(listWebhooks, { params: { realm } });
  const params = { realm, id: hooks[0]?.id ?? '' };
  await server.admin.call(testWebhook, { params });
  await eventually(async () => {
    const { body = [] } = await server.admin.call(listDeliveries, { params });
    expect(body[0]?.attempts).toBeGreaterThan(0);
  });
  await folder.write('hook.yaml', hook(true));
  await eventually(() =>
    expect(operator.status('Webhook', 'audit')?.lastDelivery).toMatch(
      /^\d{4}-.*Z WEBHOOK_TEST: (retrying|dead|pending)/,
    ),
  );
});
