-- The log's order, whole: for its last position PostgreSQL 17 and newer doesn't look at an index of those that are not null, since all
-- are. With the id, by which the events of one transaction, as of an import, are read in pieces.
-- An installation with a large log may have built it before, without a lock (docs/upgrade.md); a build that failed counts for nothing.
do $$ begin
  if exists (select from pg_index where indexrelid = to_regclass('event_order') and not indisvalid) then
    drop index event_order;
  end if;
end $$;
create index if not exists event_order on event (position, id);
drop index event_position;
