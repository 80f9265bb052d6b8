import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createRequestMetric, FEW_BUCKETS, surfaceOf } from '../../../server/http/request-metric.ts';

describe('the part of the server that a route belongs to', () => {
  test.each([
    ['/realms/:realm/oauth2/token', 'token'],
    ['/realms/:realm/workload-identity/token', 'token'],
    ['/realms/:realm/oauth2/authorize', 'sign-in'],
    ['/realms/:realm/login/forgot', 'sign-in'],
    ['/realms/:realm/saml/idp/sso', 'sign-in'],
    ['/realms/:realm/oauth2/jwks', 'verification'],
    ['/realms/:realm/account/sessions/:id', 'account'],
    ['/realms/:realm/scim/v2/Users', 'scim'],
    ['/admin/realms/:realm/users', 'admin'],
    ['/actuator/health', undefined],
    ['/realms/:realm/push', undefined],
    ['NOT_FOUND', undefined],
  ])('%s: %s', (uri, surface) => {
    expect(surfaceOf(uri)).toBe(surface);
  });
});

describe.each([false, true])('with latency by route: %s', (histogram) => {
  async function text(count: (metric: ReturnType<typeof createRequestMetric>) => void): Promise<string> {
    const registry = new Registry();
    count(createRequestMetric(registry, { histogram }));
    return registry.metrics();
  }

  test('requests count in the buckets of their surface and outcome, and in all larger ones', async () => {
    const uri = '/realms/:realm/oauth2/token';
    const shown = await text((metric) => {
      for (const seconds of [0.01, 0.05, 0.3, 9]) metric({ method: 'POST', uri, status: 200, seconds });
      metric({ method: 'POST', uri, status: 400, seconds: 0.01 });
      metric({ method: 'POST', uri: '/realms/:realm/workload-identity/token', status: 503, seconds: 0.01 });
    });
    const line = (outcome: string, le: number | string) =>
      Number(
        shown.match(
          `svc_requests_seconds_bucket{surface="token",outcome="${outcome}",le="${le.toString().replace('+', '\\+')}"} (\\d+)`,
        )?.[1],
      );
    expect([...FEW_BUCKETS, '+Inf'].map((le) => line('success', le))).toEqual([2, 2, 3, 3, 4]);
    expect([line('refused', 0.05), line('error', 0.05)]).toEqual([1, 1]);
    expect(shown).toContain('svc_requests_seconds_count{surface="token",outcome="success"} 4');
  });

  test('the metric by route is there as before', async () => {
    const shown = await text((metric) => metric({ method: 'GET', uri: '/x', status: 200, seconds: 0.02 }));
    expect(shown).toContain(`# TYPE http_server_requests_seconds ${histogram ? 'histogram' : 'summary'}`);
    expect(shown).toContain('http_server_requests_seconds_count{method="GET",uri="/x",status="200"} 1');
    expect(shown.includes('http_server_requests_seconds_bucket')).toBe(histogram);
  });
});
