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

test('a rotation, a setting and the end of the realm show at once, however often the documents were asked for', async () => {
  const [jwks = '', discovery = ''] = paths();
  for (const path of [jwks, jwks, discovery, discovery]) await answer(path);
  const { body: key } = await server.admin.call(rotateKeys, { params });
  expect((await answer(jwks)).body).toContain(key?.keyId);

  const { body: settings, etag } = await server.admin.call(getSettings, { params });
  const { realmId, displayName, ...rest } = settings ?? {};
  await server.admin.call(putSettings, {
    params,
    body: { ...rest, supportedLocales: ['en', 'nl'] },
    headers: { 'if-match': etag ?? '' },
  });
  expect(JSON.parse((await answer(discovery)).body)).toMatchObject({ ui_locales_supported: ['en', 'nl'] });
  await answer(jwks);

  await server.admin.call(deleteRealm, { params });
  for (const path of paths()) expect((await answer(path)).status).toBe(404);
});
