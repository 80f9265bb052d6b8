-- By whom else people sign in.
create table identity_provider (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  alias text not null,
  type text not null check (type in ('oidc', 'oauth2', 'saml')),
  display_name text,
  enabled boolean not null default true,
  hidden boolean not null default false,
  client_id text,
  -- sealed: it must be read again to be sent
  secret bytea,
  scopes text[] not null default '{}',
  -- by type
  config jsonb not null default '{}',
  mappers jsonb not null default '[]',
  sync_mode text not null default 'import' check (sync_mode in ('import', 'always')),
  first_login_flow text,
  linking text not null default 'ask' check (linking in ('ask', 'never')),
  domains text[] not null default '{}',
  primary key (realm_id, id)
);
create unique index identity_provider_alias on identity_provider (realm_id, alias);
