-- Messages on their way, how many there were, and the devices that push messages reach.
create table message (
  realm_id text not null references realm on delete cascade,
  -- UUIDv7: sorts by time, so it is the list's cursor
  id uuid not null,
  channel text not null check (channel in ('EMAIL', 'SMS', 'PUSH')),
  template_key text not null,
  user_id uuid,
  -- shortened, as administrators see it
  recipient text not null,
  status text not null default 'pending' check (status in ('pending', 'retrying', 'sent', 'dead')),
  attempts int not null default 0,
  error text,
  -- sealed: whom it goes to and what it says; deleted when it is sent or given up. Null from the start: nobody is there
  content bytea,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  last_attempt_at timestamptz,
  primary key (realm_id, id),
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create index message_user on message (realm_id, user_id);
create index message_status on message (realm_id, status, id);
create index message_age on message (created_at);

-- messages of an hour: to one recipient, from one network address, of a realm
create table message_count (
  realm_id text not null references realm on delete cascade,
  key text not null,
  hour timestamptz not null,
  used int not null,
  primary key (realm_id, key, hour)
);
create index message_count_age on message_count (hour);

create table push_token (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  user_id uuid not null,
  platform text not null check (platform in ('fcm', 'apns')),
  device_name text,
  -- sealed: it must be read again to send; known again by its digest
  token bytea not null,
  token_digest bytea not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  primary key (realm_id, id),
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create unique index push_token_digest on push_token (realm_id, token_digest);
create index push_token_user on push_token (realm_id, user_id);
