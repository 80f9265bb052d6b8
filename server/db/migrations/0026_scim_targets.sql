-- Where people and groups are to be provisioned to.
create table scim_target (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  url text not null,
  enabled boolean not null default true,
  users boolean not null default true,
  groups boolean not null default true,
  filter text,
  -- SCIM attribute -> where its value comes from
  mappings jsonb not null default '{}',
  -- sealed: it must be read again to be sent
  secret bytea,
  primary key (realm_id, id)
);
create unique index scim_target_name on scim_target (realm_id, name);
