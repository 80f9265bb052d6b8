import { rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProblem } from '../../../server/contract/client.ts';
import { EventTypeName } from '../../../server/contract/events.ts';
import { getAuditConfig, getMetricsSummary } from '../../../server/contract/monitoring.ts';
import { createRealm, deleteRealm } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { administrator } from '../../support/administrators.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const get = (at: string, on: TestServer = server) => fetch(`${on.baseUrl}${at}`);
const metrics = async (on: TestServer = server) => (await get('/actuator/metrics-text', on)).text();
/** The value of one series; undefined where there is none. */
async function series(name: string, labels: Record<string, string>): Promise<number | undefined> {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  const line = (await metrics())
    .split('\n')
    .find((text) => text.startsWith(`${name}{`) && wanted.every((label) => text.includes(label)));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}
async function refused(answer: Promise<unknown>): Promise<number> {
  const error = await answer.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ServerProblem) return error.status;
  throw new Error('not refused');
}

test('health names its groups and every component, and the groups answer by themselves', async () => {
  const response = await get('/actuator/health');
  expect(response.status).toBe(200);
  const up = { status: 'UP' };
  expect(await response.json()).toEqual({
    status: 'UP',
    groups: ['liveness', 'readiness'],
    components: {
      db: up,
      diskSpace: up,
      livenessState: up,
      ping: up,
      readinessState: up,
      sessionCache: up,
      ssl: up,
    },
  });
  for (const group of ['liveness', 'readiness']) {
    const answer = await get(`/actuator/health/${group}`);
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'UP' }]);
  }
});

test('no monitoring endpoint sets a cookie, asks for one, or is kept by a cache', async () => {
  for (const at of ['health', 'health/liveness', 'health/readiness', 'info', 'metrics-text']) {
    const answer = await get(`/actuator/${at}`);
    expect([at, answer.status, answer.headers.getSetCookie()]).toEqual([at, 200, []]);
    expect([at, answer.headers.get('cache-control')]).toEqual([at, 'no-store']);
  }
});

test('info has the build and its version', async () => {
  expect(await (await get('/actuator/info')).json()).toEqual({
    build: { name: 'realmkeeper', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
    runtime: { node: process.version },
  });
});

test('one failed optional component: DOWN as a whole, while liveness and readiness stay UP', async () => {
  const full = await startTestServer({ env: { SVC_DISK_FREE_MIN_BYTES: String(2 ** 52) } });
  try {
    const response = await get('/actuator/health', full);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      status: 'DOWN',
      components: {
        diskSpace: { status: 'DOWN' },
        db: { status: 'UP' },
        livenessState: { status: 'UP' },
        readinessState: { status: 'UP' },
      },
    });
    expect((await get('/actuator/health/liveness', full)).status).toBe(200);
    expect((await get('/actuator/health/readiness', full)).status).toBe(200);
  } finally {
    await full.stop();
  }
});

test('a certificate file that holds no certificate is shown by ssl', async () => {
  const file = path.join(os.tmpdir(), `no-certificate-${process.pid}.pem`);
  await writeFile(file, '-----BEGIN CERTIFICATE-----\nbm90aGluZw==\n-----END CERTIFICATE-----\n');
  const broken = await startTestServer({ env: { SVC_CLUSTER_CA_FILE: file } });
  try {
    expect(await (await get('/actuator/health', broken)).json()).toMatchObject({
      status: 'DOWN',
      components: { ssl: { status: 'DOWN' }, readinessState: { status: 'UP' } },
    });
  } finally {
    await broken.stop();
    await rm(file);
  }
});

test('without its database the server is alive, but not ready; with it again, it is', async () => {
  const alone = await startTestServer();
  const name = new URL(alone.databaseUrl).pathname.slice(1);
  const onServer = (sql: string) => connectedCluster(server.databaseUrl, (client) => client.query(sql));
  const admit = (yes: boolean) => onServer(`alter database ${name} allow_connections ${yes}`);
  // again and again: a connection that was just being made is not seen the first time
  const cut = () => onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  const until = (at: string, status: number, meanwhile: () => Promise<unknown> = async () => {}) =>
    expect
      .poll(async () => {
        await meanwhile();
        return (await get(at, alone)).status;
      })
      .toBe(status);
  try {
    await admit(false);
    await until('/actuator/health/readiness', 503, cut);
    expect(await (await get('/actuator/health/liveness', alone)).json()).toEqual({ status: 'UP' });
    const whole = await get('/actuator/health', alone);
    expect(await whole.json()).toMatchObject({
      status: 'DOWN',
      components: { db: { status: 'DOWN' }, readinessState: { status: 'DOWN' }, livenessState: { status: 'UP' } },
    });
    expect((await get('/actuator/metrics-text', alone)).status).toBe(200);
    await admit(true);
    await until('/actuator/health/readiness', 200);
    await until('/actuator/health', 200);
  } finally {
    await admit(true);
    await alone.stop();
  }
});

test('sign-ins are counted by realm and outcome', async () => {
  const before = (await series('svc_login_total', { realm: 'master', outcome: 'failure' })) ?? 0;
  await expect(server.signIn({ username: 'admin', password: 'not the password' })).rejects.toThrow('401');
  expect(await series('svc_login_total', { realm: 'master', outcome: 'failure' })).toBe(before + 1);
  const good = (await series('svc_login_total', { realm: 'master', outcome: 'success' })) ?? 0;
  await server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
  expect(await series('svc_login_total', { realm: 'master', outcome: 'success' })).toBe(good + 1);
});

