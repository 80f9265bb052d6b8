// SQL of a realm's statistics: counts are added to hours and days at once, so that days need no work of their own later.

import type { CountedThing, Step } from '../../../contract/statistics.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';

export type Kind = 'sign-in' | 'failure' | 'risk' | 'token' | 'client' | 'delivery';
/** The key of what is counted without a name of its own. */
export const OTHERS = '';

export interface Addition {
  realm: string;
  kind: Kind;
  key: string;
  hour: Date;
  count: number;
}

/** Sorted, so that servers that write the same rows don't deadlock. The lock leaves out a realm that is being deleted. */
export const add = (sql: Sql, counts: readonly Addition[]) => sql`
  with counted as materialized (
    select r.realm_id, w.kind, w.key, w.hour, w.count
    from jsonb_to_recordset(${JSON.stringify(counts)}::jsonb)
        as w (realm text, kind text, key text, hour timestamptz, count bigint)
      join realm r on r.realm_id = w.realm and r.deleted_at is null
    order by 1
    for key share of r
  )
  insert into statistic (realm_id, step, kind, at, key, count)
  select realm_id, s.step, kind, s.at, key, sum(count)
  from counted cross join lateral (values ('hour', hour), ('day', date_trunc('day', hour, 'UTC'))) as s (step, at)
  group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (realm_id, step, kind, at, key) do update set count = statistic.count + excluded.count`;

export interface Period {
  from: Date;
  to: Date;
}

export interface CountRow {
  kind: Kind;
  key: string;
  total: number;
  /** Between `since` and `from`. */
  previous: number;
  /** The steps with a count, in seconds, and their counts. */
  times: number[];
  counts: number[];
}
export const read = (
  sql: Sql,
  realm: string,
  { step, kinds, since, from, to }: Period & { step: Step; kinds: readonly Kind[]; since: Date },
) => sql<CountRow>`
  select kind, key,
    coalesce(sum(count) filter (where at >= ${from}), 0)::float8 as total,
    coalesce(sum(count) filter (where at < ${from}), 0)::float8 as previous,
    coalesce(array_agg(extract(epoch from at)::float8 order by at) filter (where at >= ${from}), '{}') as times,
    coalesce(array_agg(count::float8 order by at) filter (where at >= ${from}), '{}') as counts
  from statistic
  where realm_id = ${realm} and step = ${step} and kind = any(${kinds}) and at >= ${since} and at < ${to}
  group by kind, key`;

/** The first day with a count. */
export async function countedSince(sql: Sql, realm: string, kinds: readonly Kind[]): Promise<Date | undefined> {
  const [row] = await sql<{ at: Date | null }>`
    select min(first.at) as at from unnest(${kinds}::text[]) as k (kind) cross join lateral (
      select at from statistic where realm_id = ${realm} and step = 'day' and kind = k.kind order by at limit 1
    ) first`;
  return row?.at ?? undefined;
}

/** A part of a period that is read from hours or from days. */
export interface Part extends Period {
  step: Step;
  /** false: of the period before. */
  current: boolean;
}
export interface TopRow {
  /** null: all keys together. */
  key: string | null;
  total: number;
  previous: number;
}
/** The most frequent keys. Each part is one range of the primary key. */
export const top = (sql: Sql, realm: string, parts: readonly Part[], { kind, limit }: { kind: Kind; limit: number }) =>
  sql<TopRow>`
    with counted as materialized (
      select s.key, coalesce(sum(s.count) filter (where p.current), 0)::float8 as total,
        coalesce(sum(s.count) filter (where not p.current), 0)::float8 as previous
      from jsonb_to_recordset(${JSON.stringify(parts)}::jsonb) as p (step text, "from" timestamptz, "to" timestamptz, current boolean)
        cross join lateral (
          select key, sum(count) as count from statistic
          where realm_id = ${realm} and step = p.step and kind = ${kind} and at >= p."from" and at < p."to"
          group by key
        ) s
      group by s.key
    )
    (select key, total, previous from counted where key <> ${OTHERS} and total > 0 order by total desc, key limit ${limit})
    union all
    select null, coalesce(sum(total), 0), coalesce(sum(previous), 0) from counted`;

const tables: Record<CountedThing, Fragment> = {
  users: fragment`realm_user`,
  groups: fragment`user_group`,
  roles: fragment`role`,
  clients: fragment`client`,
  organizations: fragment`organization`,
  identityProviders: fragment`identity_provider`,
  webhooks: fragment`webhook`,
};

/** The number of a realm's rows; `most`: there are at least so many. */
export async function countUpTo(sql: Sql, thing: CountedThing, realm: string, most: number): Promise<number> {
  const [row] = await sql<{ count: number }>`
    select count(*)::int as count from (select from ${tables[thing]} where realm_id = ${realm} limit ${most}) counted`;
  return row?.count ?? 0;
}

/** The planner's estimate of the number of a realm's rows, which reads none of them. */
export async function estimate(sql: Sql, thing: CountedThing, realm: string): Promise<number> {
  const [row] = await sql<{ 'QUERY PLAN': { Plan: { 'Plan Rows': number } }[] }>`
    explain (format json) select from ${tables[thing]} where realm_id = ${realm}`;
  return row?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0;
}
