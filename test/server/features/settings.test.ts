import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerProblem } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createRealm, deleteRealm, getRealm } from '../../../server/contract/realms.ts';
import { getSettings, putSettings, type SettingsInput } from '../../../server/contract/settings.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { administrator } from '../../support/administrators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let made = 0;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

async function realm(): Promise<{ realm: string }> {
  made += 1;
  const params = { realm: `settings-${made}` };
  await server.admin.call(createRealm, { body: params });
  return params;
}
const read = async (params: { realm: string }) => (await server.admin.call(getSettings, { params })).body;
const put = (params: { realm: string }, body: SettingsInput, headers: Record<string, string> = {}) =>
  server.admin.call(putSettings, { params, body, headers });
const revision = async (params: { realm: string }) => (await server.admin.call(getRealm, { params })).body?.revision;
async function refusal(answer: Promise<unknown>): Promise<ServerProblem> {
  const problem = await answer.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (problem instanceof ServerProblem) return problem;
  throw new Error(`expected a refusal, got ${String(problem)}`);
}
const blamed = ({ problem }: ServerProblem) => problem?.errors?.map((error) => error.path);

test('what was read can be written back, and then nothing is written or audited', async () => {
  const params = await realm();
  const before = await read(params);
  const at = await revision(params);
  const { body } = await put(params, before ?? {});
  expect(body).toEqual(before);
  expect(await revision(params)).toBe(at);
  const events = await server.admin.call(listEvents, { params, query: { type: 'SETTINGS_UPDATED' } });
  expect(events.body).toEqual([]);
});

test('a field that is left out keeps its stored value', async () => {
  const params = await realm();
  await put(params, { accessTokenTtlSeconds: 600, displayName: 'Acme' });
  const { body } = await put(params, { rememberMe: true });
  expect(body).toMatchObject({
    accessTokenTtlSeconds: 600,
    displayName: 'Acme',
    rememberMe: true,
    realmId: params.realm,
  });
  expect(await read(params)).toEqual(body);
});

test('a change raises the revision once, and the audit log says which fields, from what, to what', async () => {
  const params = await realm();
  const at = (await revision(params)) ?? 0;
  await put(params, { accessTokenTtlSeconds: 600, requireMfa: true, lockoutEnabled: false });
  expect(await revision(params)).toBe(at + 1);
  const { body } = await server.admin.call(listEvents, { params, query: { type: 'SETTINGS_UPDATED' } });
  expect(body).toHaveLength(1);
  expect(body?.[0]).toMatchObject({
    actor: { type: 'user', name: 'admin' },
    outcome: 'success',
    data: {
      fields: ['accessTokenTtlSeconds', 'requireMfa'],
      changes: [
        { field: 'accessTokenTtlSeconds', from: 3600, to: 600 },
        { field: 'requireMfa', from: false, to: true },
      ],
    },
  });
});

test('an unknown field is refused by its name, and nothing else of the body is stored', async () => {
  const params = await realm();
  const body = { rememberMe: true, acessTokenTtlSeconds: 600 };
  const problem = await refusal(put(params, body));
  expect(problem.status).toBe(400);
  expect(blamed(problem)).toEqual(['acessTokenTtlSeconds']);
  expect(await read(params)).toMatchObject({ rememberMe: false });
});

test.each<[string, SettingsInput, string[]]>([
  ['thresholds that cross', { riskMediumThreshold: 80 }, ['riskMediumThreshold']],
  [
    'both thresholds that cross',
    { riskMediumThreshold: 60, riskHighThreshold: 50 },
    ['riskMediumThreshold', 'riskHighThreshold'],
  ],
  ['a default locale that is not supported', { defaultLocale: 'de' }, ['defaultLocale']],
  ['a flow that does not exist', { browserFlow: 'nowhere' }, ['browserFlow']],
  ['the realm id of another realm', { realmId: 'master' }, ['realmId']],
  ['a locale twice', { supportedLocales: ['en', 'en'] }, ['supportedLocales']],
  ['a resource twice', { resourceIndicators: ['https://a.example', 'https://a.example'] }, ['resourceIndicators']],
  ['an issuer with a query', { issuer: 'https://id.example/?a=b' }, ['issuer']],
  ['an issuer by plain http', { issuer: 'http://login.example' }, ['issuer']],
  ['two faults at once', { defaultLocale: 'de', browserFlow: 'nowhere' }, ['defaultLocale', 'browserFlow']],
])('%s: a 400 that names each field', async (_, body, fields) => {
  const params = await realm();
  const before = await read(params);
  const problem = await refusal(put(params, body));
  expect(problem.status).toBe(400);
  expect(blamed(problem)).toEqual(fields);
  expect(await read(params)).toEqual(before);
});

test.each<[keyof SettingsInput, unknown]>([
  ['accessTokenTtlSeconds', 0],
  ['accessTokenTtlSeconds', '3600'],
  ['accessTokenTtlSeconds', null],
  ['maxConcurrentSessions', -1],
  ['primaryColor', 'red; background: url(x)'],
  ['logoUrl', 'javascript:alert(1)'],
  ['riskLowAction', 'ask'],
  ['captchaProvider', 'unknown'],
  ['welcomeText', 'with a \0'],
  ['resourceIndicators', ['https://api.example/#fragment']],
])('%s: %j is refused by name', async (field, value) => {
  const params = await realm();
  const body: Record<string, unknown> = { [field]: value };
  const problem = await refusal(put(params, body));
  expect(problem.status).toBe(400);
  expect(blamed(problem)?.[0]).toMatch(new RegExp(`^${field}`));
});