test('admin writes are counted by realm, method and outcome; a denied one as denied', async () => {
  const params = { realm: 'counted' };
  await server.admin.call(createRealm, { body: params });
  await server.admin.call(putSettings, { params, body: { rememberMe: true } });
  const labels = { realm: 'counted', method: 'PUT' };
  expect(await series('svc_admin_write_total', { ...labels, outcome: 'success' })).toBe(1);
  const reader = await administrator(server, { target: 'counted', permissions: ['settings:read'] });
  expect(await refused(reader.call(putSettings, { params, body: { rememberMe: false } }))).toBe(403);
  expect(await series('svc_admin_write_total', { ...labels, outcome: 'denied' })).toBe(1);
  await fetch(`${server.baseUrl}/admin/realms/counted/settings`, { method: 'PUT', body: '{}' });
  expect(await series('svc_admin_write_total', { ...labels, outcome: 'denied' })).toBe(2);
});

test('a made-up realm gets no label, and a deleted one keeps none', async () => {
  await fetch(`${server.baseUrl}/admin/realms/made-up/settings`, { method: 'PUT', body: '{}' });
  expect(await metrics()).not.toContain('made-up');
  const params = { realm: 'short-lived' };
  await server.admin.call(createRealm, { body: params });
  await server.admin.call(putSettings, { params, body: { rememberMe: true } });
  expect(await metrics()).toContain('realm="short-lived"');
  await server.admin.call(deleteRealm, { params });
  expect(await metrics()).not.toContain('short-lived');
});

test('the text has the four counters, the process and HTTP by route; latency buckets only when asked for', async () => {
  const text = await metrics();
  const answer = await get('/actuator/metrics-text');
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  for (const name of ['svc_login_total', 'svc_tokens_issued_total', 'svc_mfa_challenge_total', 'svc_admin_write_total'])
    expect(text).toContain(`# TYPE ${name} counter`);
  expect(text).toMatch(/^process_cpu_seconds_total \d/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
  // Prometheus' linter: only a counter's name ends so.
  expect(text).not.toMatch(/^# TYPE \S+_total (?!counter)/m);
  const labels = '\\{method="GET",uri="/actuator/health",status="200"\\}';
  expect(text).toMatch(new RegExp(`^http_server_requests_seconds_count${labels} \\d+$`, 'm'));
  expect(text).toMatch(new RegExp(`^http_server_requests_seconds_sum${labels} [\\d.e-]+$`, 'm'));
  expect(text).not.toContain('http_server_requests_seconds_bucket');

  const detailed = await startTestServer({ env: { SVC_HTTP_HISTOGRAM: 'true' } });
  try {
    await get('/actuator/health', detailed);
    const more = await metrics(detailed);
    expect(more).toMatch(/^http_server_requests_seconds_bucket\{le="0.005",method="GET"/m);
    expect(more).toMatch(/^http_server_requests_seconds_count\{/m);
  } finally {
    await detailed.stop();
  }
});

test('a request to the admin API is counted once, by its route', async () => {
  const name = 'http_server_requests_seconds_count';
  const counts = async () => [
    (await series(name, { method: 'GET', uri: '/admin/realms/:realm/settings' })) ?? 0,
    (await series(name, { method: 'GET', uri: 'NOT_FOUND' })) ?? 0,
  ];
  const [admin = 0, unknown = 0] = await counts();
  await get('/admin/realms/master/settings');
  expect(await counts()).toEqual([admin + 1, unknown]);
});

test('requests to addresses that do not exist share one series', async () => {
  for (let i = 0; i < 5; i += 1) await get(`/nowhere/${i}`);
  const text = await metrics();
  expect(text).not.toContain('/nowhere/');
  expect(await series('http_server_requests_seconds_count', { uri: 'NOT_FOUND', status: '404' })).toBe(5);
});

test('the summary and the audit configuration are for administrators of every realm', async () => {
  const { body } = await server.admin.call(getMetricsSummary);
  expect(body?.realms).toBeGreaterThan(0);
  expect(body?.logins.success).toBeGreaterThan(0);
  expect(body?.adminWrites.success).toBeGreaterThan(0);
  expect((await server.admin.call(getAuditConfig)).body).toEqual({
    enabled: true,
    store: 'postgresql',
    retentionDays: null,
    forwarding: {
      enabled: false,
      target: null,
      format: null,
      waiting: 0,
      oldestWaitingAt: null,
      sent: 0,
      lastSentAt: null,
      lastError: null,
      cut: 0,
      lastCutId: null,
    },
    eventTypes: EventTypeName.options,
  });
  await server.admin.call(createRealm, { body: { realm: 'of-one' } });
  const local = await administrator(server, { target: 'of-one', permissions: ['realm:read', 'events:read'] });
  expect(await refused(local.call(getMetricsSummary))).toBe(403);
  expect(await refused(local.call(getAuditConfig))).toBe(403);
  expect((await get('/admin/metrics/summary')).status).toBe(401);
});

test('while draining, readiness is off and requests are still served', async () => {
  const leaving = await startTestServer({ env: { SVC_DRAIN_SECONDS: '2' } });
  const stopped = leaving.stop();
  expect((await get('/actuator/health/readiness', leaving)).status).toBe(503);
  expect((await get('/actuator/health/liveness', leaving)).status).toBe(200);
  expect((await get('/actuator/info', leaving)).status).toBe(200);
  await stopped;
  await expect(get('/actuator/health/liveness', leaving)).rejects.toThrow();
});
