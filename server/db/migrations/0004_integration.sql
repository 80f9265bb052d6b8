-- Audit events, webhooks with their deliveries, workload identity, the import's staging area.
create table event (
  realm_id text not null,
  -- UUIDv7: sorts by time, so it is the list's cursor
  id uuid not null,
  type text not null,
  occurred_at timestamptz not null,
  -- {type, id, name} of who did it; null when nobody is known
  actor jsonb,
  -- {type, id, name} of what it was done to
  subject jsonb,
  client_id text,
  ip_address text,
  outcome text not null check (outcome in ('success', 'failure', 'denied')),
  data jsonb not null default '{}',
  primary key (realm_id, id)
);
create index event_type on event (realm_id, type, id);
-- what a person did, and what was done to them
create index event_actor on event (realm_id, (actor ->> 'id'), id) where actor ->> 'type' = 'user';
create index event_subject on event (realm_id, (subject ->> 'id'), id) where subject ->> 'type' = 'user';

create table webhook (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  url text not null,
  event_types text[] not null,
  -- sealed: it must be read again to sign
  secret bytea,
  enabled boolean not null default true,
  created_at timestamptz not null,
  primary key (realm_id, id)
);
create unique index webhook_name on webhook (realm_id, name);

create table webhook_delivery (
  realm_id text not null,
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  -- the exact bytes that are signed and sent
  body text not null,
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'retrying', 'dead')),
  attempts int not null default 0,
  response_status int,
  error text,
  created_at timestamptz not null,
  last_attempt_at timestamptz,
  primary key (realm_id, id),
  foreign key (realm_id, webhook_id) references webhook on delete cascade
);
-- the list's order: event ids sort by time
create unique index webhook_delivery_event on webhook_delivery (realm_id, webhook_id, event_id);
create index webhook_delivery_age on webhook_delivery (created_at);

create table workload_identity (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  issuer text not null,
  jwks_uri text,
  subject text not null,
  audience text not null,
  client_id text not null,
  scopes text not null default '',
  enabled boolean not null default true,
  primary key (realm_id, id),
  foreign key (realm_id, client_id) references client (realm_id, client_id) on update cascade on delete cascade
);
create unique index workload_identity_name on workload_identity (realm_id, name);
create unique index workload_identity_match on workload_identity (realm_id, issuer, subject, audience);
create index workload_identity_client on workload_identity (realm_id, client_id);

-- Users of an import under way: filled by COPY outside the transaction, merged inside it, dropped after the answer.
create unlogged table import_user (
  import_id uuid not null,
  n bigint not null,
  id uuid not null,
  -- the row as the document has it (without write-only fields)
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
  -- keys `clientId/role`, as in plans
  client_roles text[],
  -- rows of credential, sealed already: [{id, type, label, secret}]
  credentials jsonb,
  created_at timestamptz,
  -- which fields the document declares
  declared text[] not null,
  -- filled by the plan: create | update | take | same | conflict | delete
  action text not null,
  changes jsonb,
  started_at timestamptz not null default now(),
  primary key (import_id, n)
);
