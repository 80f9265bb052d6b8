// Owns: the responses for health, build information, metrics and the audit configuration; draining.
// Does not own: counting (events/metrics.ts), a component's check (components.ts), a realm's health (realms).
// Implements: specification 4.9, 6.3; decisions "Monitoring".
import { EventTypeName } from '../../../contract/events.ts';
import type { AuditConfig, MetricsSummary } from '../../../contract/monitoring.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Metrics } from '../../../events/metrics.ts';
import { createHealth, type HealthComponent } from './health.ts';

export interface MonitoringDeps {
  sql: Sql;
  now: () => Date;
  metrics: Metrics;
  components: readonly HealthComponent[];
  build: { name: string; version: string };
  /** undefined: events are never deleted. */
  eventRetentionDays?: number | undefined;
  forwarding(): Promise<AuditConfig['forwarding']>;
}

export function createMonitoring({
  sql,
  now,
  metrics,
  components,
  build,
  eventRetentionDays,
  forwarding,
}: MonitoringDeps) {
  let draining = false;
  const startedAt = now().getTime();

  return {
    health: createHealth(components, { draining: () => draining }),

    /** Turns readiness off; running requests are finished. */
    drain(): void {
      draining = true;
    },

    info: { build, runtime: { node: process.version } },

    metricsText: () => metrics.text(),

    async summary(): Promise<MetricsSummary> {
      const { logins, adminWrites, ...totals } = await metrics.totals();
      const [row] = await sql<{ realms: number }>`select count(*)::int as realms from realm where deleted_at is null`;
      const { rss, heapUsed } = process.memoryUsage();
      return {
        startedAt,
        uptimeSeconds: Math.round(process.uptime()),
        realms: row?.realms ?? 0,
        logins: { success: logins.success ?? 0, failure: logins.failure ?? 0 },
        ...totals,
        adminWrites: {
          success: adminWrites.success ?? 0,
          denied: adminWrites.denied ?? 0,
          failure: adminWrites.failure ?? 0,
        },
        memory: { residentBytes: rss, heapUsedBytes: heapUsed },
      };
    },

    async auditConfig(): Promise<AuditConfig> {
      return {
        enabled: true,
        store: 'postgresql',
        retentionDays: eventRetentionDays ?? null,
        forwarding: await forwarding(),
        eventTypes: [...EventTypeName.options],
      };
    },
  };
}
export type Monitoring = ReturnType<typeof createMonitoring>;
