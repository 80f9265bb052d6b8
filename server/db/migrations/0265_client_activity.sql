-- Tokens that each client got, by the hour of a day back: whom a plan touches is told by it.
create table client_activity (
  realm_id text not null,
  client uuid not null,
  hour timestamptz not null,
  tokens bigint not null,
  primary key (realm_id, client, hour),
  foreign key (realm_id, client) references client on delete cascade
);
create index client_activity_age on client_activity (hour);
