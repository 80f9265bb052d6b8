import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rotateKeys } from '../../../server/contract/keys.ts';
import { createRealm, deleteRealm } from '../../../server/contract/realms.ts';
import { getSettings, putSettings } from '../../../server/contract/settings.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'known' };
const base = () => `${server.baseUrl}/realms/known`;
const paths = () => [`${base()}/oauth2/jwks`, `${base()}/.well-known/openid-configuration`];

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

async function answer(url: string, method = 'GET') {
  const response = await fetch(url, { method });
  // not the client's own doing: it closes after HEAD
  const { date, connection, 'keep-alive': kept, ...headers } = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: await response.text() };
}

/** The bytes of some answers on one connection, but for their time; the last request closes it. */
async function bytesOf(requests: readonly string[]): Promise<string> {
  const socket = connect(server.config.SVC_PORT, '127.0.0.1');
  const closing = requests.map((request, at) =>
    at < requests.length - 1 ? request : `${request}connection: close\r\n`,
  );
  socket.write(closing.map((request) => `${request}host: known.example\r\n\r\n`).join(''));
  return (await text(socket)).replaceAll(/^date: .*$/gim, 'date');
}

async function counted(pattern: string): Promise<number> {
  const figures = await (await fetch(`${server.baseUrl}/actuator/metrics-text`)).text();
  const series = figures.split('\n').filter((line) => line.startsWith('http_server_requests_seconds_count'));
  const [line = ''] = series.filter((one) => one.includes(`"GET"`) && one.includes(`"${pattern}"`));
  return Number(/ (\d+)$/.exec(line)?.[1] ?? 0);
}

test('what is ready is answered with the same headers and bytes as what is not, to GET and HEAD', async () => {
  await server.admin.call(createRealm, { body: params });
  for (const path of paths()) {
    const first = await answer(path);
    expect(first).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'no-cache', 'access-control-allow-origin': '*' },
    });
    expect(first.headers['content-length']).toBe(String(Buffer.byteLength(first.body)));
    expect(await answer(path)).toEqual(first);
    expect(await answer(path, 'HEAD')).toEqual({ ...first, body: '' });
  }
});

test('to the byte, whatever the request says beside its address', async () => {
  for (const path of ['/realms/known/oauth2/jwks', '/realms/known/.well-known/openid-configuration']) {
    // a query goes the ordinary way
    const slow = await bytesOf([`GET ${path}?slow HTTP/1.1\r\n`]);
    expect(slow).toContain('HTTP/1.1 200 OK');
    expect(slow).toContain('"');
    expect(await bytesOf([`GET ${path} HTTP/1.1\r\n`])).toBe(slow);
    for (const more of ['if-none-match: *', 'origin: https://elsewhere.example', 'x-forwarded-host: else.example'])
      expect(await bytesOf([`GET ${path} HTTP/1.1\r\n${more}\r\n`])).toBe(slow);
    const old = await bytesOf([`GET ${path}?slow HTTP/1.0\r\n`]);
    expect(await bytesOf([`GET ${path} HTTP/1.0\r\n`])).toBe(old);
    const both = [`GET ${path} HTTP/1.1\r\n`, `GET ${path}?slow HTTP/1.1\r\n`];
    expect(await bytesOf(both)).toBe(await bytesOf(both.toReversed()));
    const withBody = `GET ${path} HTTP/1.1\r\ncontent-length: 4\r\n`;
    expect(await bytesOf([withBody])).toBe(slow);
  }
});

test('each is counted by its route, ready or not', async () => {
  const [jwks = ''] = paths();
  await answer(jwks);
  const before = await counted('/realms/:realm/oauth2/jwks');
  await Promise.all([answer(jwks), answer(`${jwks}?slow`), answer(jwks)]);
  expect(await counted('/realms/:realm/oauth2/jwks')).toBe(before + 3);
});

test('a rotation, a setting and the end of the realm show at once, however often the documents were asked for', async () => {
  const [jwks = '', discovery = ''] = paths();
  for (const path of [jwks, jwks, discovery, discovery]) await answer(path);
  const { body: key } = await server.admin.call(rotateKeys, { params });
  expect((await answer(jwks)).body).toContain(key?.keyId);

  const { body: settings, etag } = await server.admin.call(getSettings, { params });
  const { realmId, displayName, ...rest } = settings ?? {};
  await server.admin.call(putSettings, {
    params,
    body: { ...rest, supportedLocales: ['en', 'de'] },
    headers: { 'if-match': etag ?? '' },
  });
  expect(JSON.parse((await answer(discovery)).body)).toMatchObject({ ui_locales_supported: ['en', 'de'] });
  await answer(jwks);

  await server.admin.call(deleteRealm, { params });
  for (const path of paths()) expect((await answer(path)).status).toBe(404);
});
