// RFC 9728: whoever is refused by an API of the server's finds the way from the 401 alone, and servers of others name a document
// that the realm keeps for them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { makeProvider, REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const API = 'https://api.example.com/v1?tenant=1';
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
let server: TestServer;
let issuer: string;

beforeAll(async () => {
  server = await startTestServer();
  issuer = `${server.baseUrl}/realms/${REALM}`;
  await makeProvider(server);
  await server.admin.call(putSettings, { params: { realm: REALM }, body: { resourceIndicators: [API] } });
});
afterAll(() => server?.stop());

const read = async (url: string) => {
  const answer = await fetch(url);
  return { status: answer.status, headers: answer.headers, body: Object(await answer.json()) };
};
const namedBy = (answer: Response): string | undefined =>
  /resource_metadata="([^"]+)"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1];

describe('a 401 names the document', () => {
  test.each([
    ['GET', 'oauth2/userinfo'],
    ['POST', 'oauth2/userinfo'],
    ['GET', 'authz/protection/resource_set'],
    ['POST', 'authz/protection/permission'],
    ['POST', 'tx'],
    ['GET', 'account/gdpr/consents'],
    ['GET', 'scim/v2/Me'],
  ])('%s %s', async (method, path) => {
    const url = `${issuer}/${path}`;
    const body = method === 'POST' && path.startsWith('oauth2') ? new URLSearchParams({ a: 'b' }) : undefined;
    const without = await fetch(url, { method, ...(body && { body }) });
    const wrong = await fetch(url, { method, ...bearer('nonsense'), ...(body && { body }) });
    expect([without.status, wrong.status]).toEqual([401, 401]);
    expect(wrong.headers.get('www-authenticate')).toContain('error="invalid_token"');
    for (const answer of [without, wrong]) {
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="op"/);
      const { body: document } = await read(namedBy(answer) ?? '');
      expect(document).toMatchObject({ resource: issuer, authorization_servers: [issuer] });
    }
  });

  test('of the admin API, which leads to the realm of the server’s administrators', async () => {
    const refused = await fetch(`${server.baseUrl}/admin/realms/${REALM}/settings`, bearer('nonsense'));
    const { status, headers, body } = await read(namedBy(refused) ?? '');
    expect([refused.status, status, headers.get('access-control-allow-origin')]).toEqual([401, 200, '*']);
    expect(body).toMatchObject({
      resource: `${server.baseUrl}/admin`,
      authorization_servers: [`${server.baseUrl}/realms/master`],
      bearer_methods_supported: ['header'],
    });
  });

  test.each([
    ['an enrolment token, which is given out by a person', 'POST', 'device/enroll/start'],
    ['a SCIM token, which is given out by an administrator', 'GET', 'scim/v2/Users'],
    ['a registration token, which is the client’s own', 'GET', 'connect/register/00000000-0000-4000-8000-000000000000'],
  ])('but not where what is needed is %s', async (_, method, path) => {
    const refused = await fetch(`${issuer}/${path}`, { method, ...bearer('nonsense') });
    expect([refused.status, namedBy(refused)]).toEqual([401, undefined]);
  });
});

describe('a resource that the realm declares', () => {
  const at = (resource: string) =>
    `${issuer}/.well-known/oauth-protected-resource?${new URLSearchParams({ resource })}`;

  test('has a document, which its server may name, and discovery names the resource', async () => {
    const { status, headers, body } = await read(at(API));
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(body).toEqual({ resource: API, authorization_servers: [issuer], bearer_methods_supported: ['header'] });
    const inserted = at(API).replace(`/realms/${REALM}/.well-known/oauth-protected-resource`, (path) =>
      path.replace(/^(\/realms\/\w+)(.*)$/, '$2$1'),
    );
    expect((await read(inserted)).body).toEqual(body);
    const discovery = await read(`${issuer}/.well-known/openid-configuration`);
    expect(discovery.body.protected_resources).toEqual([API]);
  });

  test.each([
    ['not on the list', 'https://other.example'],
    ['another realm’s', 'https://api.example.com/v1'],
  ])('and one that is %s has none', async (_, resource) => {
    const { status, body } = await read(at(resource));
    expect([status, body.error]).toEqual([404, 'not_found']);
  });

  test('has one no longer once it is taken off the list', async () => {
    const params = { realm: REALM };
    await server.admin.call(putSettings, { params, body: { resourceIndicators: [] } });
    expect((await read(at(API))).status).toBe(404);
    const { body } = await read(`${issuer}/.well-known/openid-configuration`);
    expect(body).not.toHaveProperty('protected_resources');
    await server.admin.call(putSettings, { params, body: { resourceIndicators: [API] } });
  });
});
