// The operator's probes over HTTP under a clock of the test's own, and its metrics of resources as their status says.
import { afterEach, expect, test } from 'vitest';
import { createOperatorMetrics, type State, stateOf } from '../../operator/metrics.ts';
import { type Monitoring, startMonitoring } from '../../operator/monitoring.ts';
import { resourceOf } from '../../operator/resource.ts';
import type { Timers } from '../../operator/runtime/queue.ts';

let monitoring: Monitoring | undefined;
afterEach(() => monitoring?.stop());

async function start() {
  let time = 0;
  let beat = () => {};
  const timers: Timers = {
    now: () => time,
    after(_, call) {
      beat = call;
      return () => {};
    },
    random: () => 0,
  };
  const started = await startMonitoring({ host: '127.0.0.1', port: 0, timers, processMetrics: false });
  monitoring = started;
  return {
    monitoring: started,
    /** The loop beats on, or is held all the while and beats once at the end. */
    pass(ms: number, { held = false } = {}) {
      for (let left = ms; left > 0; left -= held ? ms : 1_000) {
        time += held ? ms : 1_000;
        beat();
      }
    },
    async get(path: string, method = 'GET') {
      const answer = await fetch(`http://127.0.0.1:${started.port}${path}`, { method });
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    },
  };
}

test('ready is who has listed everything; healthy already before', async () => {
  const { monitoring, get } = await start();
  expect(await get('/healthz')).toMatchObject({ status: 200, text: 'ok\n' });
  expect(await get('/readyz')).toMatchObject({ status: 503 });
  monitoring.follow({ runningSince: () => undefined });
  expect(await get('/readyz')).toMatchObject({ status: 200, text: 'ok\n' });
});

test('a pass that runs longer than any pass can is unhealthy, until it ends', async () => {
  const { monitoring, get, pass } = await start();
  let since: number | undefined = 0;
  monitoring.follow({ runningSince: () => since });
  pass(600_000);
  expect(await get('/healthz')).toMatchObject({ status: 200 });
  pass(1_000);
  expect(await get('/healthz')).toMatchObject({ status: 503, text: 'a pass has been running for 601 seconds\n' });
  since = 600_000;
  expect(await get('/healthz')).toMatchObject({ status: 200 });
});

test('an event loop that was blocked longer than a lease may last is unhealthy for a minute', async () => {
  const { get, pass } = await start();
  pass(60_000);
  pass(9_000, { held: true });
  expect(await get('/healthz')).toMatchObject({ status: 200 });
  pass(12_000, { held: true });
  expect(await get('/healthz')).toMatchObject({ status: 503, text: 'the event loop was blocked for 11 seconds\n' });
  pass(59_000);
  expect(await get('/healthz')).toMatchObject({ status: 503 });
  pass(1_000);
  expect(await get('/healthz')).toMatchObject({ status: 200 });
});

test('nothing else is answered, and nothing but GET and HEAD', async () => {
  const { get } = await start();
  for (const path of ['/', '/metrics/', '/healthz/x', '/..%2fmetrics'])
    expect(await get(path)).toMatchObject({ status: 404 });
  expect(await get('/metrics?x=1')).toMatchObject({ status: 200 });
  expect(await get('/metrics', 'HEAD')).toMatchObject({ status: 200, text: '' });
  const refused = await get('/metrics', 'POST');
  expect(refused.status).toBe(405);
  expect(refused.headers.get('allow')).toBe('GET, HEAD');
});

const condition = (type: string, status: string, reason: string, observedGeneration = 2) => ({
  type,
  status,
  reason,
  message: '',
  observedGeneration,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const withConditions = (...conditions: object[]) =>
  resourceOf('Flow', {
    metadata: { name: 'a', namespace: 'team', uid: 'u', generation: 2 },
    spec: {},
    status: { conditions },
  });
const cases: [State, object[]][] = [
  ['Unknown', []],
  ['Ready', [condition('Ready', 'True', 'Applied')]],
  ['Unknown', [condition('Ready', 'True', 'Applied', 1)]],
  ['Drifted', [condition('Ready', 'True', 'Reported'), condition('Drifted', 'True', 'DriftFound')]],
  ['Stalled', [condition('Ready', 'False', 'Conflict'), condition('Stalled', 'True', 'Conflict')]],
  ['Waiting', [condition('Ready', 'False', 'Waiting'), condition('Reconciling', 'True', 'SecretMissing')]],
  ['Suspended', [condition('Suspended', 'True', 'Suspended')]],
];
test.each(cases)('%s is what a status says', (state, conditions) => {
  expect(stateOf(withConditions(...conditions))).toBe(state);
});

test('a series of drift ends with the drift, and with the resource', async () => {
  const metrics = createOperatorMetrics({ processMetrics: false });
  const drifted = withConditions(condition('Ready', 'True', 'Reported'), condition('Drifted', 'True', 'DriftFound'));
  let resources = [drifted];
  metrics.observe({ depth: () => 3, resources: () => resources });
  const series = 'svc_operator_drifted{kind="Flow",namespace="team",name="a"} 1';
  const text = await metrics.text();
  expect(text).toContain(series);
  expect(text).toContain('svc_operator_queue_depth 3');
  expect(text).toContain('svc_operator_resources{kind="Flow",state="Drifted"} 1');
  resources = [withConditions(condition('Ready', 'True', 'Applied'))];
  expect(await metrics.text()).not.toContain('svc_operator_drifted{');
  resources = [drifted];
  expect(await metrics.text()).toContain(series);
  resources = [];
  const after = await metrics.text();
  expect(after).not.toContain('svc_operator_drifted{');
  expect(after).toContain('svc_operator_resources{kind="Flow",state="Drifted"} 0');
});
