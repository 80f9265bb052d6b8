-- Claims of one client alone, whatever scopes it asks for.
create table protocol_mapper (
  realm_id text not null,
  id uuid not null,
  client uuid not null,
  name text not null,
  claim text,
  source text not null,
  attribute text,
  value text,
  multivalued boolean not null default false,
  json_type text not null default 'string',
  places text[] not null default '{}',
  primary key (realm_id, id),
  foreign key (realm_id, client) references client (realm_id, id) on delete cascade
);
create unique index protocol_mapper_name on protocol_mapper (realm_id, client, name);
