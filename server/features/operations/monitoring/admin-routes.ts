// Binds the monitoring routes of contract/monitoring.ts, which are for administrators of the whole server.
import type { FastifyInstance } from 'fastify';
import { getAuditConfig, getMetricsSummary } from '../../../contract/monitoring.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { Monitoring } from './service.ts';

export function monitoringAdminRoutes(app: FastifyInstance, monitoring: Monitoring): void {
  bind(app, getMetricsSummary, ({ request }) => {
    const { ip, method, url: path } = request;
    return monitoring.summary({ principal: principalOf(request), ip, method, path });
  });
  bind(app, getAuditConfig, ({ request }) => {
    const { ip, method, url: path } = request;
    return monitoring.auditConfig({ principal: principalOf(request), ip, method, path });
  });
}
