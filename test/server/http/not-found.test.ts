import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

test.each([
  ['GET', '/nowhere', 404, null],
  ['GET', '/admin/nowhere', 404, null],
  ['PUT', '/nowhere', 404, null],
  ['GET', '/admin/realms/%zz', 400, null],
  ['GET', `/admin/realms/${'a'.repeat(3000)}`, 404, null],
  ['POST', '/actuator/health', 405, 'GET, HEAD'],
  ['PATCH', '/admin/realms/acme/settings', 405, 'GET, HEAD, PUT'],
  ['DELETE', '/admin/realms/acme/keys/rotate', 401, null],
  ['POST', '/admin/realms/acme/keys/x', 405, 'DELETE'],
])('%s %s is %i, as a problem', async (method, path, status, allow) => {
  const response = await fetch(server.baseUrl + path, { method });
  expect([response.status, response.headers.get('allow')]).toEqual([status, allow]);
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(await response.json()).toMatchObject({
    status,
    instance: path,
    type: expect.stringMatching(/^urn:svc:problem:/),
  });
});

const BROWSER = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }, redirect: 'manual' } as const;

test.each(['/nowhere', '/realms/acme/nowhere', '/admin/nowhere'])('%s is a page to a browser', async (path) => {
  const response = await fetch(server.baseUrl + path, BROWSER);
  expect([response.status, response.headers.get('vary')]).toEqual([404, 'Accept']);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(await response.text()).toContain('There is nothing at this address');
});

test.each([
  ['/realms/master', '/realms/master/account'],
  // whether the realm is there, that page says
  ['/realms/nowhere', '/realms/nowhere/account'],
  // nor is what somebody wrote there anything but a name
  ['/realms/%0d%0aset-cookie:a=b', '/realms/%0D%0Aset-cookie%3Aa%3Db/account'],
  ['/realms/..%2f%2fevil.example%3f', '/realms/..%2F%2Fevil.example%3F/account'],
  ['/realms/%E2%80%A8', '/realms/%E2%80%A8/account'],
  ['/admin', '/admin/login'],
])('%s leads a browser to %s, and is nothing to a program', async (path, to) => {
  const opened = await fetch(server.baseUrl + path, BROWSER);
  expect([opened.status, opened.headers.get('location')]).toEqual([303, to]);
  const asked = await fetch(server.baseUrl + path);
  expect([asked.status, asked.headers.get('content-type')]).toEqual([404, 'application/problem+json; charset=utf-8']);
});

test('a 401 of the admin API says how to come in', async () => {
  const response = await fetch(`${server.baseUrl}/admin/session`);
  const metadata = `${server.baseUrl}/.well-known/oauth-protected-resource/admin`;
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer realm="admin", resource_metadata="${metadata}"`,
  ]);
});

test('an empty body of type JSON is no body; one that is no JSON is a 400', async () => {
  const login = (body: string) =>
    fetch(`${server.baseUrl}/admin/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  for (const body of ['', '{', '{"__proto__": {}}', '[]', 'null']) {
    const response = await login(body);
    expect([body, response.status]).toEqual([body, 400]);
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  }
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml'])(
  'the admin API takes JSON alone: %s is a 415',
  async (type) => {
    const response = await fetch(`${server.baseUrl}/admin/login`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: 'username=admin&password=x',
    });
    expect(response.status).toBe(415);
    expect(await response.clone().json()).toMatchObject({ detail: expect.stringContaining('application/json') });
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  },
);

test('a request that never ends does not hold its connection for ever', () => {
  expect(server.app.http.server.requestTimeout).toBeGreaterThan(0);
});
