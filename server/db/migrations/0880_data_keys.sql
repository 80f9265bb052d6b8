-- The keys that seal what is stored, each wrapped by the custodian that SVC_KEY_CUSTODIAN names. They belong to no realm.
create table data_key (
  number int primary key,
  key_id text not null,
  custodian text not null,
  wrapped bytea not null,
  created_at timestamptz not null,
  seals_from timestamptz
);
