// Owns: what the log says where a realm's own address is not among the server's.
// Does not own: where links lead (features/configuration/messaging.links.test.ts).
// Implements: decisions "Where links lead".
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const lines: string[] = [];
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ lines, env: { SVC_OTHER_ADDRESSES: 'https://login.known.example' } });
  for (const realm of ['known', 'unknown']) {
    await makePeopledRealm(server, realm, []);
    const issuer = `https://login.${realm}.example`;
    await server.admin.call(putSettings, { params: { realm }, body: { issuer } });
  }
});
afterAll(() => server?.stop());

/** @returns where it leads on, with the cookies that were set */
const get = (path: string, host: string, cookie = '') =>
  new Promise<{ status: number | undefined; to: string; cookie: string }>((resolve, reject) => {
    request(`${server.baseUrl}${path}`, { headers: { host, cookie } }, ({ statusCode: status, headers }) => {
      const set = (headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
      resolve({ status, to: headers.location ?? '', cookie: set });
    })
      .on('error', reject)
      .end();
  });
/** Opens the sign-in page, as a browser does that shows this host. */
async function open(realm: string, host: string): Promise<number | undefined> {
  const { to, cookie } = await get(`/realms/${realm}/login?for=account`, host);
  return (await get(to, host, cookie)).status;
}
const said = () => lines.filter((line) => line.includes('SVC_OTHER_ADDRESSES'));

test('the log says once of a realm that people reach it at an address that the server’s operator did not configure', async () => {
  for (const host of ['login.unknown.example', 'login.unknown.example', 'elsewhere.example'])
    expect(await open('unknown', host)).toBe(200);
  expect(said()).toHaveLength(1);
  expect(said()[0]).toContain('asked at https://login.unknown.example');
});

test('it says nothing of an address that is configured, nor of an issuer that only names tokens', async () => {
  const before = said().length;
  expect(await open('known', 'login.known.example')).toBe(200);
  expect(await open('known', new URL(server.baseUrl).host)).toBe(200);
  expect(said()).toHaveLength(before);
});
