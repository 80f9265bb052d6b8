-- Counts of what happened in a realm, by the hour (kept 31 days) and by the day in UTC (kept 400 days), for its dashboard.
create table statistic (
  realm_id text not null references realm (realm_id) on delete cascade,
  step text not null check (step in ('hour', 'day')),
  kind text not null,
  at timestamptz not null,
  -- A reason, a band, a status or a client ID; empty: the kind as a whole, or the rest beyond the most keys of a day.
  key text not null,
  count bigint not null,
  primary key (realm_id, step, kind, at, key)
);
create index statistic_age on statistic (step, at);
