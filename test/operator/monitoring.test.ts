// What Prometheus and the kubelet see of a real operator that is started with --listen, while it works on a real server.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putSettings } from '../../server/contract/settings.ts';
import { compileCache } from '../support/compile-cache.ts';
import { freePort } from '../support/free-port.ts';
import { createFolder, eventually, type Folder, OPERATOR_SECRET, resource } from '../support/operator.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let folder: Folder;
let operator: ChildProcess;
let address: string;
const params = { realm: 'acme' };
const theRealm = (more: object = {}) =>
  resource('Realm', 'acme', { realm: 'acme', settings: { displayName: 'Acme' }, ...more }, { namespace: 'identity' });

/** The metrics by series, as far as they are the operator's own. */
async function metrics(): Promise<Map<string, number>> {
  const answer = await fetch(`${address}/metrics`);
  expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}
const holds = (series: string, value: number | undefined) =>
  eventually(async () => expect({ [series]: (await metrics()).get(series) }).toEqual({ [series]: value }));

const changeByHand = (displayName: string) => server.admin.call(putSettings, { params, body: { displayName } });

beforeAll(async () => {
  server = await startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET } });
  folder = await createFolder();
  const port = await freePort();
  address = `http://127.0.0.1:${port}`;
  const main = path.resolve(import.meta.dirname, '../../operator/main.ts');
  operator = spawn(process.execPath, [main, '--manifests', folder.dir, '--listen', `127.0.0.1:${port}`], {
    env: {
      PATH: process.env.PATH ?? '',
      ...compileCache(),
      SVC_SERVER_URL: server.baseUrl,
      SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET,
    },
    stdio: 'ignore',
  });
  await eventually(async () => expect((await fetch(`${address}/readyz`)).status).toBe(200));
});
afterAll(async () => {
  operator?.kill('SIGTERM');
  if (operator && operator.exitCode === null) await once(operator, 'exit');
  await server?.stop();
  await folder?.drop();
});

test('passes, plans and states are counted', async () => {
  expect(await (await fetch(`${address}/healthz`)).text()).toBe('ok\n');
  await folder.write('realm.yaml', theRealm());
  await holds('svc_operator_resources{kind="Realm",state="Ready"}', 1);
  await holds('svc_operator_server_up', 1);
  await holds('svc_operator_queue_depth', 0);
  const found = await metrics();
  expect(found.get('svc_operator_reconciles_total{kind="Realm",outcome="Ready"}')).toBeGreaterThan(0);
  expect(found.get('svc_operator_reconcile_duration_seconds_count{kind="Realm"}')).toBeGreaterThan(0);
  expect(found.get('svc_operator_queue_wait_seconds_count')).toBeGreaterThan(0);
  expect(found.get('svc_operator_plan_changes_count')).toBe(1);
  expect(found.get('svc_operator_drift_found_total{kind="Realm"}')).toBe(0);
  expect(found.get('process_cpu_seconds_total')).toBeGreaterThan(0);
  // Prometheus' linter: only a counter's name ends so.
  expect(await (await fetch(`${address}/metrics`)).text()).not.toMatch(/^# TYPE \S+_total (?!counter)/m);
});

test('drift that is repaired is counted, and leaves no series behind', async () => {
  await changeByHand('By hand');
  await holds('svc_operator_drift_found_total{kind="Realm"}', 1);
  await holds('svc_operator_resources{kind="Realm",state="Ready"}', 1);
  expect([...(await metrics()).keys()].filter((name) => name.startsWith('svc_operator_drifted'))).toEqual([]);
});

test('drift that is reported has a series for as long as it lasts, and is counted once', async () => {
  const series = 'svc_operator_drifted{kind="Realm",namespace="identity",name="acme"}';
  await folder.write('realm.yaml', theRealm({ driftPolicy: 'Report', roles: [{ name: 'reader' }] }));
  await eventually(async () => expect((await metrics()).get('svc_operator_plan_changes_count')).toBe(3));
  const before = (await metrics()).get('svc_operator_drift_found_total{kind="Realm"}') ?? Number.NaN;
  await changeByHand('By hand again');
  await holds(series, 1);
  await holds('svc_operator_resources{kind="Realm",state="Drifted"}', 1);
  await changeByHand('And again');
  await changeByHand('Acme');
  await holds(series, undefined);
  await holds('svc_operator_resources{kind="Realm",state="Ready"}', 1);
  expect((await metrics()).get('svc_operator_drift_found_total{kind="Realm"}')).toBe(before + 1);

  await changeByHand('By hand at last');
  await holds(series, 1);
  await folder.remove('realm.yaml');
  await holds(series, undefined);
  await holds('svc_operator_resources{kind="Realm",state="Drifted"}', 0);
});

test('a server that is away shows as a figure, and is no reason to restart the operator', async () => {
  await server.app.http.close();
  await holds('svc_operator_server_up', 0);
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  expect((await fetch(`${address}/readyz`)).status).toBe(200);
});
