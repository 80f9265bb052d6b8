-- Lets another system keep a realm's people and groups by SCIM: only the token's digest is kept.
create table scim_token (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  permissions text[] not null,
  token_hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  primary key (realm_id, id)
);
create unique index scim_token_hash on scim_token (realm_id, token_hash);

-- What that system says of a user or a group that the realm has no other place for.
create table scim_user (
  realm_id text not null,
  user_id uuid not null,
  external_id text,
  email_type text,
  email_primary boolean not null default true,
  primary key (realm_id, user_id),
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create index scim_user_external_id on scim_user (realm_id, external_id);
create table scim_group (
  realm_id text not null,
  group_id uuid not null,
  external_id text,
  primary key (realm_id, group_id),
  foreign key (realm_id, group_id) references user_group on delete cascade
);
create index scim_group_external_id on scim_group (realm_id, external_id);

-- Groups are found by name whatever its case, and say when they were made and changed.
create index user_group_folded_path on user_group (realm_id, lower(path));
alter table user_group
  add column created_at timestamptz not null default now(),
  add column updated_at timestamptz not null default now();
create trigger note_group_change
  before update of path, attributes, is_default on user_group
  for each row when ((old.path, old.attributes, old.is_default) is distinct from (new.path, new.attributes, new.is_default))
  execute function note_profile_change();

-- Whoever asks for what has changed hears of people who were disabled, too.
drop trigger note_profile_change on realm_user;
create trigger note_profile_change
  before update of username, email, email_verified, first_name, last_name, enabled, attributes on realm_user
  for each row when (
    (old.username, old.email, old.email_verified, old.first_name, old.last_name, old.enabled, old.attributes)
    is distinct from
    (new.username, new.email, new.email_verified, new.first_name, new.last_name, new.enabled, new.attributes)
  )
  execute function note_profile_change();
