-- Devices that ask for access (RFC 8628): a person types their code elsewhere and says yes or no; the device asks until then.
-- What a device is given, and how it is used up, has the names of authorization_code.
create table device_authorization (
  realm_id text not null,
  code_hash bytea not null,
  client uuid not null,
  user_code_hash bytea not null,
  -- what the device asked for, as a form
  parameters text not null,
  ip_address text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  interval_seconds int not null,
  polled_at timestamptz,
  denied_at timestamptz,
  -- of the person who allowed it
  session_id uuid,
  user_id uuid,
  request jsonb,
  used_at timestamptz,
  family_id uuid,
  primary key (realm_id, code_hash),
  unique (realm_id, user_code_hash),
  foreign key (realm_id, client) references client on delete cascade,
  foreign key (realm_id, session_id) references session on delete cascade
);
create index device_authorization_client on device_authorization (realm_id, client);
create index device_authorization_session on device_authorization (realm_id, session_id);
create index device_authorization_expiry on device_authorization (expires_at);
