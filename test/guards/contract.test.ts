import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../server/contract/realms.ts';
import type { Route } from '../../server/contract/route.ts';
import { getSettings, settingNames } from '../../server/contract/settings.ts';
import { contractRoutes } from '../support/contract-routes.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const nameOf = ({ method, path: at }: { method: string; path: string }) => `${method} ${at.replace('*', ':')}`;

/** What the document says that is mounted: it is printed from the very routes. */
async function documented(): Promise<string[]> {
  const { paths = {} } = await server.app.api.document();
  return Object.entries(paths).flatMap(([at, item]) =>
    Object.keys(item ?? {})
      .filter((key) => ['get', 'post', 'put', 'patch', 'delete'].includes(key))
      .map((method) => nameOf({ method: method.toUpperCase(), path: at.replace(/\{([^}]+)\}/g, ':$1') })),
  );
}

test('every route of the contract is mounted', async () => {
  const mounted = new Set(await documented());
  expect((await contractRoutes()).map(nameOf).filter((name) => !mounted.has(name))).toEqual([]);
});

test('every admin route that is mounted stands in the contract', async () => {
  const known = new Set((await contractRoutes()).map(nameOf));
  const extra = (await documented()).filter((name) => name.includes(' /admin/'));
  expect(extra.filter((name) => !known.has(name) && name !== 'GET /admin/login')).toEqual([]);
  expect(extra.length).toBeGreaterThan(50);
});

test('no two routes of the contract share method and path', async () => {
  const names = (await contractRoutes()).map(nameOf);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

/** Reads by POST: their questions hold an edited flow, which is too long for an address. They write nothing. */
const readsByPost = new Set(['replayFlow', 'simulateUnsavedFlow']);

test('every read of the admin API asks for a read permission, every write for another', async () => {
  const isRead = ({ method, operationId, recordsNothing }: Route) =>
    method === 'GET' || (recordsNothing && readsByPost.has(operationId ?? ''));
  const wrong = (await contractRoutes())
    .filter(({ permission }) => permission !== null)
    .filter((route) => isRead(route) !== route.permission?.endsWith(':read'))
    .map((route) => `${nameOf(route)}: ${route.permission}`);
  expect(wrong).toEqual([]);
});

/** Specification 2.3, last column, in its order. */
const fresh = {
  issuer: null,
  accessTokenTtlSeconds: 3600,
  refreshTokenTtlSeconds: 5184000,
  reuseRefreshTokens: false,
  requireMfa: false,
  ssoSessionIdleTimeoutSeconds: 1800,
  ssoSessionMaxLifetimeSeconds: 36000,
  rememberMe: false,
  rememberMeLifetimeSeconds: 2592000,
  lockoutEnabled: false,
  maxLoginFailures: 5,
  lockoutDurationSeconds: 900,
  passwordMinLength: 12,
  breachedPasswordCheck: false,
  captchaProvider: 'none',
  maxConcurrentSessions: 0,
  riskPolicyEnabled: false,
  riskMediumThreshold: 40,
  riskHighThreshold: 70,
  riskLowAction: 'allow',
  riskMediumAction: 'step_up',
  riskHighAction: 'deny',
  logoUrl: null,
  primaryColor: null,
  backgroundColor: null,
  welcomeText: null,
  customCss: null,
  registrationEnabled: true,
};

test('a fresh realm has exactly the values of the specification, in its order', async () => {
  await server.admin.call(createRealm, { body: { realm: 'fresh' } });
  const { body } = await server.admin.call(getSettings, { params: { realm: 'fresh' } });
  expect(body).toMatchObject({ realmId: 'fresh', displayName: 'fresh', ...fresh });
  const answer = Object.keys(body ?? {});
  expect(answer.slice(0, 30)).toEqual(['realmId', 'displayName', ...Object.keys(fresh)]);
  expect(answer.slice(30)).toEqual([...settingNames.slice(29), 'resourceIndicators']);
});

test('the OpenAPI document and its page are there for everybody', async () => {
  const document = await fetch(`${server.baseUrl}/v3/api-docs`);
  expect([document.status, document.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  expect(await document.json()).toMatchObject({ openapi: '3.1.0', servers: [{ url: server.baseUrl }] });
  const page = await fetch(`${server.baseUrl}/swagger-ui.html`);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
});
