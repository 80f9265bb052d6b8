// Anonymous health, metrics and build information. Specification 4.9 and 6.3; decisions "Monitoring".
import { z } from 'zod';
import { EventTypeName } from './events.ts';
import { EpochMs } from './names.ts';
import { route } from './route.ts';

const Status = z.enum(['UP', 'DOWN']);
export const Health = z
  .object({
    status: Status,
    groups: z.array(z.string()).optional(),
    components: z.record(z.string(), z.object({ status: Status })).optional(),
  })
  .meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;
export const Info = z
  .object({ build: z.object({ name: z.string(), version: z.string() }), runtime: z.object({ node: z.string() }) })
  .meta({ id: 'Info' });

const tag = 'monitoring';
export const MetricsSummary = z
  .object({
    startedAt: EpochMs,
    uptimeSeconds: z.number(),
    realms: z.int(),
    logins: z.object({ success: z.int(), failure: z.int() }),
    tokensIssued: z.int(),
    mfaChallenges: z.int(),
    adminWrites: z.object({ success: z.int(), denied: z.int(), failure: z.int() }),
    memory: z.object({ residentBytes: z.int(), heapUsedBytes: z.int() }),
  })
  .meta({ id: 'MetricsSummary' });
export type MetricsSummary = z.infer<typeof MetricsSummary>;
export const getMetricsSummary = route({
  method: 'GET',
  path: '/admin/metrics/summary',
  tag,
  summary: 'The server’s metrics in sums',
  description: 'Counts of the replica that answers, since it started. Needs `realm:read` over every realm.',
  permission: null,
  response: MetricsSummary,
  problems: ['forbidden'],
});

export const AuditConfig = z
  .object({
    enabled: z.boolean(),
    store: z.string().describe('Where the audit log is kept'),
    retentionDays: z.int().nullable().describe('null: events are kept until their realm is deleted'),
    forwarding: z
      .object({
        enabled: z.boolean(),
        target: z.string().nullable().describe('Without what may be secret in its address'),
        format: z.string().nullable(),
        waiting: z.int().describe('Events that the receiver has not got yet; 100,000 stand for more'),
        oldestWaitingAt: EpochMs.nullable(),
        sent: z.int().describe('Since it was first configured'),
        lastSentAt: EpochMs.nullable(),
        lastError: z.string().nullable().describe('null: what was sent last was taken'),
        cut: z.int().describe('Events that the receiver refused again and again, and has without their `data`'),
        lastCutId: z.uuid().nullable().describe('The last of these'),
      })
      .describe('To a SIEM'),
    eventTypes: z.array(EventTypeName),
  })
  .meta({ id: 'AuditConfig' });
export type AuditConfig = z.infer<typeof AuditConfig>;
export const getAuditConfig = route({
  method: 'GET',
  path: '/admin/audit/config',
  tag,
  summary: 'How the audit log is kept',
  description: 'Needs `events:read` over every realm.',
  permission: null,
  response: AuditConfig,
  problems: ['forbidden'],
});
