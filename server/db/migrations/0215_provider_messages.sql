-- What identity providers have said and was believed: logout tokens, SAML assertions and logout requests. None counts a second time.
create table provider_message (
  realm_id text not null,
  provider_id uuid not null,
  message_hash bytea not null,
  expires_at timestamptz not null,
  primary key (realm_id, provider_id, message_hash),
  foreign key (realm_id, provider_id) references identity_provider on delete cascade
);
create index provider_message_expires_at on provider_message (expires_at);
