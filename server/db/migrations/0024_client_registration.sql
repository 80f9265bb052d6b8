-- Lets somebody register clients (RFC 7591): only the digest is kept.
create table initial_access_token (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  token_hash bytea not null,
  uses_left int not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (realm_id, id)
);
create unique index initial_access_token_hash on initial_access_token (realm_id, token_hash);
create index initial_access_token_expiry on initial_access_token (expires_at);

-- Lets a client that registered itself be managed (RFC 7592).
create table client_registration (
  realm_id text not null,
  client uuid not null,
  token_hash bytea not null,
  primary key (realm_id, client),
  foreign key (realm_id, client) references client on delete cascade
);
