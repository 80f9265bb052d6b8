-- Age deletes the oldest blocks of a realm's chain. What it deleted stands in one row, so that the chain doesn't grow for ever.
create table event_fold (
  realm_id text primary key,
  -- the last block that is gone, and its hash, which the next block's covers
  number bigint not null,
  hash bytea not null,
  -- all that those blocks held
  events bigint not null,
  -- by the chain's key
  proof_hash bytea not null
);
-- The blocks that still have events, the oldest first. A block whose events age deleted loses its newest_at.
create index event_block_age on event_block (newest_at) where newest_at is not null;
