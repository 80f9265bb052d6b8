// The state of an installation, as the server that answers sees it: a list of checks with advice. Decisions "Diagnostics".
import { z } from 'zod';
import { EpochMs } from './names.ts';
import { route } from './route.ts';

export const checkSubjects = [
  'base-address',
  'proxies',
  'health',
  'database-version',
  'database-schema',
  'database-extensions',
  'database-encryption',
  'database-connections',
  'database-transactions',
  'database-vacuum',
  'database-replication',
  'slow-statements',
  'clock',
  'master-key',
  'key-custodian',
  'server-certificates',
  'expiring',
  'mail',
  'messages',
  'webhooks',
  'jobs',
  'audit-forwarding',
  'directories',
  'provisioning',
] as const;
export type CheckSubject = (typeof checkSubjects)[number];

export const CheckStatus = z.enum(['ok', 'warning', 'failure', 'skipped']);
export type CheckStatus = z.infer<typeof CheckStatus>;

export const Check = z
  .object({
    subject: z.enum(checkSubjects),
    status: CheckStatus.describe('`skipped`: the check could not be made; `message` says why'),
    message: z.string().describe('The result, in words'),
    advice: z.string().nullable().describe('How to mend it; null where nothing is to be done'),
    details: z.array(z.string()).describe('The things it is about, at most 20'),
  })
  .meta({ id: 'Check' });
export type Check = z.infer<typeof Check>;

export const Diagnostics = z
  .object({
    checkedAt: EpochMs,
    version: z.string(),
    node: z.string(),
    configuration: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .describe(
        'Settings of the server’s environment. Of those that hold an address, a name or a secret only `(set)` is shown',
      ),
    checks: z.array(Check),
  })
  .meta({ id: 'Diagnostics' });
export type Diagnostics = z.infer<typeof Diagnostics>;

export const getDiagnostics = route({
  method: 'GET',
  path: '/admin/diagnostics',
  tag: 'monitoring',
  summary: 'Checks of the installation, with advice',
  description:
    'The database, its replicas and upkeep, the clock, the master key and its custodian, proxies, mail, deliveries, jobs, certificates and secrets that end. The replica that answers checks; a result is kept for five seconds. Needs `realm:read` over every realm. Holds no secrets, and no personal data but names of configured things.',
  permission: null,
  response: Diagnostics,
  problems: ['forbidden'],
});
