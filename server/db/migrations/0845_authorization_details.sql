-- Rich authorization requests (RFC 9396): the types that the realm declares, and those that each client may ask for.
create table authorization_detail_type (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  type text not null,
  enabled boolean not null,
  schema jsonb not null,
  words jsonb not null,
  locations text[] not null,
  client_credentials boolean not null,
  open_to_registration boolean not null,
  primary key (realm_id, id)
);
create unique index authorization_detail_type_name on authorization_detail_type (realm_id, type);

alter table client add column authorization_details_types text[] not null default '{}';
