-- The log's order, whole: for its last position PostgreSQL 17 and newer doesn't look at an index of those that are not null, since all
-- are. With the id, by which the events of one transaction, as of an import, are read in pieces.
create index event_order on event (position, id);
drop index event_position;
