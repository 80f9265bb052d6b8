-- The realm master whose first administrator a server has made: no start makes another, whatever became of the first. Where the
-- realm was there before this table, a former start has made one.
create table first_administrator (
  realm_id text primary key references realm (realm_id) on delete cascade,
  made_at timestamptz not null
);
insert into first_administrator (realm_id, made_at) select realm_id, now() from realm where realm_id = 'master';
