-- DPoP (RFC 9449): proofs that were seen, shared by all replicas, for as long as they could be taken; clients that must prove their key.
create table dpop_proof (
  realm_id text not null references realm on delete cascade,
  proof_hash bytea not null,
  expires_at timestamptz not null,
  primary key (realm_id, proof_hash)
);
create index dpop_proof_expiry on dpop_proof (expires_at);

alter table client add column dpop_bound_access_tokens boolean not null default false;
