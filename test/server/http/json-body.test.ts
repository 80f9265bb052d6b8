import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const signIn = (body: string, type = 'application/json') =>
  fetch(`${server.baseUrl}/admin/login`, { method: 'POST', headers: { 'content-type': type }, body });

test.each([
  ['a value', String.raw`{"username":"\ud800","password":"x"}`],
  ['a key', String.raw`{"username":"a","password":"x","\udc00":1}`],
])('half a surrogate pair in %s is a bad request, not a failure of the server', async (_, body) => {
  const response = await signIn(body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ detail: expect.stringContaining('surrogate') });
});

test('a whole surrogate pair, written as escapes, is text like any other', async () => {
  expect((await signIn(String.raw`{"username":"\ud83d\ude00","password":"x"}`)).status).toBe(401);
});

test('a body that is nested too deeply is a bad request', async () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  const response = await signIn(`{"username":"a","password":${deep}}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ detail: expect.stringContaining('levels deep') });
});

test.each(['/admin/login/form', '/admin/logout/form'])(
  'a field that comes twice is a bad request at %s',
  async (path) => {
    const response = await fetch(`${server.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', cookie: 'XSRF-TOKEN=a' },
      body: 'csrf=a&csrf=b',
    });
    expect(response.status).toBe(400);
  },
);
