-- Devices that people approve sign-ins with. Their keys are credentials: type 'device', secret {alg, publicKey}.
create table device_enrolment (
  realm_id text not null references realm on delete cascade,
  token_hash bytea not null,
  user_id uuid not null,
  -- A sign-in asked for it, and confirms what is enrolled by it.
  to_confirm boolean not null,
  -- Of what was enrolled by it: the credential's id, and all else until it is confirmed, sealed, in base64.
  device_id uuid,
  device text,
  used_at timestamptz,
  expires_at timestamptz not null,
  primary key (realm_id, token_hash),
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create index device_enrolment_user on device_enrolment (realm_id, user_id);
create index device_enrolment_expiry on device_enrolment (expires_at);

-- What is to be approved on a device: a push, or a QR code that was confirmed.
create table device_challenge (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  user_id uuid not null,
  kind text not null check (kind in ('push', 'qr')),
  status text not null check (status in ('waiting', 'approved', 'denied', 'used')),
  challenge text not null,
  -- Shown where somebody signs in, and typed on the device.
  number text,
  application text,
  ip_address text,
  user_agent text,
  -- That decided.
  credential_id uuid,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (realm_id, id),
  foreign key (realm_id, user_id) references realm_user on delete cascade,
  foreign key (realm_id, credential_id) references credential on delete cascade
);
create index device_challenge_user on device_challenge (realm_id, user_id, created_at);
create index device_challenge_credential on device_challenge (realm_id, credential_id);
create index device_challenge_expiry on device_challenge (expires_at);

-- A device that is removed gets no message any more.
alter table push_token add column credential_id uuid,
  add foreign key (realm_id, credential_id) references credential on delete cascade;
create index push_token_credential on push_token (realm_id, credential_id) where credential_id is not null;
