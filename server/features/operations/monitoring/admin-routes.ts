// Binds the monitoring routes of contract/monitoring.ts, which are for administrators of the whole server.
import type { FastifyInstance } from 'fastify';
import { getAuditConfig, getMetricsSummary } from '../../../contract/monitoring.ts';
import { bind } from '../../../http/bind.ts';
import type { May } from '../admin-access/may.ts';
import type { Monitoring } from './service.ts';

export function monitoringAdminRoutes(
  app: FastifyInstance,
  { may, monitoring }: { may: Pick<May, 'requireEverywhere'>; monitoring: Pick<Monitoring, 'summary' | 'auditConfig'> },
): void {
  bind(app, getMetricsSummary, async ({ request }) => {
    await may.requireEverywhere(request, 'realm:read');
    return monitoring.summary();
  });
  bind(app, getAuditConfig, async ({ request }) => {
    await may.requireEverywhere(request, 'events:read');
    return monitoring.auditConfig();
  });
}
