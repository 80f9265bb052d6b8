// Owns: deleting expired rows, in small batches, at intervals. Code that reads a row still checks its expiry.
// Does not own: how long audit events are kept (SVC_EVENT_RETENTION_DAYS), which is a policy of the operator.
// Implements: design "Jobs".

import { z } from 'zod';
import { DAY_MS, HOUR_MS } from '../contract/durations.ts';
import { leastIdAt } from '../crypto/ids.ts';
import type { Seal } from '../crypto/seal.ts';
import { type Fragment, fragment, type Sql } from '../db/sql.ts';
import { dropStagingBefore } from '../db/staging.ts';
import type { Transact } from '../db/transact.ts';
import { forgetBlocks } from '../events/retention.ts';
import { type Job, job } from './job.ts';

const BATCH = 1_000;
/** The most batches of a run, so that it ends before its job counts as lost; the next run continues. */
const BATCHES = 100;
/** For tables that every request writes to: as many rows as a busy server writes between two runs. */
const BATCHES_OF_EACH_REQUEST = 1_000;
/** The time limit for audit events, half of a run's: after a long retention there may be millions to delete. */
const LONGEST_MS = 300_000;
const LONGEST_OF_SESSIONS_MS = 60_000;

interface Expiry {
  table: Fragment;
  /** The condition for rows of `row` that can be deleted, and their order if it matters. */
  gone(now: Date): Fragment;
}
const before = (now: Date, ms: number) => new Date(now.getTime() - ms);

const expiries: readonly Expiry[] = [
  { table: fragment`sign_in`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`device_enrolment`, gone: (now) => fragment`expires_at < ${now}` },
  // unanswered pushes are counted for this long
  { table: fragment`device_challenge`, gone: (now) => fragment`expires_at < ${before(now, HOUR_MS)}` },
  { table: fragment`device_transaction`, gone: (now) => fragment`expires_at < ${before(now, 30 * DAY_MS)}` },
  { table: fragment`pushed_authorization_request`, gone: (now) => fragment`expires_at < ${now}` },
  // Kept for an hour, so that a second use is recognised.
  { table: fragment`device_authorization`, gone: (now) => fragment`expires_at < ${before(now, HOUR_MS)}` },
  { table: fragment`backchannel_authentication`, gone: (now) => fragment`expires_at < ${before(now, HOUR_MS)}` },
  { table: fragment`permission_ticket`, gone: (now) => fragment`expires_at < ${before(now, HOUR_MS)}` },
  { table: fragment`authorization_code`, gone: (now) => fragment`expires_at < ${before(now, HOUR_MS)}` },
  // Two statements, each with an index of its own: for one `or`, PostgreSQL may read the whole table.
  { table: fragment`refresh_family`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`refresh_family`, gone: (now) => fragment`revoked_at < ${before(now, DAY_MS)}` },
  { table: fragment`revoked_token`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`secret_guess`, gone: (now) => fragment`guessed_at < ${before(now, HOUR_MS)}` },
  { table: fragment`password_reset`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`enrolment_link`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`sign_in_report`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`invitation`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`saml_logout`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`saml_answered`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`provider_logout`, gone: (now) => fragment`expires_at < ${now}` },
  // Older servers stored some without an expiry.
  { table: fragment`provider_token`, gone: (now) => fragment`(expires_at < ${now} or expires_at is null)` },
  { table: fragment`provider_message`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`client_assertion`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`spent_proof`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`dpop_proof`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`initial_access_token`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`admin_session`, gone: (now) => fragment`expires_at < ${now}` },
  // for a forwarding receiver that is no longer configured
  { table: fragment`departed_event`, gone: (now) => fragment`occurred_at < ${before(now, 90 * DAY_MS)}` },
  {
    table: fragment`directory_sync`,
    gone: (now) => fragment`created_at < ${before(now, 30 * DAY_MS)} and state in ('done', 'failed')`,
  },
  { table: fragment`message`, gone: (now) => fragment`created_at < ${before(now, 30 * DAY_MS)}` },
  // The consequences of a plan look back one day.
  { table: fragment`client_activity`, gone: (now) => fragment`hour < ${before(now, 2 * DAY_MS)}` },
  // The order has them found by the index where the table is small, too.
  {
    table: fragment`statistic`,
    gone: (now) => fragment`step = 'hour' and at < ${before(now, 31 * DAY_MS)} order by at`,
  },
  {
    table: fragment`statistic`,
    gone: (now) => fragment`step = 'day' and at < ${before(now, 400 * DAY_MS)} order by at`,
  },
  // Plans beyond a realm's lowered limit; each new plan deletes those beyond the present one.
  {
    table: fragment`applied_plan`,
    gone: () => fragment`(realm_id, revision) in (
      select r.realm_id, p.revision from realm r cross join lateral (
        select revision from applied_plan where realm_id = r.realm_id order by revision desc
        offset (r.settings ->> 'mostAppliedPlans')::int
      ) p where r.settings ->> 'mostAppliedPlans' is not null)`,
  },
  { table: fragment`signal_received`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`signal_risk`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`message_count`, gone: (now) => fragment`hour < ${before(now, 2 * HOUR_MS)}` },
  { table: fragment`code_guess`, gone: (now) => fragment`hour < ${before(now, 2 * HOUR_MS)}` },
  { table: fragment`realm_message_count`, gone: (now) => fragment`hour < ${before(now, 2 * HOUR_MS)}` },
];

