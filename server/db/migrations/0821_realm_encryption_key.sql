-- The keys that clients encrypt their requests for (RFC 9101). A table of their own: earlier versions read every row of realm_key as a
-- key that signs.
create table realm_encryption_key (
  realm_id text not null references realm on delete cascade,
  key_id uuid not null,
  algorithm text not null,
  public_key text not null,
  private_key bytea not null,
  created_at timestamptz not null,
  rotated_at timestamptz,
  primary key (realm_id, key_id)
);
create unique index realm_encryption_key_active on realm_encryption_key (realm_id, algorithm) where rotated_at is null;
