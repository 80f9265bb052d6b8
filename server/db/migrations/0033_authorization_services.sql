-- What a client protects and who may do what with it: one row for a client, its lists written as a whole.
create table authorization_service (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  client_id text not null,
  settings jsonb not null,
  resources jsonb not null,
  scopes jsonb not null,
  policies jsonb not null,
  permissions jsonb not null,
  primary key (realm_id, id),
  foreign key (realm_id, client_id) references client (realm_id, client_id) on update cascade on delete cascade
);
create unique index authorization_service_client on authorization_service (realm_id, client_id);
