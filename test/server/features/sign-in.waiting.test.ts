// Owns: how often pages that wait may ask whether there is another one.
// Does not own: what they wait for (push.test.ts, qr.test.ts), the pages in a browser (test/browser/waiting.test.ts).
// Implements: docs/configuration.md (limits of addresses).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeRealm } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let clock = Date.now();
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_TRUST_PROXY: '127.0.0.1' }, now: () => new Date(clock), jobs: false });
  for (const realm of ['acme', 'other']) await makeRealm(server, realm);
});
afterAll(() => server?.stop());

const asked = (from: string, realm = 'acme') =>
  fetch(`${server.baseUrl}/realms/${realm}/login/waiting`, { headers: { 'x-forwarded-for': from } });

test('one address may ask so often in a minute; others, other realms and the sign-in itself go on', async () => {
  const count = new Map<number, number>();
  for (let round = 0; round < 25; round += 1) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => asked('192.0.2.1')));
    for (const { status } of answers) count.set(status, (count.get(status) ?? 0) + 1);
  }
  expect(Object.fromEntries(count)).toEqual({ 200: 1200, 429: 50 });
  const refused = await asked('192.0.2.1');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect([(await asked('198.51.100.1')).status, (await asked('192.0.2.1', 'other')).status]).toEqual([200, 200]);
  const person = createPerson(server.baseUrl, { 'x-forwarded-for': '192.0.2.1' });
  expect((await person.open('/realms/acme/login')).heading).toBe('Sign in');
  clock += 60_001;
  expect((await asked('192.0.2.1')).status).toBe(200);
});
