// Owns: from which origins pages, web views and extensions may call the protocol endpoints, and what a preflight answers.
// Does not own: each endpoint's answer (conformance.endpoints.test.ts).
// Implements: decisions "Client" (webOrigins); Fetch standard (CORS); RFC 6454; RFC 8252 §7.3.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importRealm } from '../../../server/contract/transfer.ts';
import { makeClient, makeRealm } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const realm = 'acme';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, realm);
});
afterAll(() => server?.stop());

let made = 0;
async function client(webOrigins: string[], redirectUris: string[] = []): Promise<string> {
  made += 1;
  const clientId = `spa-${made}`;
  await makeClient(server, realm, {
    clientId,
    webOrigins,
    redirectUris,
    tokenEndpointAuthMethod: 'none',
    grantTypes: ['authorization_code'],
  });
  return clientId;
}
const at = (path: string) => `${server.baseUrl}/realms/${realm}/${path}`;
const allowOrigin = 'access-control-allow-origin';
async function answered(clientId: string, origin: string): Promise<string | null> {
  const body = new URLSearchParams({ client_id: clientId, token: 'none' });
  const response = await fetch(at('oauth2/revoke'), { method: 'POST', body, headers: { origin } });
  expect(response.status).toBe(200);
  await response.body?.cancel();
  return response.headers.get(allowOrigin);
}
const preflight = (path: string, origin: string, headers?: string) =>
  fetch(at(path), {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      ...(headers !== undefined && { 'access-control-request-headers': headers }),
    },
  });

describe('an origin', () => {
  test.each([
    'capacitor://localhost',
    'ionic://localhost',
    'tauri://localhost',
    'chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb',
    'moz-extension://9f8c3c1e-5e0e-4c9c-8d43-1c8f7c2a0b11',
  ])('%s may be a client’s, by itself and by its redirect URI', async (origin) => {
    const named = await client([origin]);
    expect(await answered(named, origin)).toBe(origin);
    expect(await answered(named, `${origin}.evil.example`)).toBeNull();
    const followed = await client(['+'], [`${origin}/callback`]);
    expect(await answered(followed, origin)).toBe(origin);
    expect((await preflight('oauth2/token', origin)).headers.get(allowOrigin)).toBe(origin);
  });

  test.each([
    'capacitor://',
    'capacitor://localhost/',
    'capacitor://localhost/path',
    'capacitor://user@localhost',
    'file://localhost',
    'javascript://localhost',
    'data:text/html,x',
    'null',
    'https://app.example/',
    'http://localhost:*',
    'capacitor://*',
  ])('%s is refused', async (origin) => {
    await expect(
      server.admin.call(importRealm, {
        params: { realm },
        body: { clients: [{ clientId: 'x', webOrigins: [origin] }] },
      }),
    ).rejects.toMatchObject({ status: 400 });
  });
});

describe('+ follows loopback redirects', () => {
  test.each(['http://localhost', 'http://127.0.0.1', 'http://[::1]'])('%s at any port', async (host) => {
    const clientId = await client(['+'], [`${host}/callback`]);
    for (const origin of [host, `${host}:4173`, `${host}:65535`]) expect(await answered(clientId, origin)).toBe(origin);
    for (const origin of [
      `${host}.evil.example`,
      `${host}:80x`,
      `${host}:4173/`,
      'https://localhost:4173',
      'http://10.0.0.1:4173',
    ])
      expect(await answered(clientId, origin)).toBeNull();
  });

  test('a named loopback origin is that port alone, and another host has one port', async () => {
    const named = await client(['http://localhost:5173'], ['http://localhost/callback']);
    expect(await answered(named, 'http://localhost:5174')).toBeNull();
    const https = await client(['+'], ['https://app.example/callback']);
    expect(await answered(https, 'https://app.example')).toBe('https://app.example');
    expect(await answered(https, 'https://app.example:8443')).toBeNull();
  });
});

describe('a preflight', () => {
  test('allows the headers that the page asks for', async () => {
    await client(['https://headers.example']);
    const asked = 'authorization,x-requested-with, traceparent ,x-requested-with';
    const { status, headers } = await preflight('oauth2/token', 'https://headers.example', asked);
    expect([status, headers.get('access-control-allow-headers')]).toEqual([
      204,
      'Authorization, Content-Type, DPoP, x-requested-with, traceparent',
    ]);
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  test('leaves out what is no name of a header, and allows a foreign origin nothing', async () => {
    const mixed = await preflight('oauth2/token', 'https://headers.example', 'x-good,bad header,(),');
    expect(mixed.headers.get('access-control-allow-headers')).toBe('Authorization, Content-Type, DPoP, x-good');
    const foreign = await preflight('oauth2/token', 'https://evil.example', 'x-good');
    expect([foreign.headers.get(allowOrigin), foreign.headers.get('access-control-allow-headers')]).toEqual([
      null,
      null,
    ]);
  });

  test.each(['.well-known/openid-configuration', '.well-known/oauth-protected-resource', 'oauth2/jwks'])(
    'of %s allows every origin to read it',
    async (path) => {
      const { status, headers } = await preflight(path, 'https://any.example', 'traceparent');
      expect([status, headers.get(allowOrigin)]).toEqual([204, '*']);
      expect(headers.get('access-control-allow-headers')).toContain('traceparent');
      expect((await fetch(at(path))).status).toBe(200);
    },
  );
});