/** Never kept longer than its event, by which an erasure finds it. */
const deliveries = (eventDays = 30): Expiry => ({
  table: fragment`webhook_delivery`,
  gone: (now) => fragment`created_at < ${before(now, Math.min(30, eventDays) * DAY_MS)}`,
});

/** Tokens of Shared Signals, delivered or not: a receiver that is away for a week starts anew. */
const signals = (eventDays = 7): Expiry => ({
  table: fragment`signal_set`,
  gone: (now) => fragment`created_at < ${before(now, Math.min(7, eventDays) * DAY_MS)}`,
});

interface Ageing {
  table: Fragment;
  time: Fragment;
  days: number;
}
/** The risk scorer looks back this long. */
const SIGN_IN_HISTORY: Ageing = { table: fragment`sign_in_history`, time: fragment`at`, days: 90 };

/**
 * The oldest rows of a table that every request writes to, realm by realm: its key (realm_id, id) orders them by time,
 * and an index on the time would slow every write.
 */
const aged = ({ table, time }: Ageing, until: Date): Fragment => fragment`
  with recursive holder (realm_id) as (
    (select realm_id from ${table} order by realm_id limit 1)
    union all
    select (select realm_id from ${table} where realm_id > h.realm_id order by realm_id limit 1)
    from holder h where h.realm_id is not null
  )
  select old.ctid from holder h cross join lateral (
    select ctid from ${table} row where realm_id = h.realm_id and id < ${leastIdAt(until)} and ${time} < ${until}
    order by id limit ${BATCH}
  ) old limit ${BATCH}`;

/** Where a run without time for the rest stopped. */
export interface SweepProgress {
  /** The last session that was checked, with the time as PostgreSQL writes it: a Date has no microseconds. */
  sessions?: { expiresAt: string; id: string } | undefined;
}

/**
 * Deletes sessions that have ended. That deletes their refresh tokens, so a session stays while one of them is valid.
 * Many sessions may stay: they are checked in batches, and if the time runs out the next run continues after them.
 */
async function sweepSessions(sql: Sql, now: Date, progress: SweepProgress): Promise<number> {
  const began = performance.now();
  let total = 0;
  for (let more = true; more && performance.now() - began < LONGEST_OF_SESSIONS_MS; ) {
    const { expiresAt, id } = progress.sessions ?? { expiresAt: '-infinity', id: leastIdAt(new Date(0)) };
    const [row] = await sql<{ deleted: number; found: number; at: string; id: string }>`
      with ended as materialized (
        select ctid as at, realm_id, id, expires_at from session
        where expires_at < ${now} and (expires_at, id) > (${expiresAt}::timestamptz, ${id}::uuid)
        order by expires_at, id limit ${BATCH}
      ), gone as (
        delete from session where ctid = any(array(
          select at from ended e where (
            select true from refresh_family f where f.realm_id = e.realm_id and f.session_id = e.id and f.revoked_at is null limit 1
          ) is null)) returning 1
      ), last as (select expires_at, id from ended order by expires_at desc, id desc limit 1)
      select (select count(*)::int from gone) as deleted, (select count(*)::int from ended) as found,
        expires_at::text as at, id from last`;
    total += row?.deleted ?? 0;
    more = row?.found === BATCH;
    progress.sessions = more && row ? { expiresAt: row.at, id: row.id } : undefined;
  }
  return total;
}

