-- Shared Signals: the clients that may have streams, their streams, and the tokens in them.
create table signal_receiver (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  client_id text not null,
  enabled boolean not null,
  events text[] not null,
  subjects text not null check (subjects in ('used', 'all')),
  start_with text not null check (start_with in ('all', 'none')),
  formats text[] not null,
  audience text,
  subject_in_events boolean not null,
  primary key (realm_id, id),
  foreign key (realm_id, client_id) references client (realm_id, client_id) on update cascade on delete cascade
);
create unique index signal_receiver_client on signal_receiver (realm_id, client_id);

create table signal_stream (
  realm_id text not null,
  id uuid not null,
  receiver uuid not null,
  -- as the receiver asked for it: drafts had other names
  method text not null,
  pushed boolean not null,
  endpoint_url text,
  -- sealed: it is sent with each token
  authorization_header bytea,
  -- null: all that the receiver may have
  events_requested text[],
  format text not null,
  description text,
  status text not null default 'enabled' check (status in ('enabled', 'paused', 'disabled')),
  status_reason text,
  created_at timestamptz not null,
  verified_at timestamptz,
  primary key (realm_id, id),
  foreign key (realm_id, receiver) references signal_receiver (realm_id, id) on delete cascade
);
create index signal_stream_receiver on signal_stream (realm_id, receiver);

-- People whom a receiver added to a stream, or removed from it. No key to realm_user: a deletion is told after it.
create table signal_stream_subject (
  realm_id text not null,
  stream_id uuid not null,
  user_id uuid not null,
  added boolean not null,
  primary key (realm_id, stream_id, user_id),
  foreign key (realm_id, stream_id) references signal_stream (realm_id, id) on delete cascade
);
create index signal_stream_subject_user on signal_stream_subject (realm_id, user_id);

-- What receivers have been able to learn of people, so that a change or a deletion can be told: no key to realm_user.
create table signal_person (
  realm_id text not null references realm on delete cascade,
  user_id uuid not null,
  email text,
  subject text,
  enabled boolean not null,
  -- the receivers whose client the user has used
  receivers uuid[] not null default '{}',
  primary key (realm_id, user_id)
);

-- Events whose tokens are not made yet.
create table signal_source (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  type text not null,
  occurred_at timestamptz not null,
  actor jsonb,
  subject jsonb,
  data jsonb not null,
  primary key (realm_id, id)
);

create table signal_set (
  realm_id text not null,
  id uuid not null,
  stream_id uuid not null,
  -- no key: a deletion is told after it
  user_id uuid,
  event text not null,
  claims jsonb not null,
  created_at timestamptz not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'dead')),
  attempts integer not null default 0,
  response_status integer,
  error text,
  last_attempt_at timestamptz,
  primary key (realm_id, id),
  foreign key (realm_id, stream_id) references signal_stream (realm_id, id) on delete cascade
);
create index signal_set_waiting on signal_set (realm_id, stream_id, id) where status = 'pending';
create index signal_set_stream on signal_set (realm_id, stream_id, id);
create index signal_set_age on signal_set (created_at);
create index signal_set_user on signal_set (realm_id, user_id) where user_id is not null;

-- Other servers whose events count here.
create table signal_transmitter (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  enabled boolean not null,
  issuer text not null,
  jwks_uri text,
  audience text,
  identity_provider text,
  match_email boolean not null,
  reactions jsonb not null,
  delivery text not null check (delivery in ('push', 'poll')),
  poll_url text,
  secret bytea,
  access_token bytea,
  primary key (realm_id, id)
);
create unique index signal_transmitter_name on signal_transmitter (realm_id, name);

-- The stream that the realm has at a transmitter, if the server created it.
create table signal_connection (
  realm_id text not null,
  transmitter uuid not null,
  stream_id text not null,
  audience text,
  poll_url text,
  connected_at timestamptz not null,
  primary key (realm_id, transmitter),
  foreign key (realm_id, transmitter) references signal_transmitter (realm_id, id) on delete cascade
);

-- Tokens that were received: each counts once.
create table signal_received (
  realm_id text not null,
  transmitter uuid not null,
  jti_hash bytea not null,
  expires_at timestamptz not null,
  primary key (realm_id, transmitter, jti_hash),
  foreign key (realm_id, transmitter) references signal_transmitter (realm_id, id) on delete cascade
);
create index signal_received_end on signal_received (expires_at);

-- People about whom a transmitter raised the risk, until then.
create table signal_risk (
  realm_id text not null,
  user_id uuid not null,
  expires_at timestamptz not null,
  primary key (realm_id, user_id),
  foreign key (realm_id, user_id) references realm_user (realm_id, id) on delete cascade
);
create index signal_risk_end on signal_risk (expires_at);
