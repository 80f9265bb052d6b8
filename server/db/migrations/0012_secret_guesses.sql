-- Secrets that somebody named in a plan and that weren't the stored ones: each once, however often it was repeated.
create table secret_guess (
  realm_id text not null references realm on delete cascade,
  -- a user or client, of this realm or of master
  principal_id uuid not null,
  -- the client, webhook, … whose secret it is
  secret_id uuid not null,
  -- keyed by the master key, so that a copy of the database doesn't tell what was guessed
  digest bytea not null,
  guessed_at timestamptz not null,
  primary key (realm_id, principal_id, secret_id, digest)
);
