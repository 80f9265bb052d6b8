-- Who somebody of the realm is at an identity provider.
create table identity_link (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  user_id uuid not null,
  provider_id uuid not null,
  -- whose the subject is: a provider that becomes another's has nobody's links
  issuer text not null,
  subject text not null,
  subject_digest bytea not null,
  -- what the person is called there
  name text,
  created_at timestamptz not null,
  last_used_at timestamptz,
  primary key (realm_id, id),
  foreign key (realm_id, user_id) references realm_user on delete cascade,
  -- Whoever deletes a provider ends what people had signed in to by it, and so must see its links once more.
  foreign key (realm_id, provider_id) references identity_provider deferrable initially deferred
);
create unique index identity_link_subject on identity_link (realm_id, provider_id, subject_digest);
create index identity_link_user on identity_link (realm_id, user_id);
