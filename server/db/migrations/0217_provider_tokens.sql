-- Access tokens that identity providers gave for people here, where a provider says that they are kept.
create table provider_token (
  realm_id text not null,
  id uuid not null,
  link_id uuid not null,
  -- sealed
  access_token bytea not null,
  scope text,
  -- null: the provider doesn't say
  expires_at timestamptz,
  primary key (realm_id, id),
  foreign key (realm_id, link_id) references identity_link on delete cascade
);
create unique index provider_token_link on provider_token (realm_id, link_id);
create index provider_token_expires_at on provider_token (expires_at);
