// A push reaches the person's devices through the realm's gateways, with what the app has to ask for, and no number.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { putMessagingProvider } from '../../../server/contract/messaging.ts';
import { authorizePath, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { deviceFor, numberOn } from '../../support/devices.ts';
import { type Apns, startApns } from '../../support/gateways.ts';
import { eventually } from '../../support/operator.ts';
import { createPerson } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const realm = 'pushes';
let server: TestServer;
let receiver: Receiver;
let apns: Apns;
let folder = '';
beforeAll(async () => {
  [receiver, apns] = await Promise.all([startReceiver(), startApns()]);
  folder = await mkdtemp(path.join(os.tmpdir(), 'pushes-'));
  const file = path.join(folder, 'ca.crt');
  await writeFile(file, [apns.ca, await readFile(receiver.caFile, 'utf8')].join('\n'));
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: file } });
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([receiver?.stop(), apns?.stop()]);
  await rm(folder, { recursive: true });
});

test('fcm and apns both carry the id of the push, which the device reads and approves', async () => {
  const [alice = ''] = await makePeopledRealm(server, realm);
  const pem = (key: ReturnType<typeof generateKeyPairSync>['privateKey']) =>
    String(key.export({ type: 'pkcs8', format: 'pem' }));
  const account = {
    client_email: 'push@my-project.iam.gserviceaccount.com',
    private_key: pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey),
    token_uri: `${receiver.url}/token`,
  };
  const providers = [
    { driver: 'fcm', config: { projectId: 'my-project', apiUrl: receiver.url }, secret: JSON.stringify(account) },
    {
      driver: 'apns',
      config: { teamId: 'TEAM123456', keyId: 'KEY1234567', bundleId: 'com.acme.app', apiUrl: apns.url },
      secret: pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
    },
  ] as const;
  for (const provider of providers)
    await server.admin.call(putMessagingProvider, { params: { realm }, body: { channel: 'PUSH', ...provider } });
  receiver.answer = ({ url }) =>
    url === '/token' ? { body: '{"access_token":"ya29.abc","expires_in":3599}' } : { body: '{"name":"projects/x/1"}' };
  const executions: ExecutionInput[] = [
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
    { authenticatorId: 'push', requirement: 'REQUIRED' },
  ];
  await server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
  const android = await deviceFor(server, realm, alice, { push: { platform: 'fcm', token: 'android' } });
  await deviceFor(server, realm, alice, { push: { platform: 'apns', token: 'abcd1234' }, algorithm: 'EdDSA' });

  const person = createPerson(server.baseUrl);
  const shown = await person.open(authorizePath(realm, 'spa', newVerifier()));
  const page = await person.fill(shown, { username: 'alice', password: PASSWORD });
  await eventually(async () => {
    expect(receiver.received.some(({ url }) => url?.endsWith('messages:send'))).toBe(true);
    expect(apns.pushes).toHaveLength(1);
  });
  const raw = String(receiver.received.find(({ url }) => url?.endsWith('messages:send'))?.raw);
  const { message } = JSON.parse(raw);
  expect(message).toMatchObject({ token: 'android', data: { realm, push: expect.any(String) } });
  expect(apns.pushes[0]?.body).toMatchObject({ push: message.data.push, realm, aps: { alert: expect.anything() } });
  expect((await android.approve(message.data.push, numberOn(page))).status).toBe(204);
});
