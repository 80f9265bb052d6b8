-- A directory may let people in by the last password that it took, while it can't be asked.
alter table directory
  add column away text not null default 'refuse' check (away in ('refuse', 'lastPassword')),
  add column away_seconds integer not null default 86400;
create table directory_password (
  realm_id text not null,
  user_id uuid not null,
  directory_id uuid not null,
  -- argon2id
  phc text not null,
  -- what the directory said of when it was set
  password_changed text,
  known_at timestamptz not null,
  primary key (realm_id, user_id),
  foreign key (realm_id, user_id) references realm_user (realm_id, id) on delete cascade,
  foreign key (realm_id, directory_id) references directory (realm_id, id) on delete cascade
);
create index directory_password_directory on directory_password (realm_id, directory_id);
