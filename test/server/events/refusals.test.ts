import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { newRefreshToken } from '../../../server/crypto/refresh-token.ts';
import { makeClient, makeRealm, post } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let offset = 0;

beforeAll(async () => {
  server = await startTestServer({
    env: { SVC_TRUST_PROXY: '127.0.0.1' },
    now: () => new Date(Date.now() + offset),
  });
  await makeRealm(server, 'acme');
  await makeClient(server, 'acme', {
    clientId: 'spa',
    tokenEndpointAuthMethod: 'none',
    redirectUris: ['http://127.0.0.1/'],
  });
});
afterAll(() => server?.stop());

/** The refusals of the log, once there are `wanted` of them and no more have come for a while. */
async function refusals(wanted: number) {
  for (let same = 0, before = -1; ; await sleep(50)) {
    const query = { type: 'TOKEN_REFUSED', limit: 1000 };
    const { body: events = [] } = await server.admin.call(listEvents, { params: { realm: 'acme' }, query });
    same = events.length === before && events.length >= wanted ? same + 1 : 0;
    before = events.length;
    if (same === 6) return events;
  }
}
const from = (address: string) => ({ 'x-forwarded-for': address });
const guess = (address: string, i: number) =>
  post(server, 'acme', 'token', { grant_type: 'client_credentials', client_id: `made-up-${i}` }, from(address));
/** A public client needs no proof to ask with tokens of its own making. */
const invented = (address: string) => {
  const refresh_token = newRefreshToken('0199a1b2-0000-7000-8000-000000000000').token;
  return post(server, 'acme', 'token', { grant_type: 'refresh_token', client_id: 'spa', refresh_token }, from(address));
};

test('of what one address is refused in a minute the first few are told one by one, and the others as a number', async () => {
  for (let i = 0; i < 15; i += 1) expect((await guess('192.0.2.1', i)).status).toBe(401);
  // one subscriber's addresses are one, and a realm's own client is no way around
  for (let i = 0; i < 15; i += 1) expect((await invented('192.0.2.1')).body.error).toBe('invalid_grant');
  await guess('192.0.2.2', 99);
  const events = await refusals(21);
  expect(events).toHaveLength(21);
  expect(events.filter(({ ipAddress }) => ipAddress === '192.0.2.1')).toHaveLength(20);
  expect(events.filter(({ clientId }) => clientId === 'made-up-99')).toHaveLength(1);

  offset += 61_000;
  await guess('192.0.2.1', 100);
  const later = await refusals(23);
  expect(later).toHaveLength(23);
  expect(later.find(({ data }) => 'unrecorded' in data)).toMatchObject({
    ipAddress: '192.0.2.1',
    clientId: null,
    outcome: 'failure',
    data: { unrecorded: 10 },
  });
});

test('a /64 of IPv6 is one address', async () => {
  offset += 61_000;
  const before = (await refusals(0)).length;
  for (let i = 0; i < 25; i += 1) await guess(`2001:db8::${i + 1}`, i);
  expect((await refusals(before + 20)).length).toBe(before + 20);
});
