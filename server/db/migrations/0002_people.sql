-- Users, what they sign in with, roles, groups.
create table realm_user (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  username text not null,
  email text,
  email_verified boolean not null default false,
  first_name text,
  last_name text,
  enabled boolean not null default true,
  -- name -> list of strings
  attributes jsonb not null default '{}',
  required_actions text[] not null default '{}',
  created_at timestamptz not null,
  -- whose import made or took this user; managed_object is for configuration, which is few
  manager text,
  primary key (realm_id, id)
);
create unique index realm_user_username on realm_user (realm_id, lower(username));
create unique index realm_user_email on realm_user (realm_id, lower(email)) where email is not null;

create table credential (
  realm_id text not null,
  id uuid not null,
  user_id uuid not null,
  -- password | otp | …
  type text not null,
  label text,
  -- password: {phc, temporary}; otp: {sealed, algorithm, digits, period}; never leaves the server
  secret jsonb not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  -- otp: the last accepted time step, so that a code works once
  last_counter bigint,
  primary key (realm_id, id),
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create index credential_user on credential (realm_id, user_id, type);
create unique index credential_password on credential (realm_id, user_id) where type = 'password';

-- Failed attempts since the last success; kept apart so that counting never rewrites the user's row.
create table lockout (
  realm_id text not null,
  user_id uuid not null,
  failures int not null default 0,
  last_failure_at timestamptz not null,
  locked_until timestamptz,
  primary key (realm_id, user_id),
  foreign key (realm_id, user_id) references realm_user on delete cascade
);

create table client (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  client_id text not null,
  name text,
  description text,
  enabled boolean not null default true,
  token_endpoint_auth_method text not null default 'client_secret_basic',
  -- SHA-256 of a high-entropy secret; slow_secret holds argon2id of one that a person chose
  secret_hash bytea,
  secret_slow text,
  redirect_uris text[] not null default '{}',
  post_logout_redirect_uris text[] not null default '{}',
  web_origins text[] not null default '{}',
  grant_types text[] not null default '{}',
  consent_required boolean not null default false,
  require_pkce boolean not null default true,
  flow_override text,
  access_token_ttl_seconds int,
  refresh_token_ttl_seconds int,
  jwks jsonb,
  jwks_uri text,
  allowed_resources text[] not null default '{}',
  created_at timestamptz not null,
  primary key (realm_id, id)
);
create unique index client_client_id on client (realm_id, client_id);

-- A realm role (client null) or a client's role.
create table role (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  client uuid,
  name text not null,
  description text,
  is_default boolean not null default false,
  attributes jsonb not null default '{}',
  primary key (realm_id, id),
  foreign key (realm_id, client) references client on delete cascade
);
create unique index role_realm_name on role (realm_id, name) where client is null;
create unique index role_client_name on role (realm_id, client, name) where client is not null;

create table role_composite (
  realm_id text not null,
  role_id uuid not null,
  child_id uuid not null,
  primary key (realm_id, role_id, child_id),
  foreign key (realm_id, role_id) references role on delete cascade,
  foreign key (realm_id, child_id) references role on delete cascade
);
create index role_composite_child on role_composite (realm_id, child_id);

create table user_role (
  realm_id text not null,
  user_id uuid not null,
  role_id uuid not null,
  primary key (realm_id, user_id, role_id),
  foreign key (realm_id, user_id) references realm_user on delete cascade,
  foreign key (realm_id, role_id) references role on delete cascade
);
create index user_role_role on user_role (realm_id, role_id);

-- Roles of a client's service account.
create table client_role (
  realm_id text not null,
  client uuid not null,
  role_id uuid not null,
  primary key (realm_id, client, role_id),
  foreign key (realm_id, client) references client on delete cascade,
  foreign key (realm_id, role_id) references role on delete cascade
);
create index client_role_role on client_role (realm_id, role_id);

create table user_group (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  parent_id uuid,
  name text not null check (name <> '' and name !~ '/'),
  -- '/parent/name'; the natural key
  path text not null,
  attributes jsonb not null default '{}',
  primary key (realm_id, id),
  foreign key (realm_id, parent_id) references user_group on delete cascade
);
create unique index user_group_path on user_group (realm_id, path);
create index user_group_parent on user_group (realm_id, parent_id);

create table group_role (
  realm_id text not null,
  group_id uuid not null,
  role_id uuid not null,
  primary key (realm_id, group_id, role_id),
  foreign key (realm_id, group_id) references user_group on delete cascade,
  foreign key (realm_id, role_id) references role on delete cascade
);
create index group_role_role on group_role (realm_id, role_id);

create table group_member (
  realm_id text not null,
  group_id uuid not null,
  user_id uuid not null,
  primary key (realm_id, group_id, user_id),
  foreign key (realm_id, group_id) references user_group on delete cascade,
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create index group_member_user on group_member (realm_id, user_id);

create table client_scope (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  description text,
  include_in_token_scope boolean not null default true,
  -- [{name, source, tokens}], see contract/client-scopes.ts
  claims jsonb not null default '[]',
  primary key (realm_id, id)
);
create unique index client_scope_name on client_scope (realm_id, name);

create table client_scope_link (
  realm_id text not null,
  client uuid not null,
  scope_id uuid not null,
  optional boolean not null,
  primary key (realm_id, client, scope_id),
  foreign key (realm_id, client) references client on delete cascade,
  foreign key (realm_id, scope_id) references client_scope on delete cascade
);
create index client_scope_link_scope on client_scope_link (realm_id, scope_id);

-- Admin roles live in a principal's home realm; target_realm '*' (master only) means every realm.
create table admin_role (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  built_in boolean not null default false,
  permissions text[] not null,
  primary key (realm_id, id)
);
create unique index admin_role_name on admin_role (realm_id, name);
create table admin_grant (
  realm_id text not null,
  role_id uuid not null,
  -- exactly one of the two holds it
  user_id uuid,
  client uuid,
  target_realm text not null,
  check ((user_id is null) <> (client is null)),
  foreign key (realm_id, role_id) references admin_role on delete cascade,
  foreign key (realm_id, user_id) references realm_user on delete cascade,
  foreign key (realm_id, client) references client on delete cascade
);
create unique index admin_grant_user on admin_grant (realm_id, user_id, role_id, target_realm) where user_id is not null;
create unique index admin_grant_client on admin_grant (realm_id, client, role_id, target_realm) where client is not null;
create index admin_grant_role on admin_grant (realm_id, role_id);
