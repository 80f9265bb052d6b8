-- Grants across domains: which clients may get them for other domains, and by whose grants clients act for users here.
create table cross_domain_policy (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  enabled boolean not null,
  client_id text not null,
  audience text not null,
  token_types text[] not null,
  target_client_id text not null,
  scopes text[] not null,
  resources text[] not null,
  authorization_details_types text[] not null,
  token_scopes text[] not null,
  groups text[] not null,
  roles text[] not null,
  least_level integer,
  max_age integer,
  relying_party text,
  email boolean not null,
  ttl_seconds integer not null,
  primary key (realm_id, id),
  foreign key (realm_id, client_id) references client (realm_id, client_id) on update cascade on delete cascade
);
create unique index cross_domain_policy_name on cross_domain_policy (realm_id, name);
create unique index cross_domain_policy_client on cross_domain_policy (realm_id, client_id, audience);

create table cross_domain_trust (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  enabled boolean not null,
  issuer text not null,
  jwks_uri text,
  client_id text not null,
  token_types text[] not null,
  scopes text[] not null,
  resources text[] not null,
  authorization_details_types text[] not null,
  identity_provider text,
  email_domains text[] not null,
  trust_email boolean not null,
  trust_authentication boolean not null,
  primary key (realm_id, id),
  foreign key (realm_id, client_id) references client (realm_id, client_id) on update cascade on delete cascade
);
create unique index cross_domain_trust_name on cross_domain_trust (realm_id, name);
create unique index cross_domain_trust_client on cross_domain_trust (realm_id, client_id, issuer);
