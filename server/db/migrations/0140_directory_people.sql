-- Who of a realm's people comes from which directory, what it said last, and the syncs with it.
create table directory_person (
  realm_id text not null,
  directory_id uuid not null,
  -- what stays when everything else of an entry changes
  external_id text not null,
  user_id uuid not null,
  dn text not null,
  -- one form of the distinguished name, by which groups name their members; the username in lower case, by which others do
  dn_key text not null,
  login text not null,
  -- as the directory said last: only a change of it is followed
  enabled_there boolean not null,
  password_changed text,
  seen_in uuid,
  primary key (realm_id, directory_id, external_id),
  foreign key (realm_id, directory_id) references directory on delete cascade,
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create unique index directory_person_user on directory_person (realm_id, user_id);
create index directory_person_dn on directory_person (realm_id, directory_id, dn_key);
create index directory_person_login on directory_person (realm_id, directory_id, login);

-- Groups whose members are a directory's to say, as far as they come from there.
create table directory_group (
  realm_id text not null,
  directory_id uuid not null,
  external_id text not null,
  group_id uuid not null,
  seen_in uuid,
  primary key (realm_id, directory_id, external_id),
  foreign key (realm_id, directory_id) references directory on delete cascade,
  foreign key (realm_id, group_id) references user_group on delete cascade
);
create index directory_group_group on directory_group (realm_id, group_id);

create table directory_sync (
  realm_id text not null,
  id uuid not null,
  directory_id uuid not null,
  kind text not null,
  state text not null,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  -- who works on it, and when they last said so: without a word for long it is lost, and another one begins anew
  runner uuid,
  alive_at timestamptz,
  tries int not null default 0,
  read int not null default 0,
  added int not null default 0,
  updated int not null default 0,
  disabled int not null default 0,
  failed int not null default 0,
  errors jsonb not null default '[]',
  error text,
  -- the latest change that it has seen, as the directory writes times
  mark text,
  primary key (realm_id, id),
  foreign key (realm_id, directory_id) references directory on delete cascade
);
create unique index directory_sync_under_way on directory_sync (realm_id, directory_id) where state in ('waiting', 'running');
create index directory_sync_latest on directory_sync (realm_id, directory_id, created_at);

-- A password that is a directory's, by the directory.
create index credential_directory on credential (realm_id, (secret ->> 'directory')) where type = 'password' and secret ? 'directory';
