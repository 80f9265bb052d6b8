// Limits of a client behind a trusted proxy that names its address in more than one spelling.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startTestServer, type TestServer } from '../../support/server.ts';

const Refusal = z.object({ error: z.string() });

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_TRUST_PROXY: '127.0.0.1', SVC_WORKLOAD_RATE_LIMIT: '3' } });
});
afterAll(() => server?.stop());

/** Whether a refused exchange of a token is refused because of its address. */
async function isLimited(forwardedFor: string): Promise<boolean> {
  const answer = await fetch(`${server.baseUrl}/realms/master/workload-identity/token`, {
    method: 'POST',
    headers: { 'x-forwarded-for': forwardedFor },
    body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', subject_token: 'x' }),
  });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  return Refusal.parse(await answer.json()).error === 'slow_down';
}

test.each([
  ['an IPv4 address with and without its port', (i: number) => (i === 0 ? '192.0.2.1' : `192.0.2.1:${5000 + i}`)],
  ['an IPv6 address in brackets with its port', (i: number) => `[2001:db8:1::1]:${5000 + i}`],
  [
    'an IPv6 address in capitals, with zeros written out',
    (i: number) => ['2001:db8:2::1', '2001:DB8:2::1', '2001:0db8:2:0:0::1', '2001:db8:2:0::0:1'][i] ?? '',
  ],
  [
    'an IPv4 address in IPv6',
    (i: number) => ['192.0.2.3', '::ffff:192.0.2.3', '::ffff:c000:203', '64:ff9b::c000:203'][i] ?? '',
  ],
  ['an address behind what a client claims', (i: number) => `x${i}, 192.0.2.4`],
  ['an address that is none', (i: number) => `unknown-${i}`],
])('%s has one limit', async (_, spelling) => {
  const limited: boolean[] = [];
  for (let i = 0; i < 4; i += 1) limited.push(await isLimited(spelling(i)));
  expect(limited).toEqual([false, false, false, true]);
});

test('another address has its own', async () => {
  expect(await isLimited('192.0.2.200:1, 192.0.2.201:1')).toBe(false);
});

test('the audit log has the address as RFC 5952 writes it', async () => {
  const answer = await fetch(`${server.baseUrl}/admin/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '[2001:DB8:9:0::1]:443' },
    body: JSON.stringify({ username: 'admin', password: 'not the password' }),
  });
  expect(answer.status).toBe(401);
  const addresses = async () =>
    (await server.pool.query(`select ip_address from event where ip_address like '2001:db8:9%'`)).rows;
  await expect.poll(addresses).toEqual([{ ip_address: '2001:db8:9::1' }]);
});
