// The composition root's part for the server's own reports: its audit log, metrics, refusals, health. It decides
// nothing. Specification 4.9, 6.
import { watched } from '../config.ts';
import { staleOf } from '../config-database.ts';
import { VERSION } from '../contract/version.ts';
import { createDenials } from '../events/denials.ts';
import { createMetrics } from '../events/metrics.ts';
import { components } from '../features/operations/monitoring/components.ts';
import { createMonitoring } from '../features/operations/monitoring/service.ts';
import { createCounting } from '../features/operations/statistics/counting.ts';
import { dueJobs } from '../jobs/due.ts';
import { createAudit } from './audit.ts';
import type { Infrastructure } from './infrastructure.ts';

export { VERSION };

export function createObservation(below: Infrastructure) {
  const { config, sql, transact, bus, realmExists, existingRealms, now } = below;
  const audit = createAudit({ ...below, soonMs: below.soonMs });
  const metrics = createMetrics({
    histogram: config.SVC_HTTP_HISTOGRAM,
    realmExists,
    existing: existingRealms,
    forwarding: audit.status,
    dueJobs: () => dueJobs(sql),
  });
  bus.on(metrics.count);
  const monitoring = createMonitoring({
    sql,
    now,
    metrics,
    components: components({
      ...watched(config),
      sql,
      now,
      custody: below.custody,
      spareMs: staleOf(config).readinessMs,
    }),
    build: { name: 'realmkeeper', version: VERSION },
    eventRetentionDays: config.SVC_EVENT_RETENTION_DAYS,
    forwarding: audit.status,
  });
  const denied = createDenials({ transact, realmExists });
  return { audit, metrics, denied, monitoring, counting: createCounting(below) };
}
export type Observed = Infrastructure & ReturnType<typeof createObservation>;