/** Deletes the content of messages that were given up and have expired: their codes and links serve no more. */
async function forgetContents(sql: Sql, now: Date): Promise<void> {
  for (let i = 0; i < BATCHES; i += 1) {
    const [{ forgotten } = { forgotten: 0 }] = await sql<{ forgotten: number }>`
      with gone as (
        update message set content = null where ctid = any(array(
          select ctid from message where status = 'dead' and content is not null and expires_at < ${now} limit ${BATCH}
        )) and status = 'dead' returning 1
      ) select count(*)::int as forgotten from gone`;
    if (forgotten < BATCH) break;
  }
}

/** Deletes expired rows. @returns their number */
export async function sweep(
  sql: Sql,
  now: Date,
  { eventRetentionDays }: Retention = {},
  progress: SweepProgress = {},
): Promise<number> {
  const doomed = [
    ...[...expiries, deliveries(eventRetentionDays), signals(eventRetentionDays)].map(({ table, gone }) => ({
      table,
      rows: fragment`select ctid from ${table} row where ${gone(now)} limit ${BATCH}`,
      batches: BATCHES,
    })),
    {
      table: SIGN_IN_HISTORY.table,
      rows: aged(SIGN_IN_HISTORY, before(now, SIGN_IN_HISTORY.days * DAY_MS)),
      batches: BATCHES_OF_EACH_REQUEST,
    },
  ];
  await dropStagingBefore(sql, before(now, DAY_MS));
  await forgetContents(sql, now);
  let total = 0;
  for (const { table, rows, batches } of doomed) {
    for (let i = 0; i < batches; i += 1) {
      const [{ deleted } = { deleted: 0 }] = await sql<{ deleted: number }>`
        with gone as (delete from ${table} where ctid = any(array(${rows})) returning 1)
        select count(*)::int as deleted from gone`;
      total += deleted;
      if (deleted < BATCH) break;
    }
  }
  // After the refresh tokens, which prevent the deletion of some sessions.
  return total + (await sweepSessions(sql, now, progress));
}

export interface Retention {
  /** undefined: audit events are never deleted. */
  eventRetentionDays?: number | undefined;
  /** Whether events are forwarded, and so stay until then. */
  forwarding?: boolean | undefined;
}

/** Deletes audit events that are old enough. @returns their number */
export async function sweepEvents(
  deps: { transact: Transact; seal: Seal; keep?: Fragment | undefined },
  now: Date,
  { eventRetentionDays, forwarding = false }: Retention,
): Promise<number> {
  if (eventRetentionDays === undefined) return 0;
  const until = before(now, eventRetentionDays * DAY_MS);
  let total = 0;
  const began = performance.now();
  for (let more = true; more && performance.now() - began < LONGEST_MS; ) {
    const forgotten = await forgetBlocks(deps, { at: now, until, forwarding });
    total += forgotten.deleted;
    more = forgotten.more;
  }
  return total;
}

export function janitor({ sql, now, transact, seal, keep, ...options }: JanitorDeps & Retention): Job {
  const progress: SweepProgress = {};
  return job({
    name: 'janitor',
    schema: z.object({}),
    maxAttempts: 1,
    expireSeconds: 600,
    concurrency: 1,
    everySeconds: 600,
    async run() {
      await sweep(sql, now(), options, progress);
      await sweepEvents({ transact, seal, keep }, now(), options);
    },
  });
}
interface JanitorDeps {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  /** A query that stores needed data of deleted audit events elsewhere ({@link forgetBlocks}). */
  keep: Fragment;
  now(): Date;
}
