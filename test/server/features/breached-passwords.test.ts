import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ServerProblem } from '../../../server/contract/client.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser, setPassword } from '../../../server/contract/users.ts';
import { authorizePath, CALLBACK, newVerifier } from '../../support/applications.ts';
import { makeClient, makeRealm } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const BREACHED = 'three wet umbrellas';
const FRESH = 'four dry parasols';
const PADDED = 'five grey raincoats';
const sha1 = (plain: string) => createHash('sha1').update(plain).digest('hex').toUpperCase();
let server: TestServer;
let service: Receiver;

beforeAll(async () => {
  service = await startReceiver();
  server = await startTestServer({
    env: { SVC_OUTBOUND_CA_FILE: service.caFile, SVC_BREACHED_PASSWORDS_URL: `${service.url}/range/` },
  });
  for (const realm of ['careful', 'careless']) await makeRealm(server, realm);
  await server.admin.call(putSettings, { params: { realm: 'careful' }, body: { breachedPasswordCheck: true } });
  await makeClient(server, 'careful', { clientId: 'spa', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] });
});
afterAll(async () => {
  await server?.stop();
  await service?.stop();
});
beforeEach(() => {
  service.received.length = 0;
  const line = (plain: string, count: number) => `${sha1(plain).slice(5)}:${count}`;
  service.answer = () => ({ body: [`${'0'.repeat(35)}:3`, line(BREACHED, 12), line(PADDED, 0)].join('\r\n') });
});

let count = 0;
async function made(password: string, realm = 'careful', more = {}): Promise<string> {
  count += 1;
  const body = { username: `person-${count}`, password, ...more };
  try {
    return (await server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
  } catch (error) {
    if (error instanceof ServerProblem) return `${error.status} ${error.message}`;
    throw error;
  }
}

test('a password that is known from a breach is refused, of the service’s padding none is', async () => {
  expect(await made(BREACHED)).toBe('400 password: must not be a password that is known from a data breach');
  expect(await made(PADDED)).toMatch(/^[0-9a-f-]{36}$/);
  expect(await made(FRESH)).toMatch(/^[0-9a-f-]{36}$/);
});

test('the service is told five characters of a digest and nothing else', async () => {
  await made(FRESH);
  expect(service.received.map(({ method, url, raw }) => [method, url, raw.length])).toEqual([
    ['GET', `/range/${sha1(FRESH).slice(0, 5)}`, 0],
  ]);
  expect(service.received[0]?.headers['add-padding']).toBe('true');
});

test('a realm that does not ask for it has nobody asked', async () => {
  expect(await made(BREACHED, 'careless')).toMatch(/^[0-9a-f-]{36}$/);
  expect(service.received).toEqual([]);
});

test.each([
  ['fails', () => ({ status: 503 })],
  ['says nothing', () => ({ afterMs: 4_000 })],
  ['says too much', () => ({ body: Buffer.alloc(1_000_000, 'A') })],
])('a service that %s keeps nobody from choosing a password', async (_, answer) => {
  service.answer = answer;
  expect(await made(BREACHED)).toMatch(/^[0-9a-f-]{36}$/);
});

test('somebody who must choose a new password is told as well', async () => {
  const userId = await made(FRESH);
  const params = { realm: 'careful', userId };
  await server.admin.call(setPassword, { params, body: { password: FRESH, temporary: true } });
  const person = createPerson(server.baseUrl);
  const first = await person.open(authorizePath('careful', 'spa', newVerifier()));
  const asked = await person.fill(first, { username: `person-${count}`, password: FRESH });
  expect(asked.heading).toBe('Choose a new password');
  const refused = await person.fill(asked, { password: BREACHED, repeated: BREACHED });
  expect(refused.text).toContain('The new password must not be a password that is known from a data breach.');
});
