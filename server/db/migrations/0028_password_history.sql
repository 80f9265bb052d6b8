-- Hashes of passwords that a person had before: as many as the realm's setting passwordHistory wants remembered.
create table password_history (
  realm_id text not null,
  user_id uuid not null,
  -- of the credential that it was
  id uuid not null,
  phc text not null,
  set_at timestamptz not null,
  primary key (realm_id, user_id, id),
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
