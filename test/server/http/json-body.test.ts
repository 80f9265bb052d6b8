import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { importer } from '../../support/transfer.ts';

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
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
  const response = await signIn(`{"username":"a","password":${deep}}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ detail: expect.stringContaining('levels deep') });
});

test('a body of a caller who is not known yet has 64 KB at most', async () => {
  const password = 'x'.repeat(64 * 1024);
  expect((await signIn(JSON.stringify({ username: 'a', password }))).status).toBe(413);
  expect((await signIn(JSON.stringify({ username: 'a', password: password.slice(0, 60_000) }))).status).not.toBe(413);
});

test.each([
  ['a response', 'endpoint', 240_000, 404],
  ['a response that is too large', 'endpoint', 262_145, 413],
  ['a logout message', 'endpoint/slo', 60_000, 404],
  ['a logout message that is too large', 'endpoint/slo', 65_537, 413],
])('a form with %s of a SAML provider is read up to its limit', async (_, path, length, status) => {
  const response = await fetch(`${server.baseUrl}/realms/master/broker/none/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `SAMLResponse=${'a'.repeat(length)}`.slice(0, length),
  });
  expect(response.status).toBe(status);
});

describe('an answer about thousands of wrong fields', () => {
  const keys = Array.from({ length: 5_000 }, (_, i) => `x${i}`);

  test('names fifty, counts the others and is small', async () => {
    const response = await signIn(JSON.stringify(Object.fromEntries(keys.map((key) => [key, 1]))));
    const text = await response.text();
    const { errors, detail } = JSON.parse(text);
    expect([response.status, errors.length]).toEqual([400, 50]);
    expect(detail).toMatch(/; and 49\d\d more$/);
    expect(text.length).toBeLessThan(10_000);
  });

  test('of a known caller too, and in a list', async () => {
    const roles = Array.from({ length: 400 }, () => 7);
    const { url, headers } = (await importer(server)).raw('/admin/realms/master/users');
    const body = JSON.stringify({ username: 'x', roles });
    const response = await fetch(url, { method: 'POST', headers, body });
    expect([response.status, Object(await response.json()).errors.length]).toEqual([400, 50]);
  });

  test('with a name of 60,000 characters repeats only its beginning', async () => {
    const response = await signIn(JSON.stringify({ username: 'a', password: 'x', ['k'.repeat(60_000)]: 1 }));
    expect(response.status).toBe(400);
    expect((await response.text()).length).toBeLessThan(2_000);
  });
});

test.each([
  ['JSON', 'application/json', '{"username":"a"}', 415],
  ['a form of 1,001 fields', 'application/x-www-form-urlencoded', 'a=&'.repeat(1000), 400],
  ['a form of more than 64 KB', 'application/x-www-form-urlencoded', `username=${'a'.repeat(64 * 1024)}`, 413],
])('a page that shows a form does not take %s', async (_what, type, body, status) => {
  const response = await fetch(`${server.baseUrl}/realms/master/login/forgot`, {
    method: 'POST',
    headers: { 'content-type': type },
    body,
  });
  expect(response.status).toBe(status);
});

test.each(['connect/register', 'authz/protection/permission'])(
  'JSON that is nested too deeply is invalid_request at %s',
  async (at) => {
    const response = await fetch(`${server.baseUrl}/realms/master/${at}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
    });
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_request' }]);
  },
);

test.each(['/admin/login/form', '/admin/logout/form', '/admin/account/form'])(
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
