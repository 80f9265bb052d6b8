import { expect, test } from 'vitest';
import { bySystem, type EventType } from '../../../server/contract/events.ts';
import { createMetrics } from '../../../server/events/metrics.ts';

function metricsOver(realms: Set<string>) {
  const asked: string[] = [];
  const metrics = createMetrics({
    histogram: false,
    processMetrics: false,
    realmExists: async (realm) => {
      asked.push(realm);
      return realms.has(realm);
    },
    existing: async (names) => new Set(names.filter((name) => realms.has(name))),
  });
  const lines = async () => (await metrics.text()).split('\n').filter((line) => line.startsWith('svc_'));
  return { metrics, asked, lines };
}
const event = (type: EventType, realm: string) => ({ type, realm, by: bySystem });

test.each<[EventType, string[]]>([
  ['LOGIN_SUCCESS', ['svc_login_total{realm="acme",outcome="success"} 1']],
  ['LOGIN_FAILURE', ['svc_login_total{realm="acme",outcome="failure"} 1']],
  ['ADMIN_LOGIN_SUCCESS', ['svc_login_total{realm="acme",outcome="success"} 1']],
  ['ADMIN_LOGIN_FAILURE', ['svc_login_total{realm="acme",outcome="failure"} 1']],
  ['MFA_CHALLENGE', ['svc_mfa_challenge_total{realm="acme"} 1']],
  ['SETTINGS_UPDATED', []],
  ['TOKEN_ISSUED', []],
])('hearing of %s counts %j', async (type, expected) => {
  const { metrics, lines } = metricsOver(new Set(['master', 'acme']));
  metrics.count(event(type, 'acme'));
  expect(await lines()).toEqual(expected);
});

test('a scrape sees what was counted just before it, though the realm had to be looked up', async () => {
  const { metrics, lines } = metricsOver(new Set(['acme']));
  metrics.tokenIssued('acme');
  metrics.tokenIssued('acme');
  expect(await lines()).toEqual(['svc_tokens_issued_total{realm="acme"} 2']);
});

test('a realm that has series is not looked up again', async () => {
  const { metrics, asked, lines } = metricsOver(new Set(['acme']));
  metrics.tokenIssued('acme');
  await lines();
  for (let i = 0; i < 100; i += 1) metrics.tokenIssued('acme');
  expect(await lines()).toEqual(['svc_tokens_issued_total{realm="acme"} 101']);
  expect(asked).toEqual(['acme']);
});

test('however many realms are made up, they share the label of master', async () => {
  const { metrics, lines } = metricsOver(new Set(['master']));
  for (let i = 0; i < 50; i += 1) metrics.adminWrite({ realm: `x-${i}`, method: 'PUT', outcome: 'denied' });
  expect(await lines()).toEqual(['svc_admin_write_total{realm="master",method="PUT",outcome="denied"} 50']);
});

test('the series of a deleted realm end, those of the others go on; made again it begins anew', async () => {
  const realms = new Set(['acme', 'other']);
  const { metrics, lines } = metricsOver(realms);
  for (const realm of realms) {
    metrics.tokenIssued(realm);
    metrics.count(event('LOGIN_SUCCESS', realm));
  }
  await lines();
  realms.delete('acme');
  expect(await lines()).toEqual([
    'svc_login_total{realm="other",outcome="success"} 1',
    'svc_tokens_issued_total{realm="other"} 1',
  ]);
  realms.add('acme');
  metrics.tokenIssued('acme');
  expect(await lines()).toContain('svc_tokens_issued_total{realm="acme"} 1');
});

test('while realms cannot be looked up, metrics are still served', async () => {
  const away = () => Promise.reject(new Error('the database is away'));
  const metrics = createMetrics({ histogram: false, processMetrics: false, realmExists: away, existing: away });
  metrics.adminWrite({ realm: 'acme', method: 'PUT', outcome: 'failure' });
  expect(await metrics.text()).toContain('svc_admin_write_total{realm="master",method="PUT",outcome="failure"} 1');
});

test('requests are counted and timed by method, route and status', async () => {
  const { metrics } = metricsOver(new Set());
  const request = { method: 'GET', uri: '/a/:b', status: 200 };
  metrics.request({ ...request, seconds: 0.25 });
  metrics.request({ ...request, seconds: 0.5 });
  metrics.request({ ...request, status: 404, seconds: 1 });
  const text = await metrics.text();
  expect(text.match(/^# TYPE http_server_requests.*$/gm)).toEqual(['# TYPE http_server_requests_seconds summary']);
  expect(text).toContain('http_server_requests_seconds_count{method="GET",uri="/a/:b",status="200"} 2');
  expect(text).toContain('http_server_requests_seconds_sum{method="GET",uri="/a/:b",status="200"} 0.75');
  expect(text).toContain('http_server_requests_seconds_count{method="GET",uri="/a/:b",status="404"} 1');
  expect(await metrics.text()).toBe(text);
});
