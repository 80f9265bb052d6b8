-- Directories whose people a realm has.
create table directory (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  alias text not null,
  type text not null,
  enabled boolean not null,
  mode text not null,
  connection jsonb not null,
  users jsonb not null,
  groups jsonb,
  schedule int not null,
  page_size int not null,
  removed text not null,
  -- sealed: it must be read again to sign in there
  secret bytea,
  primary key (realm_id, id)
);
create unique index directory_alias on directory (realm_id, alias);
