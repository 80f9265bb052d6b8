// The anonymous monitoring endpoints under /actuator, without cookie or session. admin-routes.ts has those for
// administrators. Liveness and build information are prepared strings. Specification 4.9.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { Health, Info } from '../../../contract/monitoring.ts';
import type {} from '../../../http/on-demand.ts';
import { pathRealm } from '../../../http/path-realm.ts';
import type { CountRequest } from '../../../http/request-metric.ts';
import { nameRequest } from '../../../telemetry/spans.ts';
import type { HealthStatus } from './health.ts';
import type { Monitoring } from './service.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
/** Anonymous: no scheme. */
const open = { tags: ['monitoring'], security: [] };
const health = { 200: Health.describe('UP'), 503: Health.describe('DOWN') };
const metrics = { description: 'Metrics', content: { 'text/plain': { schema: z.string() } } };

/** Counts every answered request of `app`, by its route's pattern. */
export function countRequests(app: FastifyInstance, count: CountRequest): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, handedOver } = request;
    const { statusCode: status, elapsedTime } = reply;
    if (!handedOver) nameRequest(routeOptions.url ?? 'NOT_FOUND', pathRealm(request));
    if (!handedOver) count({ method, uri: routeOptions.url ?? 'NOT_FOUND', status, seconds: elapsedTime / 1000 });
    done();
  });
}

export function actuatorRoutes(
  app: FastifyInstance,
  { monitoring, metricsType }: { monitoring: Monitoring; metricsType: string },
): void {
  const answer = (reply: FastifyReply, status: HealthStatus, body: string) =>
    reply
      .code(status === 'UP' ? 200 : 503)
      .header('content-type', JSON_TYPE)
      .header('cache-control', 'no-store')
      .send(body);
  const groupBody = { UP: '{"status":"UP"}', DOWN: '{"status":"DOWN"}' };
  const info = JSON.stringify(monitoring.info);

  app.get(
    '/actuator/health',
    { schema: { ...open, operationId: 'getHealth', summary: 'Health of every component', response: health } },
    async (_, reply) => {
      const report = await monitoring.health.report();
      return answer(reply, report.status, JSON.stringify(report));
    },
  );
  for (const group of ['liveness', 'readiness'] as const) {
    const said =
      group === 'liveness'
        ? { operationId: 'getLiveness', summary: 'Should this process be restarted?' }
        : { operationId: 'getReadiness', summary: 'Should this process get traffic?' };
    app.get(`/actuator/health/${group}`, { schema: { ...open, ...said, response: health } }, async (_, reply) => {
      const status = await monitoring.health.group(group);
      return answer(reply, status, groupBody[status]);
    });
  }
  app.get(
    '/actuator/info',
    { schema: { ...open, operationId: 'getInfo', summary: 'Build and version', response: { 200: Info } } },
    async (_, reply) => answer(reply, 'UP', info),
  );
  app.get(
    '/actuator/metrics-text',
    {
      schema: {
        ...open,
        operationId: 'getMetrics',
        summary: 'Metrics in the text exposition format',
        response: { 200: metrics },
      },
    },
    async (_, reply) =>
      reply
        .header('content-type', metricsType)
        .header('cache-control', 'no-store')
        .send(await monitoring.metricsText()),
  );
}