test("an issuer is another realm's only in that realm", async () => {
  const params = await realm();
  const issuer = `${server.baseUrl}/realms/master`;
  expect(blamed(await refusal(put(params, { issuer })))).toEqual(['issuer']);
  await put(params, { issuer: 'https://id.example' });
  expect((await server.admin.call(getRealm, { params })).body?.issuer).toBe('https://id.example');
});

describe('two realms have no issuer in common', () => {
  const apply = (params: { realm: string }, issuer: string, dryRun: 'true' | 'false' = 'false') =>
    server.admin.call(importRealm, { params, query: { manager: 'm', dryRun }, body: { realm: { issuer } } });
  const taken = { status: 409, problem: { type: 'urn:svc:problem:name-taken' } };

  test('by settings, by document, by a plan, with a slash or without; and nobody learns whose it is', async () => {
    const [first, second] = [await realm(), await realm()];
    const issuer = 'https://login.shared.example/tenant';
    await put(first, { issuer });
    for (const asked of [issuer, `${issuer}/`]) {
      const refused = [
        await refusal(put(second, { issuer: asked })),
        await refusal(apply(second, asked)),
        await refusal(apply(second, asked, 'true')),
      ];
      for (const problem of refused) {
        expect(problem).toMatchObject(taken);
        expect(JSON.stringify(problem.problem)).not.toContain(first.realm);
      }
      expect(refused.map(blamed)).toEqual([['issuer'], ['realm.issuer'], ['realm.issuer']]);
    }
    await put(first, { issuer });
    await put(first, { issuer: null });
    expect((await put(second, { issuer })).body?.issuer).toBe(issuer);
  });

  test('by writes at once, whichever way they come', async () => {
    const realms = await Promise.all(Array.from({ length: 6 }, realm));
    const issuer = 'https://login.race.example';
    const answers = await Promise.allSettled(
      realms.map((params, i) => (i % 2 === 0 ? put(params, { issuer }) : apply(params, issuer))),
    );
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    expect(refused).toHaveLength(realms.length - 1);
    for (const problem of refused) expect(problem).toMatchObject(taken);
    const has = await Promise.all(realms.map(async (params) => (await read(params))?.issuer));
    expect(has.filter((one) => one === issuer)).toHaveLength(1);
  });

  test('and a deleted realm’s is free again', async () => {
    const [first, second] = [await realm(), await realm()];
    const issuer = 'https://login.gone.example';
    await put(first, { issuer });
    await server.admin.call(deleteRealm, { params: first });
    await put(second, { issuer });
  });
});

test('a write with If-Match holds only while the settings are what was read', async () => {
  const params = await realm();
  const { etag = '' } = await server.admin.call(getSettings, { params });
  await put(params, { rememberMe: true }, { 'if-match': etag });
  expect((await refusal(put(params, { rememberMe: false }, { 'if-match': etag }))).status).toBe(412);
  expect(await read(params)).toMatchObject({ rememberMe: true });
  const fresh = await server.admin.call(getSettings, { params });
  await put(params, { rememberMe: false }, { 'if-match': fresh.etag ?? '' });
});

test('an unchanged read is 304', async () => {
  const params = await realm();
  const { etag = '' } = await server.admin.call(getSettings, { params });
  const again = await server.admin.call(getSettings, { params, headers: { 'if-none-match': etag } });
  expect(again.status).toBe(304);
});

test('writes at once lose nothing, and the same write at once is one event', async () => {
  const params = await realm();
  const bodies: SettingsInput[] = [
    { accessTokenTtlSeconds: 60 },
    { refreshTokenTtlSeconds: 61 },
    { ssoSessionIdleTimeoutSeconds: 62 },
    { passwordMinLength: 13 },
    { resourceIndicators: ['https://api.example'] },
  ];
  await Promise.all(bodies.map((body) => put(params, body)));
  expect(await read(params)).toMatchObject(Object.assign({}, ...bodies));
  await Promise.all(Array.from({ length: 6 }, () => put(params, { requireMfa: true })));
  const { body } = await server.admin.call(listEvents, { params, query: { type: 'SETTINGS_UPDATED' } });
  expect(body).toHaveLength(bodies.length + 1);
});

test('who may only read settings is refused a write; who has nothing here, the read too', async () => {
  const params = await realm();
  const other = await realm();
  const auditor = await administrator(server, { target: params.realm, permissions: ['settings:read'] });
  expect((await auditor.call(getSettings, { params })).body).toEqual(await read(params));
  expect((await refusal(auditor.call(putSettings, { params, body: { rememberMe: true } }))).status).toBe(403);
  expect((await refusal(auditor.call(getSettings, { params: other }))).status).toBe(403);
});

test('what one realm sets, another one does not have', async () => {
  const [params, other] = [await realm(), await realm()];
  const before = await read(other);
  await put(params, { accessTokenTtlSeconds: 77, welcomeText: 'Hello' });
  expect(await read(other)).toEqual(before);
});
