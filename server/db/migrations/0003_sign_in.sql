-- Flows, what happens while someone signs in, and what stays afterwards.
create table flow (
  realm_id text not null references realm on delete cascade,
  alias text not null,
  built_in boolean not null default false,
  primary key (realm_id, alias)
);
create table flow_execution (
  realm_id text not null,
  execution_id uuid not null,
  flow_alias text not null,
  parent_id uuid,
  -- display name of a container
  name text,
  -- null: a sub-flow container
  authenticator_id text,
  requirement text not null check (requirement in ('REQUIRED', 'ALTERNATIVE', 'CONDITIONAL', 'DISABLED')),
  condition boolean not null default false,
  priority int not null,
  config jsonb not null default '{}',
  primary key (realm_id, flow_alias, execution_id),
  foreign key (realm_id, flow_alias) references flow on update cascade on delete cascade,
  foreign key (realm_id, flow_alias, parent_id) references flow_execution on update cascade on delete cascade
    deferrable initially deferred
);

-- A sign-in under way. The cookie holds the id's pre-image; id is its SHA-256.
create table sign_in (
  realm_id text not null references realm on delete cascade,
  id bytea not null,
  -- the authorization request, the flow's recorded results, the pending step; see features/protocol/authorize and features/configuration/flows
  state jsonb not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (realm_id, id)
);
create index sign_in_expiry on sign_in (expires_at);

create table session (
  realm_id text not null,
  id uuid not null,
  -- SHA-256 of the cookie's value
  token_hash bytea not null,
  user_id uuid not null,
  ip_address text,
  user_agent text,
  started_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- the hard cap: max lifetime or remember-me lifetime
  expires_at timestamptz not null,
  remember_me boolean not null default false,
  authenticated_at timestamptz not null,
  level_of_assurance int not null default 1,
  -- RFC 8176 values
  methods text[] not null default '{}',
  primary key (realm_id, id),
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create unique index session_token on session (realm_id, token_hash);
create index session_by_user on session (realm_id, user_id, started_at);
create index session_expiry on session (expires_at);

create table session_client (
  realm_id text not null,
  session_id uuid not null,
  client uuid not null,
  primary key (realm_id, session_id, client),
  foreign key (realm_id, session_id) references session on delete cascade,
  foreign key (realm_id, client) references client on delete cascade
);
create index session_client_client on session_client (realm_id, client);

-- An administrator's cookie session (not an SSO session).
create table admin_session (
  realm_id text not null,
  token_hash bytea not null,
  user_id uuid not null,
  started_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (realm_id, token_hash),
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create index admin_session_expiry on admin_session (expires_at);
create index admin_session_user on admin_session (realm_id, user_id);

create table authorization_code (
  realm_id text not null,
  code_hash bytea not null,
  client uuid not null,
  session_id uuid not null,
  user_id uuid not null,
  -- redirect_uri, scope, nonce, code_challenge, resource, auth_time, acr, amr
  request jsonb not null,
  expires_at timestamptz not null,
  -- set when used; a second use revokes the family
  used_at timestamptz,
  family_id uuid,
  primary key (realm_id, code_hash),
  foreign key (realm_id, client) references client on delete cascade,
  foreign key (realm_id, session_id) references session on delete cascade
);
create index authorization_code_expiry on authorization_code (expires_at);
create index authorization_code_session on authorization_code (realm_id, session_id);
create index authorization_code_client on authorization_code (realm_id, client);

-- A family is one grant; its tokens rotate. Reuse of a rotated token revokes the family.
create table refresh_family (
  realm_id text not null,
  id uuid not null,
  client uuid not null,
  user_id uuid not null,
  -- null: offline, outlives the session
  session_id uuid,
  -- scope, resource, nonce, auth_time, acr, amr
  grant_data jsonb not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  -- SHA-256 of the token that is valid now, and of the one before it
  token_hash bytea not null,
  generation int not null default 0,
  primary key (realm_id, id),
  foreign key (realm_id, client) references client on delete cascade,
  foreign key (realm_id, user_id) references realm_user on delete cascade,
  foreign key (realm_id, session_id) references session on delete cascade
);
create index refresh_family_session on refresh_family (realm_id, session_id);
create index refresh_family_user on refresh_family (realm_id, user_id);
create index refresh_family_client on refresh_family (realm_id, client);
create index refresh_family_expiry on refresh_family (expires_at);

-- Access tokens revoked before they expire (RFC 7009), by jti.
create table revoked_token (
  realm_id text not null references realm on delete cascade,
  jti uuid not null,
  expires_at timestamptz not null,
  primary key (realm_id, jti)
);
create index revoked_token_expiry on revoked_token (expires_at);

-- RFC 7523 §3: a client assertion's jti is accepted once.
create table client_assertion (
  realm_id text not null,
  client uuid not null,
  jti_hash bytea not null,
  expires_at timestamptz not null,
  primary key (realm_id, client, jti_hash),
  foreign key (realm_id, client) references client on delete cascade
);
create index client_assertion_expiry on client_assertion (expires_at);

create table consent (
  realm_id text not null,
  user_id uuid not null,
  client uuid not null,
  scopes text[] not null,
  granted_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (realm_id, user_id, client),
  foreign key (realm_id, user_id) references realm_user on delete cascade,
  foreign key (realm_id, client) references client on delete cascade
);
create index consent_client on consent (realm_id, client);

-- What the risk scorer knows: devices by a cookie's hash, and the last sign-ins.
create table known_device (
  realm_id text not null,
  user_id uuid not null,
  device_hash bytea not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (realm_id, user_id, device_hash),
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create table sign_in_history (
  realm_id text not null,
  id uuid not null,
  user_id uuid not null,
  at timestamptz not null,
  success boolean not null,
  ip_address text,
  network text,
  latitude double precision,
  longitude double precision,
  primary key (realm_id, id),
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create index sign_in_history_user on sign_in_history (realm_id, user_id, at desc);
