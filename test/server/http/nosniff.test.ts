// Owns: that no browser guesses another type than an answer's own, whichever part of the server answers.
// Does not own: the other headers of pages (page-headers.test.ts).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());

test.each([
  ['the admin API', 'GET', '/admin/realms', 401],
  ['an address below it that is not there', 'GET', '/admin/no-such', 404],
  ['discovery', 'GET', '/realms/master/.well-known/openid-configuration', 200],
  ['a refused token', 'POST', '/realms/master/oauth2/token', 400],
  ['SCIM', 'GET', '/realms/master/scim/v2/Users', 401],
  ['the account API', 'GET', '/realms/master/account/api/profile', 401],
  ['health', 'GET', '/actuator/health', 200],
  ['an address that is not there', 'GET', '/no-such', 404],
  ['a path that is none', 'GET', '/%zz', 400],
])('%s says that its type is meant', async (_, method, path, status) => {
  const answer = await fetch(server.baseUrl + path, { method });
  expect([path, answer.headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
  expect(Math.floor(answer.status / 100)).toBe(Math.floor(status / 100));
});
