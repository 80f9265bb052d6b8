// SQL of the checks of what the server does in the background, over all realms. Each statement reads a bounded number of
// rows: of the newest messages and deliveries, and of what an index finds.
import type { Sql } from '../../../db/sql.ts';

/** Of deliveries and messages the newest are looked at, of one day. */
const NEWEST = 20_000;
const MOST = 20;

export interface Undelivered {
  /** `realm/webhook`, or `realm (CHANNEL)`. */
  name: string;
  dead: number;
  total: number;
}
/** `oldest`: the oldest of the newest that still waits. */
export interface Delivering {
  undelivered: Undelivered[];
  oldest: Date | null;
}

export async function messages(sql: Sql, since: Date): Promise<Delivering> {
  const rows = await sql<Undelivered & { oldest: Date | null }>`
    select realm_id || ' (' || channel || ')' as name, count(*) filter (where status = 'dead')::int as dead,
      count(*)::int as total, min(created_at) filter (where status in ('pending', 'retrying')) as oldest
    from (select realm_id, channel, status, created_at from message where created_at > ${since}
      order by created_at desc limit ${NEWEST}) newest
    group by realm_id, channel order by dead desc, name`;
  return gathered(rows);
}

export async function deliveries(sql: Sql, since: Date): Promise<Delivering> {
  const rows = await sql<Undelivered & { oldest: Date | null }>`
    select realm_id || '/' || w.name as name, count(*) filter (where status = 'dead')::int as dead,
      count(*)::int as total, min(newest.created_at) filter (where status in ('pending', 'retrying')) as oldest
    from (select realm_id, webhook_id, status, created_at from webhook_delivery where created_at > ${since}
      order by created_at desc limit ${NEWEST}) newest
    join webhook w using (realm_id) where w.id = newest.webhook_id
    group by realm_id, w.name order by dead desc, name`;
  return gathered(rows);
}

function gathered(rows: readonly (Undelivered & { oldest: Date | null })[]): Delivering {
  const waiting = rows.flatMap(({ oldest }) => (oldest ? [oldest] : []));
  return {
    undelivered: rows.filter(({ dead }) => dead > 0).slice(0, MOST),
    oldest: waiting.reduce<Date | null>((first, one) => (first && first < one ? first : one), null),
  };
}

export interface MailRow {
  realms: number;
  without: number;
  master: boolean;
}
export const mail = (sql: Sql, master: string) => sql<MailRow>`
  select count(*)::int as realms,
    count(*) filter (where p.realm_id is null)::int as without,
    bool_or(r.realm_id = ${master} and p.realm_id is not null) as master
  from realm r left join (select distinct realm_id from messaging_provider where channel = 'EMAIL' and enabled) p using (realm_id)
  where r.deleted_at is null`;

/** Enabled directories whose last synchronization failed. */
export const failedDirectories = (sql: Sql) => sql<{ name: string }>`
  select d.realm_id || '/' || d.alias as name from directory d
  cross join lateral (select s.state from directory_sync s
    where s.realm_id = d.realm_id and s.directory_id = d.id and s.state in ('done', 'failed')
    order by s.created_at desc limit 1) last
  where d.enabled and last.state = 'failed' order by name limit ${MOST}`;

/** Enabled SCIM targets that are paused after failures. */
export const pausedTargets = (sql: Sql, now: Date) => sql<{ name: string; failures: number }>`
  select t.realm_id || '/' || t.name as name, s.failures from scim_target_state s
  join scim_target t on t.realm_id = s.realm_id and t.id = s.target_id
  where t.enabled and s.failures > 0 and s.paused_until > ${now} order by name limit ${MOST}`;
