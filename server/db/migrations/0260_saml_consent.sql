-- People may be asked before their data goes to a SAML client, and what they agreed to is remembered.
alter table saml_client add column consent_required boolean not null default false;
create table saml_consent (
  realm_id text not null,
  user_id uuid not null,
  client uuid not null,
  -- names of attributes, and of what the name identifier says
  claims text[] not null,
  granted_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (realm_id, user_id, client),
  foreign key (realm_id, user_id) references realm_user (realm_id, id) on delete cascade,
  foreign key (realm_id, client) references saml_client (realm_id, id) on delete cascade
);
create index saml_consent_client on saml_consent (realm_id, client);
