create table admin_grant (
  realm_id text not null,
  role_id uuid not null,
  user_id uuid,
  client uuid,
  target_realm text not null,
  constraint admin_grant_check CHECK (((user_id IS NULL) <> (client IS NULL))),
  constraint admin_grant_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint admin_grant_realm_id_role_id_fkey FOREIGN KEY (realm_id, role_id) REFERENCES admin_role(realm_id, id) ON DELETE CASCADE,
  constraint admin_grant_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX admin_grant_role ON admin_grant USING btree (realm_id, role_id);
CREATE UNIQUE INDEX admin_grant_client ON admin_grant USING btree (realm_id, client, role_id, target_realm) WHERE (client IS NOT NULL);
CREATE UNIQUE INDEX admin_grant_user ON admin_grant USING btree (realm_id, user_id, role_id, target_realm) WHERE (user_id IS NOT NULL);

create table admin_role (
  realm_id text not null,
  id uuid not null,
  name text not null,
  built_in boolean not null default false,
  permissions text[] not null,
  by_groups boolean not null default false,
  by_clients boolean not null default false,
  primary key (realm_id, id),
  constraint admin_role_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX admin_role_name ON admin_role USING btree (realm_id, name);

create table admin_role_client (
  realm_id text not null,
  role_id uuid not null,
  client uuid not null,
  primary key (realm_id, role_id, client),
  constraint admin_role_client_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint admin_role_client_realm_id_role_id_fkey FOREIGN KEY (realm_id, role_id) REFERENCES admin_role(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX admin_role_client_client ON admin_role_client USING btree (realm_id, client);

create table admin_role_group (
  realm_id text not null,
  role_id uuid not null,
  group_id uuid not null,
  primary key (realm_id, role_id, group_id),
  constraint admin_role_group_realm_id_group_id_fkey FOREIGN KEY (realm_id, group_id) REFERENCES user_group(realm_id, id) ON DELETE CASCADE,
  constraint admin_role_group_realm_id_role_id_fkey FOREIGN KEY (realm_id, role_id) REFERENCES admin_role(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX admin_role_group_group ON admin_role_group USING btree (realm_id, group_id);

create table admin_session (
  realm_id text not null,
  token_hash bytea not null,
  user_id uuid not null,
  started_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  factors jsonb not null default '[]'::jsonb,
  id uuid not null default gen_random_uuid(),
  account_ticket_hash bytea,
  account_ticket_at timestamp with time zone,
  account_session uuid,
  primary key (realm_id, token_hash),
  constraint admin_session_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX admin_session_expiry ON admin_session USING btree (expires_at);
CREATE INDEX admin_session_user ON admin_session USING btree (realm_id, user_id);
CREATE UNIQUE INDEX admin_session_id ON admin_session USING btree (realm_id, id);
CREATE UNIQUE INDEX admin_session_ticket ON admin_session USING btree (realm_id, account_ticket_hash) WHERE (account_ticket_hash IS NOT NULL);

create table agent (
  realm_id text not null,
  id uuid not null,
  name text not null,
  description text,
  purpose text,
  user_id uuid,
  client_id text,
  scopes text[] not null default '{}'::text[],
  status text not null default 'draft'::text,
  expires_at timestamp with time zone,
  review_interval_days integer,
  reviewed_at timestamp with time zone,
  reminded_of timestamp with time zone,
  created_at timestamp with time zone not null,
  primary key (realm_id, id),
  constraint agent_review_interval_days_check CHECK ((review_interval_days > 0)),
  constraint agent_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'suspended'::text, 'revoked'::text]))),
  constraint agent_realm_id_client_id_fkey FOREIGN KEY (realm_id, client_id) REFERENCES client(realm_id, client_id) ON UPDATE CASCADE ON DELETE SET NULL (client_id),
  constraint agent_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE,
  constraint agent_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE SET NULL (user_id)
);
CREATE INDEX agent_user ON agent USING btree (realm_id, user_id);
CREATE UNIQUE INDEX agent_client ON agent USING btree (realm_id, client_id);
CREATE UNIQUE INDEX agent_name ON agent USING btree (realm_id, name);

create table application (
  realm_id text not null,
  id uuid not null,
  name text not null,
  display_name text,
  description text,
  url text,
  icon_url text,
  saml_clients text[] not null default '{}'::text[],
  flow_override text,
  visible boolean not null default true,
  enabled boolean not null default true,
  primary key (realm_id, id),
  constraint application_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX application_name ON application USING btree (realm_id, name);

create table application_client (
  realm_id text not null,
  client uuid not null,
  application_id uuid not null,
  primary key (realm_id, client),
  constraint application_client_realm_id_application_id_fkey FOREIGN KEY (realm_id, application_id) REFERENCES application(realm_id, id) ON DELETE CASCADE,
  constraint application_client_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX application_client_application ON application_client USING btree (realm_id, application_id);

create table application_role (
  realm_id text not null,
  application_id uuid not null,
  role_id uuid not null,
  primary key (realm_id, application_id, role_id),
  constraint application_role_realm_id_application_id_fkey FOREIGN KEY (realm_id, application_id) REFERENCES application(realm_id, id) ON DELETE CASCADE,
  constraint application_role_role FOREIGN KEY (realm_id, role_id) REFERENCES role(realm_id, id)
);
CREATE INDEX application_role_role ON application_role USING btree (realm_id, role_id);

create table applied_plan (
  realm_id text not null,
  revision bigint not null,
  applied_at timestamp with time zone not null,
  manager text not null,
  event_id uuid not null,
  undoes bigint,
  counts jsonb not null,
  changes jsonb,
  ownership jsonb,
  primary key (realm_id, revision),
  constraint applied_plan_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX applied_plan_manager ON applied_plan USING btree (realm_id, manager, revision);

create table authenticator_metadata (
  aaguid text not null,
  entry jsonb not null,
  number bigint not null,
  next_update date not null,
  primary key (aaguid)
);

create table authorization_code (
  realm_id text not null,
  code_hash bytea not null,
  client uuid not null,
  session_id uuid not null,
  user_id uuid not null,
  request jsonb not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  family_id uuid,
  primary key (realm_id, code_hash),
  constraint authorization_code_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint authorization_code_realm_id_session_id_fkey FOREIGN KEY (realm_id, session_id) REFERENCES session(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX authorization_code_client ON authorization_code USING btree (realm_id, client);
CREATE INDEX authorization_code_expiry ON authorization_code USING btree (expires_at);
CREATE INDEX authorization_code_session ON authorization_code USING btree (realm_id, session_id);

create table authorization_detail_type (
  realm_id text not null,
  id uuid not null,
  type text not null,
  enabled boolean not null,
  schema jsonb not null,
  words jsonb not null,
  locations text[] not null,
  client_credentials boolean not null,
  open_to_registration boolean not null,
  primary key (realm_id, id),
  constraint authorization_detail_type_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX authorization_detail_type_name ON authorization_detail_type USING btree (realm_id, type);

create table authorization_service (
  realm_id text not null,
  id uuid not null,
  client_id text not null,
  settings jsonb not null,
  resources jsonb not null,
  scopes jsonb not null,
  policies jsonb not null,
  permissions jsonb not null,
  primary key (realm_id, id),
  constraint authorization_service_realm_id_client_id_fkey FOREIGN KEY (realm_id, client_id) REFERENCES client(realm_id, client_id) ON UPDATE CASCADE ON DELETE CASCADE,
  constraint authorization_service_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX authorization_service_client ON authorization_service USING btree (realm_id, client_id);

create table backchannel_authentication (
  realm_id text not null,
  id uuid not null,
  code_hash bytea not null,
  client uuid not null,
  user_id uuid,
  hint_hash bytea not null,
  parameters text not null,
  binding_message text,
  challenge text not null,
  shown boolean not null,
  notification bytea,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  interval_seconds integer not null,
  polled_at timestamp with time zone,
  denied_at timestamp with time zone,
  session_id uuid,
  request jsonb,
  used_at timestamp with time zone,
  family_id uuid,
  primary key (realm_id, code_hash),
  constraint backchannel_authentication_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint backchannel_authentication_realm_id_session_id_fkey FOREIGN KEY (realm_id, session_id) REFERENCES session(realm_id, id) ON DELETE CASCADE,
  constraint backchannel_authentication_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX backchannel_authentication_client ON backchannel_authentication USING btree (realm_id, client);
CREATE INDEX backchannel_authentication_expiry ON backchannel_authentication USING btree (expires_at);
CREATE INDEX backchannel_authentication_session ON backchannel_authentication USING btree (realm_id, session_id);
CREATE INDEX backchannel_authentication_user ON backchannel_authentication USING btree (realm_id, user_id, created_at);
CREATE UNIQUE INDEX backchannel_authentication_realm_id_id_key ON backchannel_authentication USING btree (realm_id, id);

create table captcha (
  realm_id text not null,
  id uuid not null,
  name text not null,
  provider text not null,
  site_key text not null,
  verify_url text,
  secret bytea,
  primary key (realm_id, id),
  constraint captcha_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX captcha_name ON captcha USING btree (realm_id, name);

create table claim (
  realm_id text not null,
  id uuid not null,
  name text not null,
  claim text,
  source text not null,
  attribute text,
  value text,
  multivalued boolean not null default false,
  json_type text not null default 'string'::text,
  places text[] not null default '{}'::text[],
  aggregate boolean not null default false,
  primary key (realm_id, id),
  constraint claim_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX claim_name ON claim USING btree (realm_id, name);

create table client (
  realm_id text not null,
  id uuid not null,
  client_id text not null,
  name text,
  description text,
  enabled boolean not null default true,
  token_endpoint_auth_method text not null default 'client_secret_basic'::text,
  secret_hash bytea,
  secret_slow text,
  redirect_uris text[] not null default '{}'::text[],
  post_logout_redirect_uris text[] not null default '{}'::text[],
  web_origins text[] not null default '{}'::text[],
  grant_types text[] not null default '{}'::text[],
  consent_required boolean not null default false,
  require_pkce boolean not null default true,
  flow_override text,
  access_token_ttl_seconds integer,
  refresh_token_ttl_seconds integer,
  jwks jsonb,
  jwks_uri text,
  allowed_resources text[] not null default '{}'::text[],
  created_at timestamp with time zone not null,
  previous_secret_hash bytea,
  previous_secret_slow text,
  previous_secret_expires_at timestamp with time zone,
  id_token_userinfo_claims boolean not null default false,
  subject_type text,
  sector_identifier_uri text,
  require_pushed_authorization_requests boolean not null default false,
  token_exchange_impersonation boolean not null default false,
  may_act_client text,
  dpop_bound_access_tokens boolean not null default false,
  backchannel_logout_uri text,
  frontchannel_logout_uri text,
  require_signed_request_object boolean not null default false,
  request_object_signing_alg text,
  id_token_signed_response_alg text,
  access_token_signed_response_alg text,
  userinfo_signed_response_alg text,
  request_uris text[] not null default '{}'::text[],
  logo_uri text,
  client_uri text,
  policy_uri text,
  tos_uri text,
  client_assertion_audience text,
  profile text,
  token_endpoint_auth_signing_alg text,
  reuse_refresh_tokens boolean,
  authorization_signed_response_alg text,
  introspection_signed_response_alg text,
  id_token_encrypted_response_alg text,
  id_token_encrypted_response_enc text,
  userinfo_encrypted_response_alg text,
  userinfo_encrypted_response_enc text,
  authorization_encrypted_response_alg text,
  authorization_encrypted_response_enc text,
  introspection_encrypted_response_alg text,
  introspection_encrypted_response_enc text,
  request_object_encryption_alg text,
  request_object_encryption_enc text,
  tls_client_auth_subject_dn text,
  tls_client_auth_san_dns text,
  tls_client_auth_san_uri text,
  tls_client_auth_san_ip text,
  tls_client_auth_san_email text,
  tls_client_auth_authorities text,
  tls_client_certificate_bound_access_tokens boolean not null default false,
  authorization_details_types text[] not null default '{}'::text[],
  backchannel_notification_endpoint text,
  application_type text,
  backchannel_token_delivery_mode text not null default 'ping'::text,
  backchannel_user_code_parameter boolean not null default false,
  primary key (realm_id, id),
  constraint client_application_type_check CHECK ((application_type = ANY (ARRAY['web'::text, 'native'::text]))),
  constraint client_client_assertion_audience_check CHECK ((client_assertion_audience = ANY (ARRAY['issuer'::text, 'endpoints'::text]))),
  constraint client_profile_check CHECK ((profile = ANY (ARRAY['fapi2-security'::text, 'fapi2-message-signing'::text]))),
  constraint client_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX client_backchannel_logout ON client USING btree (realm_id) WHERE (backchannel_logout_uri IS NOT NULL);
CREATE INDEX client_names ON client USING gin (lower(((client_id || '
'::text) || COALESCE(name, ''::text))) gin_trgm_ops);
CREATE INDEX client_previous_secret ON client USING btree (realm_id, previous_secret_expires_at) WHERE (previous_secret_expires_at IS NOT NULL);
CREATE INDEX client_slow_secret ON client USING btree (realm_id, client_id COLLATE "C") WHERE (secret_slow IS NOT NULL);
CREATE UNIQUE INDEX client_client_id ON client USING btree (realm_id, client_id);

create table client_activity (
  realm_id text not null,
  client uuid not null,
  hour timestamp with time zone not null,
  tokens bigint not null,
  primary key (realm_id, client, hour),
  constraint client_activity_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX client_activity_age ON client_activity USING btree (hour);

create table client_assertion (
  realm_id text not null,
  client uuid not null,
  jti_hash bytea not null,
  expires_at timestamp with time zone not null,
  primary key (realm_id, client, jti_hash),
  constraint client_assertion_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX client_assertion_expiry ON client_assertion USING btree (expires_at);

create table client_registration (
  realm_id text not null,
  client uuid not null,
  token_hash bytea,
  document_fresh_until timestamp with time zone,
  document_etag text,
  primary key (realm_id, client),
  constraint client_registration_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE
);

create table client_role (
  realm_id text not null,
  client uuid not null,
  role_id uuid not null,
  primary key (realm_id, client, role_id),
  constraint client_role_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint client_role_realm_id_role_id_fkey FOREIGN KEY (realm_id, role_id) REFERENCES role(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX client_role_role ON client_role USING btree (realm_id, role_id);

create table client_scope (
  realm_id text not null,
  id uuid not null,
  name text not null,
  description text,
  include_in_token_scope boolean not null default true,
  claims jsonb not null default '[]'::jsonb,
  primary key (realm_id, id),
  constraint client_scope_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX client_scope_name ON client_scope USING btree (realm_id, name);

create table client_scope_claim (
  realm_id text not null,
  scope_id uuid not null,
  claim_id uuid not null,
  primary key (realm_id, scope_id, claim_id),
  constraint client_scope_claim_realm_id_claim_id_fkey FOREIGN KEY (realm_id, claim_id) REFERENCES claim(realm_id, id) ON DELETE CASCADE,
  constraint client_scope_claim_realm_id_scope_id_fkey FOREIGN KEY (realm_id, scope_id) REFERENCES client_scope(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX client_scope_claim_claim ON client_scope_claim USING btree (realm_id, claim_id);

create table client_scope_link (
  realm_id text not null,
  client uuid not null,
  scope_id uuid not null,
  optional boolean not null,
  primary key (realm_id, client, scope_id),
  constraint client_scope_link_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint client_scope_link_realm_id_scope_id_fkey FOREIGN KEY (realm_id, scope_id) REFERENCES client_scope(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX client_scope_link_scope ON client_scope_link USING btree (realm_id, scope_id);

create table client_use (
  realm_id text not null,
  client uuid not null,
  since timestamp with time zone not null,
  used_at timestamp with time zone,
  primary key (realm_id, client),
  constraint client_use_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX client_use_last ON client_use USING btree (realm_id, COALESCE(used_at, since));

create table code_guess (
  realm_id text not null,
  key text not null,
  hour timestamp with time zone not null,
  used integer not null,
  primary key (realm_id, key, hour),
  constraint code_guess_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX code_guess_age ON code_guess USING btree (hour);

create table consent (
  realm_id text not null,
  user_id uuid not null,
  client uuid not null,
  scopes text[] not null,
  granted_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  resources text[] not null default '{}'::text[],
  claims text[] not null default '{}'::text[],
  primary key (realm_id, user_id, client),
  constraint consent_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint consent_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX consent_client ON consent USING btree (realm_id, client);

create table credential (
  realm_id text not null,
  id uuid not null,
  user_id uuid not null,
  type text not null,
  label text,
  secret jsonb not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  last_counter bigint,
  primary key (realm_id, id),
  constraint credential_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX credential_authenticator ON credential USING btree (realm_id, ((secret ->> 'aaguid'::text))) WHERE (type = 'webauthn'::text);
CREATE INDEX credential_directory ON credential USING btree (realm_id, ((secret ->> 'directory'::text))) WHERE ((type = 'password'::text) AND (secret ? 'directory'::text));
CREATE INDEX credential_imported_hash ON credential USING btree (realm_id, ((regexp_replace((secret ->> 'phc'::text), '[^$]*\$[^$]*$'::text, ''::text) || (length(split_part((secret ->> 'phc'::text), '$'::text, '-1'::integer)))::text))) WHERE ((type = 'password'::text) AND ((secret ->> 'phc'::text) !~~ '$argon2id$v=19$m=19456,t=2,p=1$%'::text));
CREATE INDEX credential_passkey_anywhere ON credential USING btree (((secret ->> 'credentialId'::text))) WHERE (type = 'webauthn'::text);
CREATE INDEX credential_user ON credential USING btree (realm_id, user_id, type);
CREATE UNIQUE INDEX credential_passkey ON credential USING btree (realm_id, ((secret ->> 'credentialId'::text))) WHERE (type = 'webauthn'::text);
CREATE UNIQUE INDEX credential_password ON credential USING btree (realm_id, user_id) WHERE (type = 'password'::text);

create table cross_domain_policy (
  realm_id text not null,
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
  constraint cross_domain_policy_realm_id_client_id_fkey FOREIGN KEY (realm_id, client_id) REFERENCES client(realm_id, client_id) ON UPDATE CASCADE ON DELETE CASCADE,
  constraint cross_domain_policy_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX cross_domain_policy_client ON cross_domain_policy USING btree (realm_id, client_id, audience);
CREATE UNIQUE INDEX cross_domain_policy_name ON cross_domain_policy USING btree (realm_id, name);

create table cross_domain_trust (
  realm_id text not null,
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
  constraint cross_domain_trust_realm_id_client_id_fkey FOREIGN KEY (realm_id, client_id) REFERENCES client(realm_id, client_id) ON UPDATE CASCADE ON DELETE CASCADE,
  constraint cross_domain_trust_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX cross_domain_trust_client ON cross_domain_trust USING btree (realm_id, client_id, issuer);
CREATE UNIQUE INDEX cross_domain_trust_name ON cross_domain_trust USING btree (realm_id, name);

create table data_key (
  number integer not null,
  key_id text not null,
  custodian text not null,
  wrapped bytea not null,
  created_at timestamp with time zone not null,
  seals_from timestamp with time zone,
  primary key (number)
);

create table departed_event (
  realm_id text not null,
  id uuid not null,
  position bigint not null,
  type text not null,
  occurred_at timestamp with time zone not null,
  actor jsonb,
  subject jsonb,
  client_id text,
  ip_address text,
  outcome text not null,
  data jsonb not null,
  primary key (realm_id, id)
);
CREATE INDEX departed_event_age ON departed_event USING btree (occurred_at);
CREATE INDEX departed_event_position ON departed_event USING btree ("position");

create table device_authorization (
  realm_id text not null,
  code_hash bytea not null,
  client uuid not null,
  user_code_hash bytea not null,
  parameters text not null,
  ip_address text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  interval_seconds integer not null,
  polled_at timestamp with time zone,
  denied_at timestamp with time zone,
  session_id uuid,
  user_id uuid,
  request jsonb,
  used_at timestamp with time zone,
  family_id uuid,
  primary key (realm_id, code_hash),
  constraint device_authorization_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint device_authorization_realm_id_session_id_fkey FOREIGN KEY (realm_id, session_id) REFERENCES session(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX device_authorization_client ON device_authorization USING btree (realm_id, client);
CREATE INDEX device_authorization_expiry ON device_authorization USING btree (expires_at);
CREATE INDEX device_authorization_session ON device_authorization USING btree (realm_id, session_id);
CREATE UNIQUE INDEX device_authorization_realm_id_user_code_hash_key ON device_authorization USING btree (realm_id, user_code_hash);

create table device_challenge (
  realm_id text not null,
  id uuid not null,
  user_id uuid not null,
  kind text not null,
  status text not null,
  challenge text not null,
  number text,
  application text,
  ip_address text,
  user_agent text,
  credential_id uuid,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  primary key (realm_id, id),
  constraint device_challenge_kind_check CHECK ((kind = ANY (ARRAY['push'::text, 'qr'::text]))),
  constraint device_challenge_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'approved'::text, 'denied'::text, 'used'::text]))),
  constraint device_challenge_realm_id_credential_id_fkey FOREIGN KEY (realm_id, credential_id) REFERENCES credential(realm_id, id) ON DELETE CASCADE,
  constraint device_challenge_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE,
  constraint device_challenge_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX device_challenge_credential ON device_challenge USING btree (realm_id, credential_id);
CREATE INDEX device_challenge_expiry ON device_challenge USING btree (expires_at);
CREATE INDEX device_challenge_user ON device_challenge USING btree (realm_id, user_id, created_at);

create table device_enrolment (
  realm_id text not null,
  token_hash bytea not null,
  user_id uuid not null,
  to_confirm boolean not null,
  device_id uuid,
  device text,
  used_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  primary key (realm_id, token_hash),
  constraint device_enrolment_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE,
  constraint device_enrolment_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX device_enrolment_expiry ON device_enrolment USING btree (expires_at);
CREATE INDEX device_enrolment_user ON device_enrolment USING btree (realm_id, user_id);

create table device_transaction (
  realm_id text not null,
  id uuid not null,
  user_id uuid not null,
  client uuid not null,
  text text not null,
  amount text,
  currency text,
  payee text,
  challenge text not null,
  status text not null,
  signature text,
  device_key jsonb,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  decided_at timestamp with time zone,
  consumed_at timestamp with time zone,
  primary key (realm_id, id),
  constraint device_transaction_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'signed'::text, 'denied'::text, 'consumed'::text, 'void'::text]))),
  constraint device_transaction_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint device_transaction_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE,
  constraint device_transaction_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX device_transaction_client ON device_transaction USING btree (realm_id, client);
CREATE INDEX device_transaction_expiry ON device_transaction USING btree (expires_at);
CREATE INDEX device_transaction_user ON device_transaction USING btree (realm_id, user_id, created_at);

create table directory (
  realm_id text not null,
  id uuid not null,
  alias text not null,
  type text not null,
  enabled boolean not null,
  mode text not null,
  connection jsonb not null,
  users jsonb not null,
  groups jsonb,
  schedule integer not null,
  page_size integer not null,
  removed text not null,
  secret bytea,
  away text not null default 'refuse'::text,
  away_seconds integer not null default 86400,
  primary key (realm_id, id),
  constraint directory_away_check CHECK ((away = ANY (ARRAY['refuse'::text, 'lastPassword'::text]))),
  constraint directory_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX directory_alias ON directory USING btree (realm_id, alias);

create table directory_group (
  realm_id text not null,
  directory_id uuid not null,
  external_id text not null,
  group_id uuid not null,
  seen_in uuid,
  primary key (realm_id, directory_id, external_id),
  constraint directory_group_realm_id_directory_id_fkey FOREIGN KEY (realm_id, directory_id) REFERENCES directory(realm_id, id) ON DELETE CASCADE,
  constraint directory_group_realm_id_group_id_fkey FOREIGN KEY (realm_id, group_id) REFERENCES user_group(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX directory_group_group ON directory_group USING btree (realm_id, group_id);

create table directory_password (
  realm_id text not null,
  user_id uuid not null,
  directory_id uuid not null,
  phc text not null,
  password_changed text,
  known_at timestamp with time zone not null,
  primary key (realm_id, user_id),
  constraint directory_password_realm_id_directory_id_fkey FOREIGN KEY (realm_id, directory_id) REFERENCES directory(realm_id, id) ON DELETE CASCADE,
  constraint directory_password_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX directory_password_directory ON directory_password USING btree (realm_id, directory_id);

create table directory_person (
  realm_id text not null,
  directory_id uuid not null,
  external_id text not null,
  user_id uuid not null,
  dn text not null,
  dn_key text not null,
  login text not null,
  enabled_there boolean not null,
  password_changed text,
  seen_in uuid,
  gone boolean not null default false,
  primary key (realm_id, directory_id, external_id),
  constraint directory_person_realm_id_directory_id_fkey FOREIGN KEY (realm_id, directory_id) REFERENCES directory(realm_id, id) ON DELETE CASCADE,
  constraint directory_person_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX directory_person_dn ON directory_person USING btree (realm_id, directory_id, dn_key);
CREATE INDEX directory_person_login ON directory_person USING btree (realm_id, directory_id, login);
CREATE UNIQUE INDEX directory_person_user ON directory_person USING btree (realm_id, user_id);

create table directory_sync (
  realm_id text not null,
  id uuid not null,
  directory_id uuid not null,
  kind text not null,
  state text not null,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  runner uuid,
  alive_at timestamp with time zone,
  tries integer not null default 0,
  read integer not null default 0,
  added integer not null default 0,
  updated integer not null default 0,
  disabled integer not null default 0,
  failed integer not null default 0,
  errors jsonb not null default '[]'::jsonb,
  error text,
  mark text,
  total integer,
  primary key (realm_id, id),
  constraint directory_sync_realm_id_directory_id_fkey FOREIGN KEY (realm_id, directory_id) REFERENCES directory(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX directory_sync_age ON directory_sync USING btree (created_at);
CREATE INDEX directory_sync_latest ON directory_sync USING btree (realm_id, directory_id, created_at);
CREATE UNIQUE INDEX directory_sync_under_way ON directory_sync USING btree (realm_id, directory_id) WHERE (state = ANY (ARRAY['waiting'::text, 'running'::text]));

create table dpop_proof (
  realm_id text not null,
  proof_hash bytea not null,
  expires_at timestamp with time zone not null,
  primary key (realm_id, proof_hash),
  constraint dpop_proof_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX dpop_proof_expiry ON dpop_proof USING btree (expires_at);

create table enrolment_link (
  realm_id text not null,
  user_id uuid not null,
  link_hash bytea not null,
  action text not null,
  replaces boolean not null,
  expires_at timestamp with time zone not null,
  made_by jsonb,
  primary key (realm_id, user_id),
  constraint enrolment_link_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE,
  constraint enrolment_link_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX enrolment_link_expiry ON enrolment_link USING btree (expires_at);
CREATE UNIQUE INDEX enrolment_link_hash ON enrolment_link USING btree (realm_id, link_hash);

create table event (
  realm_id text not null,
  id uuid not null,
  type text not null,
  occurred_at timestamp with time zone not null,
  actor jsonb,
  subject jsonb,
  client_id text,
  ip_address text,
  outcome text not null,
  data jsonb not null default '{}'::jsonb,
  position bigint not null default ((pg_current_xact_id())::text)::bigint,
  primary key (realm_id, id),
  constraint event_outcome_check CHECK ((outcome = ANY (ARRAY['success'::text, 'failure'::text, 'denied'::text])))
);
CREATE INDEX event_actor ON event USING btree (realm_id, ((actor ->> 'id'::text)), id) WHERE ((actor ->> 'type'::text) = 'user'::text);
CREATE INDEX event_actor_name ON event USING btree (realm_id, "left"((actor ->> 'name'::text), 255), id) WHERE (((actor ->> 'name'::text) IS NOT NULL) AND ((client_id IS NULL) OR ((actor ->> 'type'::text) <> 'client'::text) OR (client_id <> (actor ->> 'name'::text))));
CREATE INDEX event_actor_other ON event USING btree (realm_id, "left"((actor ->> 'id'::text), 255), id) WHERE (((actor ->> 'id'::text) IS NOT NULL) AND ((actor ->> 'type'::text) <> 'user'::text) AND ((actor ->> 'type'::text) <> 'agent'::text) AND ((client_id IS NULL) OR ((actor ->> 'type'::text) <> 'client'::text) OR (client_id <> (actor ->> 'name'::text))));
CREATE INDEX event_address ON event USING btree (realm_id, "left"(ip_address, 64), id) WHERE (ip_address IS NOT NULL);
CREATE INDEX event_agent ON event USING btree (realm_id, ((actor ->> 'id'::text)), id) WHERE ((actor ->> 'type'::text) = 'agent'::text);
CREATE INDEX event_client ON event USING btree (realm_id, "left"(client_id, 255), id) WHERE (client_id IS NOT NULL);
CREATE INDEX event_order ON event USING btree ("position", id);
CREATE INDEX event_outcome ON event USING btree (realm_id, outcome, id) WHERE (outcome <> 'success'::text);
CREATE INDEX event_people ON event USING gin (event_people(actor, subject, data)) WHERE (event_people(actor, subject, data) <> '{}'::text[]);
CREATE INDEX event_self_registered ON event USING btree (realm_id, client_id, id) WHERE ((type = ANY (ARRAY['TOKEN_ISSUED'::text, 'TOKEN_REFRESHED'::text])) AND ((client_id ~~ 'dcr-%'::text) OR (client_id ~~ 'https://%'::text)));
CREATE INDEX event_subject ON event USING btree (realm_id, ((subject ->> 'id'::text)), id) WHERE ((subject ->> 'type'::text) = 'user'::text);
CREATE INDEX event_subject_name ON event USING btree (realm_id, "left"((subject ->> 'name'::text), 255), id) WHERE ((subject ->> 'name'::text) IS NOT NULL);
CREATE INDEX event_subject_other ON event USING btree (realm_id, "left"((subject ->> 'id'::text), 255), id) WHERE (((subject ->> 'id'::text) IS NOT NULL) AND ((subject ->> 'type'::text) <> 'user'::text));
CREATE INDEX event_type ON event USING btree (realm_id, type, id);

create table event_amendment (
  realm_id text not null,
  number bigint not null,
  block bigint not null,
  digest bytea,
  primary key (realm_id, number, block),
  constraint event_amendment_realm_id_number_fkey FOREIGN KEY (realm_id, number) REFERENCES event_block(realm_id, number) ON DELETE CASCADE
);
CREATE INDEX event_amendment_block ON event_amendment USING btree (realm_id, block, number);

create table event_block (
  realm_id text not null,
  number bigint not null,
  first_position bigint,
  last_position bigint,
  first_id uuid,
  last_id uuid,
  newest_at timestamp with time zone,
  events integer not null,
  digest bytea not null,
  hash bytea not null,
  sealed_at timestamp with time zone not null,
  primary key (realm_id, number)
);
CREATE INDEX event_block_age ON event_block USING btree (newest_at) WHERE (newest_at IS NOT NULL);
CREATE UNIQUE INDEX event_block_position ON event_block USING btree (realm_id, last_position) WHERE (last_position IS NOT NULL);

create table event_chain (
  realm_id text not null,
  key bytea not null,
  primary key (realm_id)
);

create table event_fold (
  realm_id text not null,
  number bigint not null,
  hash bytea not null,
  events bigint not null,
  proof_hash bytea not null,
  primary key (realm_id)
);

create table event_forwarding (
  one boolean not null default true,
  position bigint not null,
  id uuid not null,
  holder uuid,
  held_until timestamp with time zone,
  sent bigint not null default 0,
  last_sent_at timestamp with time zone,
  last_error text,
  refused_id uuid,
  refused_times integer not null default 0,
  cut bigint not null default 0,
  last_cut_id uuid,
  primary key (one),
  constraint event_forwarding_one_check CHECK (one)
);

create table event_log (
  position bigint not null,
  added bigint not null default 0
);

create table first_administrator (
  realm_id text not null,
  made_at timestamp with time zone not null,
  primary key (realm_id),
  constraint first_administrator_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);

create table flow (
  realm_id text not null,
  alias text not null,
  built_in boolean not null default false,
  primary key (realm_id, alias),
  constraint flow_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);

create table flow_execution (
  realm_id text not null,
  execution_id uuid not null,
  flow_alias text not null,
  parent_id uuid,
  name text,
  authenticator_id text,
  requirement text not null,
  condition boolean not null default false,
  priority integer not null,
  config jsonb not null default '{}'::jsonb,
  primary key (realm_id, flow_alias, execution_id),
  constraint flow_execution_requirement_check CHECK ((requirement = ANY (ARRAY['REQUIRED'::text, 'ALTERNATIVE'::text, 'CONDITIONAL'::text, 'DISABLED'::text]))),
  constraint flow_execution_realm_id_flow_alias_fkey FOREIGN KEY (realm_id, flow_alias) REFERENCES flow(realm_id, alias) ON UPDATE CASCADE ON DELETE CASCADE,
  constraint flow_execution_realm_id_flow_alias_parent_id_fkey FOREIGN KEY (realm_id, flow_alias, parent_id) REFERENCES flow_execution(realm_id, flow_alias, execution_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
);

create table former_realm (
  name text not null,
  revision bigint not null,
  created_by text not null default ''::text,
  adoption text[] not null default '{}'::text[],
  primary key (name)
);

create table group_member (
  realm_id text not null,
  group_id uuid not null,
  user_id uuid not null,
  primary key (realm_id, group_id, user_id),
  constraint group_member_realm_id_group_id_fkey FOREIGN KEY (realm_id, group_id) REFERENCES user_group(realm_id, id) ON DELETE CASCADE,
  constraint group_member_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX group_member_user ON group_member USING btree (realm_id, user_id);

create table group_role (
  realm_id text not null,
  group_id uuid not null,
  role_id uuid not null,
  primary key (realm_id, group_id, role_id),
  constraint group_role_realm_id_group_id_fkey FOREIGN KEY (realm_id, group_id) REFERENCES user_group(realm_id, id) ON DELETE CASCADE,
  constraint group_role_realm_id_role_id_fkey FOREIGN KEY (realm_id, role_id) REFERENCES role(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX group_role_role ON group_role USING btree (realm_id, role_id);

create table held_object (
  realm_id text not null,
  hold_id uuid not null,
  kind text not null,
  key text not null,
  primary key (realm_id, kind, key, hold_id),
  constraint held_object_realm_id_hold_id_fkey FOREIGN KEY (realm_id, hold_id) REFERENCES hold(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX held_object_hold ON held_object USING btree (realm_id, hold_id);

create table hold (
  realm_id text not null,
  id uuid not null,
  reason text not null,
  actor jsonb,
  placed_at timestamp with time zone not null,
  until timestamp with time zone not null,
  primary key (realm_id, id),
  constraint hold_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);

create table identity_link (
  realm_id text not null,
  id uuid not null,
  user_id uuid not null,
  provider_id uuid not null,
  issuer text not null,
  subject text not null,
  subject_digest bytea not null,
  name text,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  said_at timestamp with time zone,
  primary key (realm_id, id),
  constraint identity_link_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE,
  constraint identity_link_realm_id_provider_id_fkey FOREIGN KEY (realm_id, provider_id) REFERENCES identity_provider(realm_id, id) DEFERRABLE INITIALLY DEFERRED,
  constraint identity_link_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX identity_link_user ON identity_link USING btree (realm_id, user_id);
CREATE UNIQUE INDEX identity_link_subject ON identity_link USING btree (realm_id, provider_id, subject_digest);

create table identity_provider (
  realm_id text not null,
  id uuid not null,
  alias text not null,
  type text not null,
  display_name text,
  enabled boolean not null default true,
  hidden boolean not null default false,
  client_id text,
  secret bytea,
  scopes text[] not null default '{}'::text[],
  config jsonb not null default '{}'::jsonb,
  mappers jsonb not null default '[]'::jsonb,
  sync_mode text not null default 'import'::text,
  first_login_flow text,
  linking text not null default 'ask'::text,
  domains text[] not null default '{}'::text[],
  primary key (realm_id, id),
  constraint identity_provider_linking_check CHECK ((linking = ANY (ARRAY['ask'::text, 'never'::text]))),
  constraint identity_provider_sync_mode_check CHECK ((sync_mode = ANY (ARRAY['import'::text, 'always'::text]))),
  constraint identity_provider_type_check CHECK ((type = ANY (ARRAY['oidc'::text, 'oauth2'::text, 'saml'::text]))),
  constraint identity_provider_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX identity_provider_alias ON identity_provider USING btree (realm_id, alias);

create table import_user (
  import_id uuid not null,
  n bigint not null,
  id uuid not null,
  username text not null,
  email text,
  email_verified boolean,
  first_name text,
  last_name text,
  enabled boolean,
  attributes jsonb,
  required_actions text[],
  roles text[],
  groups text[],
  client_roles text[],
  credentials jsonb,
  created_at timestamp with time zone,
  declared text[] not null,
  action text not null,
  changes jsonb,
  started_at timestamp with time zone not null default now(),
  identities jsonb,
  older_than_profile text[],
  realm_id text
);

create table initial_access_token (
  realm_id text not null,
  id uuid not null,
  token_hash bytea not null,
  uses_left integer not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  primary key (realm_id, id),
  constraint initial_access_token_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX initial_access_token_expiry ON initial_access_token USING btree (expires_at);
CREATE UNIQUE INDEX initial_access_token_hash ON initial_access_token USING btree (realm_id, token_hash);

create table invitation (
  realm_id text not null,
  id uuid not null,
  email text not null,
  organization_id uuid,
  link_hash bytea not null,
  mailed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  message_id uuid,
  primary key (realm_id, id),
  constraint invitation_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE,
  constraint invitation_realm_id_organization_id_fkey FOREIGN KEY (realm_id, organization_id) REFERENCES organization(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX invitation_end ON invitation USING btree (realm_id, expires_at);
CREATE INDEX invitation_expiry ON invitation USING btree (expires_at);
CREATE INDEX invitation_organization ON invitation USING btree (realm_id, organization_id);
CREATE UNIQUE INDEX invitation_link ON invitation USING btree (realm_id, link_hash);
CREATE UNIQUE INDEX invitation_once ON invitation USING btree (realm_id, lower(email), organization_id) NULLS NOT DISTINCT;

create table known_device (
  realm_id text not null,
  user_id uuid not null,
  device_hash bytea not null,
  first_seen_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  user_agent text,
  program boolean not null default false,
  primary key (realm_id, user_id, device_hash),
  constraint known_device_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX known_device_of_anybody ON known_device USING btree (realm_id, device_hash);

create table lockout (
  realm_id text not null,
  user_id uuid not null,
  failures integer not null default 0,
  last_failure_at timestamp with time zone not null,
  locked_until timestamp with time zone,
  codes integer not null default 0,
  codes_until timestamp with time zone,
  primary key (realm_id, user_id),
  constraint lockout_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);

create table managed_object (
  realm_id text not null,
  kind text not null,
  key text not null,
  manager text not null,
  fields text[] not null default '{}'::text[],
  kept boolean not null default false,
  primary key (realm_id, kind, key),
  constraint managed_object_realm_id_manager_fkey FOREIGN KEY (realm_id, manager) REFERENCES manager(realm_id, name) ON DELETE CASCADE
);
CREATE INDEX managed_object_owner ON managed_object USING btree (realm_id, manager, kind, key);

create table manager (
  realm_id text not null,
  name text not null,
  last_applied_at timestamp with time zone not null,
  users boolean not null default false,
  primary key (realm_id, name),
  constraint manager_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);

create table message (
  realm_id text not null,
  id uuid not null,
  channel text not null,
  template_key text not null,
  user_id uuid,
  recipient text not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  error text,
  content bytea,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  last_attempt_at timestamp with time zone,
  named text[] not null default '{}'::text[],
  primary key (realm_id, id),
  constraint message_channel_check CHECK ((channel = ANY (ARRAY['EMAIL'::text, 'SMS'::text, 'PUSH'::text]))),
  constraint message_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'retrying'::text, 'sent'::text, 'dead'::text]))),
  constraint message_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE,
  constraint message_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX message_age ON message USING btree (created_at);
CREATE INDEX message_kept ON message USING btree (expires_at) WHERE ((status = 'dead'::text) AND (content IS NOT NULL));
CREATE INDEX message_named ON message USING gin (named);
CREATE INDEX message_status ON message USING btree (realm_id, status, id);
CREATE INDEX message_user ON message USING btree (realm_id, user_id);

create table message_count (
  realm_id text not null,
  key text not null,
  hour timestamp with time zone not null,
  used integer not null,
  primary key (realm_id, key, hour),
  constraint message_count_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX message_count_age ON message_count USING btree (hour);

create table message_template (
  realm_id text not null,
  id uuid not null,
  template_key text not null,
  channel text not null,
  locale text not null,
  subject text,
  content text not null,
  html boolean not null default false,
  enabled boolean not null default true,
  primary key (realm_id, id),
  constraint message_template_channel_check CHECK ((channel = ANY (ARRAY['EMAIL'::text, 'SMS'::text, 'PUSH'::text]))),
  constraint message_template_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX message_template_key ON message_template USING btree (realm_id, template_key, channel, locale);

create table message_text (
  realm_id text not null,
  id uuid not null,
  locale text not null,
  texts jsonb not null,
  primary key (realm_id, id),
  constraint message_text_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX message_text_locale ON message_text USING btree (realm_id, locale);

create table messaging_provider (
  realm_id text not null,
  id uuid not null,
  channel text not null,
  driver text not null,
  enabled boolean not null default true,
  from_address text,
  from_name text,
  config jsonb not null default '{}'::jsonb,
  secret bytea,
  created_at timestamp with time zone not null,
  primary key (realm_id, id),
  constraint messaging_provider_channel_check CHECK ((channel = ANY (ARRAY['EMAIL'::text, 'SMS'::text, 'PUSH'::text]))),
  constraint messaging_provider_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX messaging_provider_driver ON messaging_provider USING btree (realm_id, channel, driver);

create table organization (
  realm_id text not null,
  id uuid not null,
  name text not null,
  display_name text,
  enabled boolean not null default true,
  identity_providers text[] not null default '{}'::text[],
  attributes jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null,
  primary key (realm_id, id),
  constraint organization_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX organization_names ON organization USING gin (lower(((name || '
'::text) || COALESCE(display_name, ''::text))) gin_trgm_ops);
CREATE UNIQUE INDEX organization_name ON organization USING btree (realm_id, name);

create table organization_domain (
  realm_id text not null,
  organization_id uuid not null,
  name text not null,
  verified boolean not null,
  primary key (realm_id, organization_id, name),
  constraint organization_domain_realm_id_organization_id_fkey FOREIGN KEY (realm_id, organization_id) REFERENCES organization(realm_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX organization_domain_verified ON organization_domain USING btree (realm_id, name) WHERE verified;

create table organization_member (
  realm_id text not null,
  organization_id uuid not null,
  user_id uuid not null,
  joined_at timestamp with time zone not null,
  primary key (realm_id, organization_id, user_id),
  constraint organization_member_realm_id_organization_id_fkey FOREIGN KEY (realm_id, organization_id) REFERENCES organization(realm_id, id) ON DELETE CASCADE,
  constraint organization_member_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX organization_member_user ON organization_member USING btree (realm_id, user_id);

create table password_history (
  realm_id text not null,
  user_id uuid not null,
  id uuid not null,
  phc text not null,
  set_at timestamp with time zone not null,
  primary key (realm_id, user_id, id),
  constraint password_history_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);

create table password_reset (
  realm_id text not null,
  link_hash bytea not null,
  user_id uuid not null,
  email text not null,
  credential_id uuid,
  asked text,
  expires_at timestamp with time zone not null,
  primary key (realm_id, link_hash),
  constraint password_reset_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX password_reset_expiry ON password_reset USING btree (expires_at);
CREATE INDEX password_reset_person ON password_reset USING btree (realm_id, user_id);

create table permission_ticket (
  realm_id text not null,
  ticket_hash bytea not null,
  client uuid not null,
  permissions jsonb not null,
  context jsonb not null,
  issued_to uuid,
  user_id uuid,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  primary key (realm_id, ticket_hash),
  constraint permission_ticket_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint permission_ticket_realm_id_issued_to_fkey FOREIGN KEY (realm_id, issued_to) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint permission_ticket_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX permission_ticket_client ON permission_ticket USING btree (realm_id, client);
CREATE INDEX permission_ticket_expiry ON permission_ticket USING btree (expires_at);
CREATE INDEX permission_ticket_issued_to ON permission_ticket USING btree (realm_id, issued_to);
CREATE INDEX permission_ticket_user ON permission_ticket USING btree (realm_id, user_id);

create table protocol_mapper (
  realm_id text not null,
  id uuid not null,
  client uuid not null,
  name text not null,
  claim text,
  source text not null,
  attribute text,
  value text,
  multivalued boolean not null default false,
  json_type text not null default 'string'::text,
  places text[] not null default '{}'::text[],
  aggregate boolean not null default false,
  primary key (realm_id, id),
  constraint protocol_mapper_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX protocol_mapper_name ON protocol_mapper USING btree (realm_id, client, name);

create table provider_logout (
  realm_id text not null,
  request_hash bytea not null,
  next text not null,
  expires_at timestamp with time zone not null,
  primary key (realm_id, request_hash),
  constraint provider_logout_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX provider_logout_expires_at ON provider_logout USING btree (expires_at);

create table provider_message (
  realm_id text not null,
  provider_id uuid not null,
  message_hash bytea not null,
  expires_at timestamp with time zone not null,
  primary key (realm_id, provider_id, message_hash),
  constraint provider_message_realm_id_provider_id_fkey FOREIGN KEY (realm_id, provider_id) REFERENCES identity_provider(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX provider_message_expires_at ON provider_message USING btree (expires_at);

create table provider_session (
  realm_id text not null,
  id uuid not null,
  session_id uuid not null,
  link_id uuid not null,
  sid text,
  id_token bytea,
  name_id jsonb,
  primary key (realm_id, id),
  constraint provider_session_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE,
  constraint provider_session_realm_id_link_id_fkey FOREIGN KEY (realm_id, link_id) REFERENCES identity_link(realm_id, id) ON DELETE CASCADE,
  constraint provider_session_realm_id_session_id_fkey FOREIGN KEY (realm_id, session_id) REFERENCES session(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX provider_session_link ON provider_session USING btree (realm_id, link_id);
CREATE UNIQUE INDEX provider_session_session ON provider_session USING btree (realm_id, session_id);

create table provider_token (
  realm_id text not null,
  id uuid not null,
  link_id uuid not null,
  access_token bytea not null,
  scope text,
  expires_at timestamp with time zone,
  primary key (realm_id, id),
  constraint provider_token_realm_id_link_id_fkey FOREIGN KEY (realm_id, link_id) REFERENCES identity_link(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX provider_token_expires_at ON provider_token USING btree (expires_at);
CREATE UNIQUE INDEX provider_token_link ON provider_token USING btree (realm_id, link_id);

create table push_token (
  realm_id text not null,
  id uuid not null,
  user_id uuid not null,
  platform text not null,
  device_name text,
  token bytea not null,
  token_digest bytea not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  credential_id uuid,
  primary key (realm_id, id),
  constraint push_token_platform_check CHECK ((platform = ANY (ARRAY['fcm'::text, 'apns'::text]))),
  constraint push_token_realm_id_credential_id_fkey FOREIGN KEY (realm_id, credential_id) REFERENCES credential(realm_id, id) ON DELETE CASCADE,
  constraint push_token_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE,
  constraint push_token_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX push_token_credential ON push_token USING btree (realm_id, credential_id) WHERE (credential_id IS NOT NULL);
CREATE INDEX push_token_user ON push_token USING btree (realm_id, user_id);
CREATE UNIQUE INDEX push_token_digest ON push_token USING btree (realm_id, token_digest);

create table pushed_authorization_request (
  realm_id text not null,
  uri_hash bytea not null,
  client uuid not null,
  parameters text not null,
  expires_at timestamp with time zone not null,
  opened_at timestamp with time zone,
  primary key (realm_id, uri_hash),
  constraint pushed_authorization_request_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX pushed_authorization_request_client ON pushed_authorization_request USING btree (realm_id, client);
CREATE INDEX pushed_authorization_request_expiry ON pushed_authorization_request USING btree (expires_at);

create table realm (
  realm_id text not null,
  revision bigint not null default 1,
  settings jsonb not null default '{}'::jsonb,
  created_by text not null default ''::text,
  adoption text[] not null default '{}'::text[],
  created_at timestamp with time zone not null,
  own_issuer text,
  subject_salt bytea,
  user_profile jsonb,
  deleted_at timestamp with time zone,
  primary key (realm_id),
  constraint realm_realm_id_check CHECK ((realm_id ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'::text))
);
CREATE INDEX realm_being_deleted ON realm USING btree (realm_id) WHERE (deleted_at IS NOT NULL);
CREATE INDEX realm_names ON realm USING gin (lower(((realm_id || '
'::text) || COALESCE((settings ->> 'displayName'::text), ''::text))) gin_trgm_ops);
CREATE INDEX realm_revisions ON realm USING btree (realm_id) INCLUDE (revision) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX realm_own_issuer ON realm USING btree (own_issuer);

create table realm_encryption_key (
  realm_id text not null,
  key_id uuid not null,
  algorithm text not null,
  public_key text not null,
  private_key bytea not null,
  created_at timestamp with time zone not null,
  rotated_at timestamp with time zone,
  primary key (realm_id, key_id),
  constraint realm_encryption_key_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX realm_encryption_key_active ON realm_encryption_key USING btree (realm_id, algorithm) WHERE (rotated_at IS NULL);

create table realm_key (
  realm_id text not null,
  key_id uuid not null,
  algorithm text not null default 'RSA'::text,
  public_key text not null,
  private_key bytea not null,
  created_at timestamp with time zone not null,
  activated_at timestamp with time zone,
  rotated_at timestamp with time zone,
  certificate text,
  primary key (realm_id, key_id),
  constraint realm_key_check CHECK (((rotated_at IS NULL) OR (activated_at IS NOT NULL))),
  constraint realm_key_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX realm_key_id ON realm_key USING btree (key_id);
CREATE UNIQUE INDEX realm_key_active ON realm_key USING btree (realm_id, algorithm) WHERE ((activated_at IS NOT NULL) AND (rotated_at IS NULL));

create table realm_message_count (
  realm_id text not null,
  channel text not null,
  hour timestamp with time zone not null,
  part uuid not null,
  used integer not null,
  primary key (realm_id, channel, hour, part),
  constraint realm_message_count_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX realm_message_count_age ON realm_message_count USING btree (hour);

create table realm_user (
  realm_id text not null,
  id uuid not null,
  username text not null,
  email text,
  email_verified boolean not null default false,
  first_name text,
  last_name text,
  enabled boolean not null default true,
  attributes jsonb not null default '{}'::jsonb,
  required_actions text[] not null default '{}'::text[],
  created_at timestamp with time zone not null,
  manager text,
  updated_at timestamp with time zone not null default now(),
  subject text,
  terms_version text,
  primary key (realm_id, id),
  constraint realm_user_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX realm_user_attributes ON realm_user USING gin (attributes jsonb_path_ops) WITH (gin_pending_list_limit='32768');
CREATE INDEX realm_user_changed ON realm_user USING btree (realm_id, updated_at);
CREATE INDEX realm_user_compatible ON realm_user USING btree (realm_id, lower(NORMALIZE(username, NFKC))) WHERE (lower(NORMALIZE(username, NFKC)) <> lower(username));
CREATE INDEX realm_user_disabled ON realm_user USING btree (realm_id, lower(username)) WHERE (NOT enabled);
CREATE INDEX realm_user_manager ON realm_user USING btree (realm_id, manager) WHERE (manager IS NOT NULL);
CREATE INDEX realm_user_search ON realm_user USING gin (search_form(((((((username || '
'::text) || COALESCE(email, ''::text)) || '
'::text) || COALESCE(first_name, ''::text)) || ' '::text) || COALESCE(last_name, ''::text))) gin_trgm_ops) WITH (gin_pending_list_limit='32768');
CREATE UNIQUE INDEX realm_user_email ON realm_user USING btree (realm_id, lower(email)) WHERE (email IS NOT NULL);
CREATE UNIQUE INDEX realm_user_subject ON realm_user USING btree (realm_id, subject) WHERE (subject IS NOT NULL);
CREATE UNIQUE INDEX realm_user_username ON realm_user USING btree (realm_id, lower(username));

create table refresh_family (
  realm_id text not null,
  id uuid not null,
  client uuid not null,
  user_id uuid not null,
  session_id uuid,
  grant_data jsonb not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  token_hash bytea not null,
  generation integer not null default 0,
  refreshed_at timestamp with time zone,
  primary key (realm_id, id),
  constraint refresh_family_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint refresh_family_realm_id_session_id_fkey FOREIGN KEY (realm_id, session_id) REFERENCES session(realm_id, id) ON DELETE CASCADE,
  constraint refresh_family_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX refresh_family_client ON refresh_family USING btree (realm_id, client);
CREATE INDEX refresh_family_expiry ON refresh_family USING btree (expires_at);
CREATE INDEX refresh_family_revoked ON refresh_family USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);
CREATE INDEX refresh_family_session ON refresh_family USING btree (realm_id, session_id);
CREATE INDEX refresh_family_user ON refresh_family USING btree (realm_id, user_id);

create table revoked_token (
  realm_id text not null,
  jti uuid not null,
  expires_at timestamp with time zone not null,
  primary key (realm_id, jti),
  constraint revoked_token_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX revoked_token_expiry ON revoked_token USING btree (expires_at);

create table role (
  realm_id text not null,
  id uuid not null,
  client uuid,
  name text not null,
  description text,
  is_default boolean not null default false,
  attributes jsonb not null default '{}'::jsonb,
  primary key (realm_id, id),
  constraint role_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint role_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX role_default ON role USING btree (realm_id) WHERE is_default;
CREATE INDEX role_names ON role USING gin (lower(name) gin_trgm_ops);
CREATE INDEX role_texts ON role USING gin (lower(((name || '
'::text) || COALESCE(description, ''::text))) gin_trgm_ops);
CREATE UNIQUE INDEX role_client_name ON role USING btree (realm_id, client, name) WHERE (client IS NOT NULL);
CREATE UNIQUE INDEX role_realm_name ON role USING btree (realm_id, name) WHERE (client IS NULL);

create table role_composite (
  realm_id text not null,
  role_id uuid not null,
  child_id uuid not null,
  primary key (realm_id, role_id, child_id),
  constraint role_composite_realm_id_child_id_fkey FOREIGN KEY (realm_id, child_id) REFERENCES role(realm_id, id) ON DELETE CASCADE,
  constraint role_composite_realm_id_role_id_fkey FOREIGN KEY (realm_id, role_id) REFERENCES role(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX role_composite_child ON role_composite USING btree (realm_id, child_id);

create table saml_answered (
  realm_id text not null,
  client uuid not null,
  request_id text not null,
  expires_at timestamp with time zone not null,
  primary key (realm_id, client, request_id),
  constraint saml_answered_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES saml_client(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX saml_answered_expires_at ON saml_answered USING btree (expires_at);

create table saml_client (
  realm_id text not null,
  id uuid not null,
  entity_id text not null,
  name text,
  enabled boolean not null default true,
  assertion_consumer_services jsonb not null default '[]'::jsonb,
  single_logout_services jsonb not null default '[]'::jsonb,
  name_id_format text not null default 'persistent'::text,
  signing_certificates text[] not null default '{}'::text[],
  encryption_certificate text,
  require_signed_requests boolean not null default false,
  sign_assertions boolean not null default true,
  sign_responses boolean not null default true,
  encrypt_assertions boolean not null default false,
  idp_initiated boolean not null default false,
  mappers jsonb not null default '[]'::jsonb,
  metadata_url text,
  metadata_certificate text,
  flow_override text,
  created_at timestamp with time zone not null,
  metadata_tried_at timestamp with time zone,
  metadata_error text,
  consent_required boolean not null default false,
  primary key (realm_id, id),
  constraint saml_client_name_id_format_check CHECK ((name_id_format = ANY (ARRAY['persistent'::text, 'transient'::text, 'emailAddress'::text, 'unspecified'::text]))),
  constraint saml_client_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX saml_client_metadata ON saml_client USING btree (metadata_tried_at NULLS FIRST) WHERE (metadata_url IS NOT NULL);
CREATE INDEX saml_client_texts ON saml_client USING gin (lower(((entity_id || '
'::text) || COALESCE(name, ''::text))) gin_trgm_ops);
CREATE UNIQUE INDEX saml_client_entity_id ON saml_client USING btree (realm_id, entity_id);

create table saml_consent (
  realm_id text not null,
  user_id uuid not null,
  client uuid not null,
  claims text[] not null,
  granted_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  primary key (realm_id, user_id, client),
  constraint saml_consent_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES saml_client(realm_id, id) ON DELETE CASCADE,
  constraint saml_consent_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX saml_consent_client ON saml_consent USING btree (realm_id, client);

create table saml_logout (
  realm_id text not null,
  token_hash bytea not null,
  progress jsonb not null,
  expires_at timestamp with time zone not null,
  primary key (realm_id, token_hash),
  constraint saml_logout_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX saml_logout_expires_at ON saml_logout USING btree (expires_at);

create table saml_session (
  realm_id text not null,
  session_id uuid not null,
  client uuid not null,
  session_index text not null,
  name_id text not null,
  name_id_format text not null,
  primary key (realm_id, session_id, client),
  constraint saml_session_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES saml_client(realm_id, id) ON DELETE CASCADE,
  constraint saml_session_realm_id_session_id_fkey FOREIGN KEY (realm_id, session_id) REFERENCES session(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX saml_session_name_id ON saml_session USING btree (realm_id, client, name_id);

create table schema_migration (
  number integer not null,
  name text not null,
  checksum text not null,
  breaking boolean not null default false,
  applied_at timestamp with time zone not null default now(),
  primary key (number)
);

create table scim_group (
  realm_id text not null,
  group_id uuid not null,
  external_id text,
  primary key (realm_id, group_id),
  constraint scim_group_realm_id_group_id_fkey FOREIGN KEY (realm_id, group_id) REFERENCES user_group(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX scim_group_external_id ON scim_group USING btree (realm_id, external_id);

create table scim_link (
  realm_id text not null,
  target_id uuid not null,
  kind text not null,
  object_id uuid not null,
  remote_id text,
  digest bytea,
  due_at timestamp with time zone,
  changes bigint not null default 1,
  attempts integer not null default 0,
  error text,
  claimed_until timestamp with time zone,
  primary key (realm_id, target_id, kind, object_id),
  constraint scim_link_kind_check CHECK ((kind = ANY (ARRAY['user'::text, 'group'::text]))),
  constraint scim_link_realm_id_target_id_fkey FOREIGN KEY (realm_id, target_id) REFERENCES scim_target(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX scim_link_due ON scim_link USING btree (realm_id, target_id, kind DESC, due_at) WHERE (due_at IS NOT NULL);

create table scim_link_member (
  realm_id text not null,
  target_id uuid not null,
  group_id uuid not null,
  user_id uuid not null,
  remote_id text not null,
  primary key (realm_id, target_id, group_id, user_id),
  constraint scim_link_member_realm_id_target_id_fkey FOREIGN KEY (realm_id, target_id) REFERENCES scim_target(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX scim_link_member_user ON scim_link_member USING btree (realm_id, target_id, user_id);

create table scim_target (
  realm_id text not null,
  id uuid not null,
  name text not null,
  url text not null,
  enabled boolean not null default true,
  users boolean not null default true,
  groups boolean not null default true,
  filter text,
  mappings jsonb not null default '{}'::jsonb,
  secret bytea,
  primary key (realm_id, id),
  constraint scim_target_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX scim_target_name ON scim_target USING btree (realm_id, name);

create table scim_target_state (
  realm_id text not null,
  target_id uuid not null,
  paused_until timestamp with time zone,
  failures integer not null default 0,
  last_error text,
  last_run_at timestamp with time zone,
  compared_at timestamp with time zone,
  primary key (realm_id, target_id),
  constraint scim_target_state_realm_id_target_id_fkey FOREIGN KEY (realm_id, target_id) REFERENCES scim_target(realm_id, id) ON DELETE CASCADE
);

create table scim_token (
  realm_id text not null,
  id uuid not null,
  name text not null,
  permissions text[] not null,
  token_hash bytea not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  primary key (realm_id, id),
  constraint scim_token_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX scim_token_hash ON scim_token USING btree (realm_id, token_hash);

create table scim_user (
  realm_id text not null,
  user_id uuid not null,
  external_id text,
  email_type text,
  email_primary boolean not null default true,
  document jsonb not null default '{}'::jsonb,
  further_emails text[] not null default '{}'::text[],
  primary key (realm_id, user_id),
  constraint scim_user_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX scim_user_external_id ON scim_user USING btree (realm_id, external_id);
CREATE INDEX scim_user_further_emails ON scim_user USING gin (further_emails) WITH (fastupdate=off);
CREATE INDEX scim_user_with_further_emails ON scim_user USING btree (realm_id, user_id) WHERE (further_emails <> '{}'::text[]);

create table secret_guess (
  realm_id text not null,
  principal_id uuid not null,
  secret_id uuid not null,
  digest bytea not null,
  guessed_at timestamp with time zone not null,
  primary key (realm_id, principal_id, secret_id, digest),
  constraint secret_guess_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX secret_guess_age ON secret_guess USING btree (guessed_at);

create table session (
  realm_id text not null,
  id uuid not null,
  token_hash bytea not null,
  user_id uuid not null,
  ip_address text,
  user_agent text,
  started_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  remember_me boolean not null default false,
  authenticated_at timestamp with time zone not null,
  level_of_assurance integer not null default 1,
  methods text[] not null default '{}'::text[],
  factors jsonb,
  risk jsonb,
  impersonator jsonb,
  primary key (realm_id, id),
  constraint session_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX session_acted_from ON session USING btree (((impersonator ->> 'session'::text))) WHERE (impersonator IS NOT NULL);
CREATE INDEX session_by_user ON session USING btree (realm_id, user_id, started_at);
CREATE INDEX session_expiry ON session USING btree (expires_at);
CREATE INDEX session_impersonator ON session USING btree (((impersonator ->> 'id'::text))) WHERE (impersonator IS NOT NULL);
CREATE UNIQUE INDEX session_token ON session USING btree (realm_id, token_hash);

create table session_client (
  realm_id text not null,
  session_id uuid not null,
  client uuid not null,
  primary key (realm_id, session_id, client),
  constraint session_client_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint session_client_realm_id_session_id_fkey FOREIGN KEY (realm_id, session_id) REFERENCES session(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX session_client_client ON session_client USING btree (realm_id, client);

create table sign_in (
  realm_id text not null,
  id bytea not null,
  state jsonb not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  session_id uuid,
  primary key (realm_id, id),
  constraint sign_in_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE,
  constraint sign_in_realm_id_session_id_fkey FOREIGN KEY (realm_id, session_id) REFERENCES session(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX sign_in_address ON sign_in USING btree (realm_id, ((state ->> 'address'::text))) WHERE (state ? 'address'::text);
CREATE INDEX sign_in_expiry ON sign_in USING btree (expires_at);
CREATE INDEX sign_in_session ON sign_in USING btree (realm_id, session_id) WHERE (session_id IS NOT NULL);

create table sign_in_history (
  realm_id text not null,
  id uuid not null,
  user_id uuid not null,
  at timestamp with time zone not null,
  success boolean not null,
  ip_address text,
  network text,
  latitude double precision,
  longitude double precision,
  country text,
  primary key (realm_id, id),
  constraint sign_in_history_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX sign_in_history_failed ON sign_in_history USING btree (realm_id, network, at) WHERE (NOT success);
CREATE INDEX sign_in_history_user ON sign_in_history USING btree (realm_id, user_id, at DESC);

create table sign_in_report (
  realm_id text not null,
  link_hash bytea not null,
  user_id uuid not null,
  session_id uuid not null,
  device_hash bytea,
  expires_at timestamp with time zone not null,
  email text,
  begun_at timestamp with time zone,
  changed_fields text[] not null default '{}'::text[],
  primary key (realm_id, link_hash),
  constraint sign_in_report_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE,
  constraint sign_in_report_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX sign_in_report_expiry ON sign_in_report USING btree (expires_at);
CREATE INDEX sign_in_report_person ON sign_in_report USING btree (realm_id, user_id);

create table signal_connection (
  realm_id text not null,
  transmitter uuid not null,
  stream_id text not null,
  audience text,
  poll_url text,
  connected_at timestamp with time zone not null,
  primary key (realm_id, transmitter),
  constraint signal_connection_realm_id_transmitter_fkey FOREIGN KEY (realm_id, transmitter) REFERENCES signal_transmitter(realm_id, id) ON DELETE CASCADE
);

create table signal_person (
  realm_id text not null,
  user_id uuid not null,
  email text,
  subject text,
  enabled boolean not null,
  receivers uuid[] not null default '{}'::uuid[],
  primary key (realm_id, user_id),
  constraint signal_person_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);

create table signal_received (
  realm_id text not null,
  transmitter uuid not null,
  jti_hash bytea not null,
  expires_at timestamp with time zone not null,
  primary key (realm_id, transmitter, jti_hash),
  constraint signal_received_realm_id_transmitter_fkey FOREIGN KEY (realm_id, transmitter) REFERENCES signal_transmitter(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX signal_received_end ON signal_received USING btree (expires_at);

create table signal_receiver (
  realm_id text not null,
  id uuid not null,
  client_id text not null,
  enabled boolean not null,
  events text[] not null,
  subjects text not null,
  start_with text not null,
  formats text[] not null,
  audience text,
  subject_in_events boolean not null,
  primary key (realm_id, id),
  constraint signal_receiver_start_with_check CHECK ((start_with = ANY (ARRAY['all'::text, 'none'::text]))),
  constraint signal_receiver_subjects_check CHECK ((subjects = ANY (ARRAY['used'::text, 'all'::text]))),
  constraint signal_receiver_realm_id_client_id_fkey FOREIGN KEY (realm_id, client_id) REFERENCES client(realm_id, client_id) ON UPDATE CASCADE ON DELETE CASCADE,
  constraint signal_receiver_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX signal_receiver_client ON signal_receiver USING btree (realm_id, client_id);

create table signal_risk (
  realm_id text not null,
  user_id uuid not null,
  expires_at timestamp with time zone not null,
  primary key (realm_id, user_id),
  constraint signal_risk_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX signal_risk_end ON signal_risk USING btree (expires_at);

create table signal_set (
  realm_id text not null,
  id uuid not null,
  stream_id uuid not null,
  user_id uuid,
  event text not null,
  claims jsonb not null,
  created_at timestamp with time zone not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  response_status integer,
  error text,
  last_attempt_at timestamp with time zone,
  primary key (realm_id, id),
  constraint signal_set_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead'::text]))),
  constraint signal_set_realm_id_stream_id_fkey FOREIGN KEY (realm_id, stream_id) REFERENCES signal_stream(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX signal_set_age ON signal_set USING btree (created_at);
CREATE INDEX signal_set_stream ON signal_set USING btree (realm_id, stream_id, id);
CREATE INDEX signal_set_user ON signal_set USING btree (realm_id, user_id) WHERE (user_id IS NOT NULL);
CREATE INDEX signal_set_waiting ON signal_set USING btree (realm_id, stream_id, id) WHERE (status = 'pending'::text);

create table signal_source (
  realm_id text not null,
  id uuid not null,
  type text not null,
  occurred_at timestamp with time zone not null,
  actor jsonb,
  subject jsonb,
  data jsonb not null,
  primary key (realm_id, id),
  constraint signal_source_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);

create table signal_stream (
  realm_id text not null,
  id uuid not null,
  receiver uuid not null,
  method text not null,
  pushed boolean not null,
  endpoint_url text,
  authorization_header bytea,
  events_requested text[],
  format text not null,
  description text,
  status text not null default 'enabled'::text,
  status_reason text,
  created_at timestamp with time zone not null,
  verified_at timestamp with time zone,
  primary key (realm_id, id),
  constraint signal_stream_status_check CHECK ((status = ANY (ARRAY['enabled'::text, 'paused'::text, 'disabled'::text]))),
  constraint signal_stream_realm_id_receiver_fkey FOREIGN KEY (realm_id, receiver) REFERENCES signal_receiver(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX signal_stream_receiver ON signal_stream USING btree (realm_id, receiver);

create table signal_stream_subject (
  realm_id text not null,
  stream_id uuid not null,
  user_id uuid not null,
  added boolean not null,
  primary key (realm_id, stream_id, user_id),
  constraint signal_stream_subject_realm_id_stream_id_fkey FOREIGN KEY (realm_id, stream_id) REFERENCES signal_stream(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX signal_stream_subject_user ON signal_stream_subject USING btree (realm_id, user_id);

create table signal_transmitter (
  realm_id text not null,
  id uuid not null,
  name text not null,
  enabled boolean not null,
  issuer text not null,
  jwks_uri text,
  audience text,
  identity_provider text,
  match_email boolean not null,
  reactions jsonb not null,
  delivery text not null,
  poll_url text,
  secret bytea,
  access_token bytea,
  primary key (realm_id, id),
  constraint signal_transmitter_delivery_check CHECK ((delivery = ANY (ARRAY['push'::text, 'poll'::text]))),
  constraint signal_transmitter_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX signal_transmitter_name ON signal_transmitter USING btree (realm_id, name);

create table spent_proof (
  realm_id text not null,
  digest bytea not null,
  expires_at timestamp with time zone not null,
  primary key (realm_id, digest),
  constraint spent_proof_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX spent_proof_expiry ON spent_proof USING btree (expires_at);

create table statistic (
  realm_id text not null,
  step text not null,
  kind text not null,
  at timestamp with time zone not null,
  key text not null,
  count bigint not null,
  primary key (realm_id, step, kind, at, key),
  constraint statistic_step_check CHECK ((step = ANY (ARRAY['hour'::text, 'day'::text]))),
  constraint statistic_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX statistic_age ON statistic USING btree (step, at);

create table transaction_token_policy (
  realm_id text not null,
  id uuid not null,
  name text not null,
  enabled boolean not null,
  client_id text not null,
  trust_domain text not null,
  scopes jsonb not null,
  replaces boolean not null,
  ttl_seconds integer not null,
  primary key (realm_id, id),
  constraint transaction_token_policy_realm_id_client_id_fkey FOREIGN KEY (realm_id, client_id) REFERENCES client(realm_id, client_id) ON UPDATE CASCADE ON DELETE CASCADE,
  constraint transaction_token_policy_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX transaction_token_policy_client ON transaction_token_policy USING btree (realm_id, client_id, trust_domain);
CREATE UNIQUE INDEX transaction_token_policy_name ON transaction_token_policy USING btree (realm_id, name);

create table uma_resource (
  realm_id text not null,
  id uuid not null,
  client uuid not null,
  user_id uuid,
  name text,
  description text,
  type text,
  icon_uri text,
  uris text[] not null,
  scopes text[] not null,
  created_at timestamp with time zone not null,
  primary key (realm_id, id),
  constraint uma_resource_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint uma_resource_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX uma_resource_client ON uma_resource USING btree (realm_id, client);
CREATE INDEX uma_resource_owner ON uma_resource USING btree (realm_id, user_id);
CREATE INDEX uma_resource_type ON uma_resource USING btree (realm_id, client, type, id);

create table uma_share (
  realm_id text not null,
  id uuid not null,
  client uuid not null,
  resource text not null,
  user_id uuid not null,
  requester_id uuid,
  named text not null,
  scopes text[] not null,
  requested text[] not null,
  denied text[] not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  primary key (realm_id, id),
  constraint uma_share_realm_id_client_fkey FOREIGN KEY (realm_id, client) REFERENCES client(realm_id, id) ON DELETE CASCADE,
  constraint uma_share_realm_id_requester_id_fkey FOREIGN KEY (realm_id, requester_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE,
  constraint uma_share_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX uma_share_client ON uma_share USING btree (realm_id, client, resource);
CREATE INDEX uma_share_owner ON uma_share USING btree (realm_id, user_id);
CREATE UNIQUE INDEX uma_share_named ON uma_share USING btree (realm_id, client, resource, user_id, lower(named)) WHERE (requester_id IS NULL);
CREATE UNIQUE INDEX uma_share_requester ON uma_share USING btree (realm_id, requester_id, client, resource, user_id);

create table user_group (
  realm_id text not null,
  id uuid not null,
  parent_id uuid,
  name text not null,
  path text not null,
  attributes jsonb not null default '{}'::jsonb,
  is_default boolean not null default false,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  primary key (realm_id, id),
  constraint user_group_name_check CHECK (((name <> ''::text) AND (name !~ '/'::text))),
  constraint user_group_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE,
  constraint user_group_realm_id_parent_id_fkey FOREIGN KEY (realm_id, parent_id) REFERENCES user_group(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX user_group_default ON user_group USING btree (realm_id) WHERE is_default;
CREATE INDEX user_group_folded_path ON user_group USING btree (realm_id, lower(path));
CREATE INDEX user_group_names ON user_group USING gin (lower(name) gin_trgm_ops);
CREATE INDEX user_group_parent ON user_group USING btree (realm_id, parent_id);
CREATE INDEX user_group_paths ON user_group USING gin (lower(path) gin_trgm_ops);
CREATE INDEX user_group_shown_path ON user_group USING btree (realm_id, lower(replace(path, '%2F'::text, '/'::text)));
CREATE UNIQUE INDEX user_group_path ON user_group USING btree (realm_id, path);

create table user_role (
  realm_id text not null,
  user_id uuid not null,
  role_id uuid not null,
  primary key (realm_id, user_id, role_id),
  constraint user_role_realm_id_role_id_fkey FOREIGN KEY (realm_id, role_id) REFERENCES role(realm_id, id) ON DELETE CASCADE,
  constraint user_role_realm_id_user_id_fkey FOREIGN KEY (realm_id, user_id) REFERENCES realm_user(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX user_role_role ON user_role USING btree (realm_id, role_id);

create table webhook (
  realm_id text not null,
  id uuid not null,
  name text not null,
  url text not null,
  event_types text[] not null,
  secret bytea,
  enabled boolean not null default true,
  created_at timestamp with time zone not null,
  primary key (realm_id, id),
  constraint webhook_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX webhook_name ON webhook USING btree (realm_id, name);

create table webhook_delivery (
  realm_id text not null,
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  body text not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  response_status integer,
  error text,
  created_at timestamp with time zone not null,
  last_attempt_at timestamp with time zone,
  primary key (realm_id, id),
  constraint webhook_delivery_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'retrying'::text, 'dead'::text]))),
  constraint webhook_delivery_realm_id_webhook_id_fkey FOREIGN KEY (realm_id, webhook_id) REFERENCES webhook(realm_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_delivery_age ON webhook_delivery USING btree (created_at);
CREATE INDEX webhook_delivery_order ON webhook_delivery USING btree (realm_id, event_id, webhook_id);
CREATE INDEX webhook_delivery_unsettled ON webhook_delivery USING btree (realm_id, status, event_id, webhook_id) WHERE (status <> 'succeeded'::text);
CREATE UNIQUE INDEX webhook_delivery_event ON webhook_delivery USING btree (realm_id, webhook_id, event_id);

create table workload_identity (
  realm_id text not null,
  id uuid not null,
  name text not null,
  issuer text not null,
  jwks_uri text,
  subject text not null,
  audience text not null,
  client_id text not null,
  scopes text not null default ''::text,
  enabled boolean not null default true,
  admin_access boolean not null default true,
  use text not null default 'exchange'::text,
  single_use boolean,
  primary key (realm_id, id),
  constraint workload_identity_realm_id_client_id_fkey FOREIGN KEY (realm_id, client_id) REFERENCES client(realm_id, client_id) ON UPDATE CASCADE ON DELETE CASCADE,
  constraint workload_identity_realm_id_fkey FOREIGN KEY (realm_id) REFERENCES realm(realm_id) ON DELETE CASCADE
);
CREATE INDEX workload_identity_client ON workload_identity USING btree (realm_id, client_id);
CREATE UNIQUE INDEX workload_identity_match ON workload_identity USING btree (realm_id, issuer, subject, audience);
CREATE UNIQUE INDEX workload_identity_name ON workload_identity USING btree (realm_id, name);
