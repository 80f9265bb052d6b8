// Owns: what a list of one person costs beside some thousand others, by each filter.
// Does not own: the same among a quarter of a million (users.search.long.test.ts), nor of all other requests (guards/growth.long.test.ts).
// Implements: specification 4.10.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { grow, personId } from '../../support/grown.ts';
import { adminSessionOf } from '../../support/one-of-each.ts';
import { type Explained, explainAll, hearPlans, rowsRead } from '../../support/plans.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let watched: TestServer;
let heard: Explained[] = [];
let plans: { stop(): void } | undefined;

beforeAll(async () => {
  server = await startTestServer({ jobs: false });
  await server.admin.call(createRealm, { body: { realm: 'grown' } });
  await grow(server.databaseUrl, { realm: 'grown', people: 5_000, clients: 50, events: 100, at: new Date() });
  await explainAll(server.databaseUrl);
  plans = hearPlans((one) => void heard.push(one));
  watched = await startTestServer({ beside: server, jobs: false });
});
afterAll(async () => {
  plans?.stop();
  await watched?.stop();
  await server?.stop();
});

test.each([
  ['users?limit=1'],
  ['users?limit=1&enabled=true'],
  ['users?limit=1&role=grown'],
  ['users?limit=1&group=/grown'],
  ['users?limit=1&organization=grown'],
  ['users?limit=1&email=user-77@people.example'],
  [`groups/${personId(1)}/members?limit=1`],
  [`organizations/${personId(1)}/members?limit=1`],
  [`users/${personId(77)}`],
])('%s reads the person and what is theirs, and nobody else’s password', async (url) => {
  const headers = { ...(await adminSessionOf(watched, { username: 'admin' })) };
  heard = [];
  const { statusCode, body } = await watched.app.http.inject({
    method: 'GET',
    url: `/admin/realms/grown/${url}`,
    headers,
  });
  expect(statusCode, body).toBe(200);
  expect(body).toContain('user-');
  const read = heard.filter(({ text }) => text.includes('credential')).map(({ plan }) => rowsRead(plan));
  expect(Math.max(0, ...read)).toBeLessThan(200);
});
