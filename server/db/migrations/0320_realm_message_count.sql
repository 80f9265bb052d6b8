-- The messages of a realm in an hour, in rows of which each transaction raises one that is free. Older servers go on to count in
-- message_count: for an hour a realm may have as many again.
create table realm_message_count (
  realm_id text not null references realm (realm_id) on delete cascade,
  channel text not null,
  hour timestamptz not null,
  part uuid not null,
  used int not null,
  primary key (realm_id, channel, hour, part)
);
create index realm_message_count_age on realm_message_count (hour);
