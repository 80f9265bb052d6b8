import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import type { EventRow } from '../../../events/row.ts';

export interface Cursor {
  position: number;
  id: string;
}
export interface ForwardedRow extends EventRow, Cursor {
  block: number | null;
  hash: string | null;
}

/** The first start: forwarding begins at the log's present position. */
export const begin = (sql: Sql) => sql`
  insert into event_forwarding (position, id) select position, 'ffffffff-ffff-ffff-ffff-ffffffffffff' from event_log
  on conflict do nothing`;

const behind = (at: { position: Fragment; id: Fragment }): Fragment => fragment`
  (position, id) > (${at.position}, ${at.id}) and position <= (select position from event_log)`;
const cursor = {
  position: fragment`(select position from event_forwarding)`,
  id: fragment`(select id from event_forwarding)`,
};

/**
 * Whether there is something to send; it takes no lock and writes nothing. It asks for the first in the order: for any, PostgreSQL may look
 * through the table.
 */
export async function hasWaitingEvents(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ waiting: boolean }>`
    select coalesce((select true from event where ${behind(cursor)} order by position, id limit 1),
      (select true from departed_event where ${behind(cursor)} order by position, id limit 1), false) as waiting`;
  return row?.waiting ?? false;
}

/** undefined: another process holds the cursor. */
export async function takeCursor(sql: Sql, holder: string, seconds: number): Promise<Cursor | undefined> {
  const [row] = await sql<Cursor>`
    update event_forwarding set holder = ${holder}, held_until = clock_timestamp() + ${seconds} * interval '1 second'
    where holder = ${holder} or held_until is null or held_until < clock_timestamp() returning position, id`;
  return row;
}

export const eventsAfter = (sql: Sql, { position, id }: Cursor, limit: number) => {
  const from = (table: Fragment) => fragment`
    (select realm_id, id, position, type, occurred_at, actor, subject, client_id, ip_address, outcome, data from ${table}
     where ${behind({ position: fragment`${position}::bigint`, id: fragment`${id}::uuid` })} order by position, id limit ${limit})`;
  return sql<ForwardedRow>`
    select e.*, b.number as block, encode(b.hash, 'hex') as hash
    from (select * from (${from(fragment`event`)} union all ${from(fragment`departed_event`)}) both_of order by position, id limit ${limit}) e
    left join lateral (
      select number, hash from event_block
      where realm_id = e.realm_id and last_position >= e.position and first_position <= e.position order by last_position limit 1
    ) b on true
    order by e.position, e.id`;
};

/** @returns false: another process holds the cursor now */
export async function markSent(
  sql: Sql,
  holder: string,
  to: Cursor,
  { count, cut, at, seconds }: { count: number; cut: boolean; at: Date; seconds: number },
): Promise<boolean> {
  const rows = await sql`
    update event_forwarding set position = ${to.position}, id = ${to.id}, sent = sent + ${count}, last_sent_at = ${at}, last_error = null,
      refused_id = null, refused_times = 0, cut = cut + ${Number(cut)}, last_cut_id = case when ${cut} then ${to.id}::uuid else last_cut_id end,
      held_until = clock_timestamp() + ${seconds} * interval '1 second'
    where holder = ${holder} returning 1`;
  return rows.length > 0;
}

/** @returns how often the event was refused, this time included */
export async function countRefusal(sql: Sql, holder: string, id: string): Promise<number> {
  const [row] = await sql<{ times: number }>`
    update event_forwarding set refused_id = ${id}, refused_times = case when refused_id = ${id} then refused_times else 0 end + 1
    where holder = ${holder} returning refused_times as times`;
  return row?.times ?? 0;
}

export const failed = (sql: Sql, holder: string, message: string) => sql`
  update event_forwarding set last_error = ${message} where holder = ${holder}`;

export const release = (sql: Sql, holder: string) => sql`
  update event_forwarding set holder = null, held_until = null where holder = ${holder}`;

export interface ForwardingProgress {
  waiting: number;
  oldest: Date | null;
  sent: number;
  last_sent_at: Date | null;
  last_error: string | null;
  cut: number;
  last_cut_id: string | null;
}
/** @param most the highest number of waiting events that is counted */
export async function progress(sql: Sql, most: number): Promise<ForwardingProgress | undefined> {
  const after = fragment`(position, id) > (f.position, f.id)`;
  const [row] = await sql<ForwardingProgress>`
    select f.sent, f.last_sent_at, f.last_error, f.cut, f.last_cut_id,
      (select count(*)::int from (select from event where ${after} order by position, id limit ${most}) counted) as waiting,
      (select occurred_at from event where ${after} order by position, id limit 1) as oldest
    from event_forwarding f`;
  return row;
}
