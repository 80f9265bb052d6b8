-- The audit log in the order of its transactions, and a chain of hashes over it.
-- Rows from before have no position: the chain begins with the first row that does.
alter table event add column position bigint;
-- the transaction's number; server/events/position.ts adds to it where a dump was restored
alter table event alter column position set default pg_current_xact_id()::text::bigint;
create index event_position on event (position) where position is not null;

-- one row: how far the log is sealed
create table event_log (
  position bigint not null,
  -- what is added to the numbers of transactions
  added bigint not null default 0
);
insert into event_log (position) values (0);

-- Consecutive events of a realm under one hash, which covers that of the block before.
create table event_block (
  realm_id text not null,
  number bigint not null,
  -- null where it holds no events, but says anew what others hold
  first_position bigint,
  last_position bigint,
  -- the least and the greatest
  first_id uuid,
  last_id uuid,
  newest_at timestamptz,
  events int not null,
  digest bytea not null,
  hash bytea not null,
  sealed_at timestamptz not null,
  -- its events are deleted by age
  forgotten_at timestamptz,
  -- its events were rewritten for a person's erasure, and the chain doesn't say so yet
  rewritten boolean not null default false,
  primary key (realm_id, number)
);
create unique index event_block_position on event_block (realm_id, last_position) where last_position is not null;
create index event_block_rewritten on event_block (realm_id, number) where rewritten;

-- What a block holds since an erasure rewrote it, as block `number` says.
create table event_amendment (
  realm_id text not null,
  number bigint not null,
  block bigint not null,
  digest bytea not null,
  primary key (realm_id, number, block),
  foreign key (realm_id, number) references event_block on delete cascade
);
create index event_amendment_block on event_amendment (realm_id, block, number);
