-- Transaction tokens: which clients may get them, of which trust domains, for which scopes.
create table transaction_token_policy (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  enabled boolean not null,
  client_id text not null,
  trust_domain text not null,
  scopes jsonb not null,
  replaces boolean not null,
  ttl_seconds integer not null,
  primary key (realm_id, id),
  foreign key (realm_id, client_id) references client (realm_id, client_id) on update cascade on delete cascade
);
create unique index transaction_token_policy_name on transaction_token_policy (realm_id, name);
create unique index transaction_token_policy_client on transaction_token_policy (realm_id, client_id, trust_domain);
