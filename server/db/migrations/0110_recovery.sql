-- Links by which people who forgot their password set a new one: each for one use, while the address that it was sent to and
-- the password that it replaces are still theirs.
create table password_reset (
  realm_id text not null,
  -- of what the link holds
  link_hash bytea not null,
  user_id uuid not null,
  email text not null,
  -- null: they had none
  credential_id uuid,
  -- what they were on their way to, as the sign-in's forms say it
  asked text,
  expires_at timestamptz not null,
  primary key (realm_id, link_hash),
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create index password_reset_person on password_reset (realm_id, user_id);
create index password_reset_expiry on password_reset (expires_at);

-- Which version of the realm's terms the person has accepted.
alter table realm_user add column terms_version text;
