-- Client-initiated backchannel authentication (OpenID Connect CIBA): requests that a user decides on a device.
create table backchannel_authentication (
  realm_id text not null,
  id uuid not null,
  -- of the auth_req_id
  code_hash bytea not null,
  client uuid not null,
  -- null: no such user, which the client must not learn
  user_id uuid,
  -- of the hint by which the client named the user
  hint_hash bytea not null,
  -- what the client asked for, as a form
  parameters text not null,
  binding_message text,
  -- devices sign it
  challenge text not null,
  -- false: beyond the limit, or like one that waits already
  shown boolean not null,
  -- sealed: the auth_req_id and the token for the client's notification endpoint
  notification bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  interval_seconds int not null,
  polled_at timestamptz,
  denied_at timestamptz,
  -- of the user who approved it
  session_id uuid,
  request jsonb,
  used_at timestamptz,
  family_id uuid,
  primary key (realm_id, code_hash),
  unique (realm_id, id),
  foreign key (realm_id, client) references client on delete cascade,
  foreign key (realm_id, user_id) references realm_user (realm_id, id) on delete cascade,
  foreign key (realm_id, session_id) references session on delete cascade
);
create index backchannel_authentication_client on backchannel_authentication (realm_id, client);
create index backchannel_authentication_user on backchannel_authentication (realm_id, user_id, created_at);
create index backchannel_authentication_session on backchannel_authentication (realm_id, session_id);
create index backchannel_authentication_expiry on backchannel_authentication (expires_at);

alter table client add column backchannel_notification_endpoint text;
