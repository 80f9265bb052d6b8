// Checks of what the server does in the background: messages, webhooks, jobs, synchronizations, and what ends soon.
import { DAY_MS } from '../../../contract/durations.ts';
import type { AuditConfig } from '../../../contract/monitoring.ts';
import { MASTER } from '../../../contract/realms.ts';
import type { Sql } from '../../../db/sql.ts';
import { lateJobs } from '../../../jobs/due.ts';
import type { Lists } from '../expiring/service.ts';
import { count, type Examination, failure, ok, orWell, spanWords, warning } from './check.ts';
import * as store from './store.ts';

const EXPIRING_DAYS = 30;
const LATE_SECONDS = 300;

const mail = async (sql: Sql) => {
  const [row] = await store.mail(sql, MASTER);
  const { realms = 0, without = 0, master = false } = row ?? {};
  return orWell(
    [
      !master &&
        warning(
          'The realm master sends no mail: administrators can’t reset their passwords by it',
          'Add a provider: realmctl create messaging-provider -r master, or in the console “Messages”.',
        ),
    ],
    ok(
      without === 0
        ? 'Every realm sends mail'
        : `${count(without, 'realm')} of ${realms} ${without === 1 ? 'has' : 'have'} no provider for mail`,
    ),
  );
};

const delivered = (
  thing: string,
  { undelivered, oldest }: store.Delivering,
  { now, advice }: { now: Date; advice: string },
) => {
  const waits = oldest ? (now.getTime() - oldest.getTime()) / 1000 : 0;
  return orWell(
    [
      undelivered.length > 0 &&
        warning(
          `Within a day, ${thing} were given up`,
          advice,
          undelivered.map(
            ({ name, dead, total }) => `${name}: ${dead.toLocaleString('en')} of ${total.toLocaleString('en')}`,
          ),
        ),
      waits > LATE_SECONDS &&
        warning(
          `The oldest of the ${thing} that wait is ${spanWords(waits)} old`,
          'What fails is tried again later; if nothing fails, look at the jobs below.',
        ),
    ],
    ok(`Within a day, no ${thing} were given up`),
  );
};

const jobs = async (sql: Sql) => {
  const rows = await lateJobs(sql, LATE_SECONDS);
  const late = rows.filter(({ due }) => due > 0);
  const failed = rows.filter((row) => row.failed > 0);
  return orWell(
    [
      late.length > 0 &&
        failure(
          'Jobs are due and no server does them',
          'Look whether each replica’s log names failed jobs, and whether it reaches the database for its queue (schema pgboss).',
          late.map(({ name, due, seconds }) => `${name}: ${due.toLocaleString('en')}, for ${spanWords(seconds)}`),
        ),
      failed.length > 0 &&
        warning(
          'Jobs failed for good within a day',
          'The server’s log has the reason of each try.',
          failed.map((row) => `${row.name}: ${row.failed.toLocaleString('en')}`),
        ),
    ],
    ok('No job waits'),
  );
};

const forwarding = async (status: () => Promise<AuditConfig['forwarding']>, now: Date) => {
  const { enabled, target, waiting, oldestWaitingAt, lastError, cut } = await status();
  if (!enabled) return ok('The audit log is not forwarded');
  const waits = oldestWaitingAt === null ? 0 : (now.getTime() - oldestWaitingAt) / 1000;
  return orWell(
    [
      (lastError !== null || waits > LATE_SECONDS) &&
        failure(
          `${count(waiting, 'event waits', 'events wait')} for ${target}${waits > 0 ? `, the oldest for ${spanWords(waits)}` : ''}`,
          'GET /admin/audit/config has the receiver’s last error; docs/audit.md says what it means.',
        ),
      cut > 0 &&
        warning(
          `${count(cut, 'event was', 'events were')} refused by ${target} and sent without data`,
          'docs/audit.md: “Forwarding”.',
        ),
    ],
    ok(`The audit log is forwarded to ${target}`),
  );
};

const directories = async (sql: Sql) => {
  const rows = await store.failedDirectories(sql);
  return rows.length === 0
    ? ok('No directory failed in its last synchronization')
    : warning(
        `The last synchronization of ${count(rows.length, 'directory', 'directories')} failed`,
        'The directory’s page has the reason. Try: realmctl sync DIRECTORY -r REALM.',
        rows.map(({ name }) => name),
      );
};

const provisioning = async (sql: Sql, now: Date) => {
  const rows = await store.pausedTargets(sql, now);
  return rows.length === 0
    ? ok('No SCIM target is paused')
    : warning(
        `${count(rows.length, 'SCIM target is', 'SCIM targets are')} paused after failures`,
        'The target’s page has the reason.',
        rows.map(({ name, failures }) => `${name}: ${count(failures, 'failure')}`),
      );
};

const expiring = async (lists: Lists) => {
  const found = await lists.expiringAnywhere({ days: EXPIRING_DAYS, limit: 200 });
  return found.length === 0
    ? ok('No secret, certificate or token ends within 30 days')
    : warning(
        `${count(found.length, 'thing ends', 'things end')} within 30 days, or ended`,
        'realmctl get expiring -r REALM has all of a realm, and so has the console: “Attention”.',
        found.map(({ realm, message, expired, expiresAt }) => {
          const day = new Date(expiresAt).toISOString().slice(0, 10);
          return `${realm}: ${message}: ${expired ? 'ended' : 'ends'} ${day}`;
        }),
      );
};

export function workChecks({
  sql,
  now,
  lists,
  status,
}: {
  sql: Sql;
  now: () => Date;
  lists: Lists;
  status(): Promise<AuditConfig['forwarding']>;
}): Examination[] {
  const aDayAgo = () => new Date(now().getTime() - DAY_MS);
  return [
    { subject: 'expiring', run: () => expiring(lists) },
    { subject: 'mail', run: () => mail(sql) },
    {
      subject: 'messages',
      run: async () =>
        delivered('messages', await store.messages(sql, aDayAgo()), {
          now: now(),
          advice:
            'Test the provider on its page. realmctl get messages --status dead -r REALM has the reasons; realmctl retry message ID sends one again.',
        }),
    },
    {
      subject: 'webhooks',
      run: async () =>
        delivered('deliveries', await store.deliveries(sql, aDayAgo()), {
          now: now(),
          advice:
            'realmctl get deliveries --status dead -r REALM has the answers; realmctl retry delivery WEBHOOK ID sends one again.',
        }),
    },
    { subject: 'jobs', run: () => jobs(sql) },
    { subject: 'audit-forwarding', run: () => forwarding(status, now()) },
    { subject: 'directories', run: () => directories(sql) },
    { subject: 'provisioning', run: () => provisioning(sql, now()) },
  ];
}
