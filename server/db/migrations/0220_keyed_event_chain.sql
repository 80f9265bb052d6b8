-- The chain over the audit log begins anew, over all that is there: its hashes are keyed, each realm's by a key of its own that is
-- sealed under the master key, and the chain itself says which blocks were rewritten or deleted.
-- Servers from before neither seal nor erase on this schema; they say so, and events wait.
delete from event_block;
drop index event_block_rewritten;
alter table event_block drop column rewritten, drop column forgotten_at;
create table event_chain (
  realm_id text primary key,
  -- sealed
  key bytea not null
);
-- null: the block's events were deleted by age
alter table event_amendment alter column digest drop not null;

-- what came before there was an order: before all else, so many at a time as one block holds
update event e set position = o.n / 1000 - 1000000000000000
from (select realm_id, id, row_number() over (order by id) as n from event where position is null) o
where e.realm_id = o.realm_id and e.id = o.id;
alter table event alter column position set not null;
update event_log set position = least(position, (select min(position) - 1 from event));
