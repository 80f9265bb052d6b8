-- What counts once and was used: challenges that a passkey signed, tickets of the account API. Only a digest is kept, as long as
-- the original could be sent again.
create table spent_proof (
  realm_id text not null references realm on delete cascade,
  digest bytea not null,
  expires_at timestamptz not null,
  primary key (realm_id, digest)
);
create index spent_proof_expiry on spent_proof (expires_at);
