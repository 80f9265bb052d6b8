-- How a SAML identity provider says who somebody is, beside their name: it is said so again where they sign out.
alter table provider_session add column name_id jsonb;

-- Sign-outs that have gone over a SAML identity provider, and where each goes on when it is back.
create table provider_logout (
  realm_id text not null references realm on delete cascade,
  -- of the request's ID, which the answer names
  request_hash bytea not null,
  next text not null,
  expires_at timestamptz not null,
  primary key (realm_id, request_hash)
);
create index provider_logout_expires_at on provider_logout (expires_at);
