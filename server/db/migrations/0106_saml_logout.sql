-- Single logouts under way: whom they have yet to reach, and where they go in the end.
create table saml_logout (
  realm_id text not null references realm on delete cascade,
  -- of what the browser comes back with
  token_hash bytea not null,
  progress jsonb not null,
  expires_at timestamptz not null,
  primary key (realm_id, token_hash)
);
create index saml_logout_expires_at on saml_logout (expires_at);
