-- SAML clients: service providers, with what a sign-on to them needs.
create table saml_client (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  entity_id text not null,
  name text,
  enabled boolean not null default true,
  -- [{url, binding, index, default}]
  assertion_consumer_services jsonb not null default '[]',
  -- [{url, binding}]
  single_logout_services jsonb not null default '[]',
  name_id_format text not null default 'persistent'
    check (name_id_format in ('persistent', 'transient', 'emailAddress', 'unspecified')),
  -- PEM
  signing_certificates text[] not null default '{}',
  encryption_certificate text,
  require_signed_requests boolean not null default false,
  sign_assertions boolean not null default true,
  sign_responses boolean not null default true,
  encrypt_assertions boolean not null default false,
  idp_initiated boolean not null default false,
  mappers jsonb not null default '[]',
  metadata_url text,
  -- PEM: who must have signed what lies at that address
  metadata_certificate text,
  flow_override text,
  created_at timestamptz not null,
  primary key (realm_id, id)
);
create unique index saml_client_entity_id on saml_client (realm_id, entity_id);
