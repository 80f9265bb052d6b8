-- How far the audit log is forwarded. One row, once forwarding was configured.
create table event_forwarding (
  one boolean primary key default true check (one),
  -- of the last event that the receiver has
  position bigint not null,
  id uuid not null,
  -- the process that forwards, as long as it says so
  holder uuid,
  held_until timestamptz,
  sent bigint not null default 0,
  last_sent_at timestamptz,
  last_error text
);

-- Events of deleted realms that are still to be forwarded.
create table departed_event (
  realm_id text not null,
  id uuid not null,
  position bigint not null,
  type text not null,
  occurred_at timestamptz not null,
  actor jsonb,
  subject jsonb,
  client_id text,
  ip_address text,
  outcome text not null,
  data jsonb not null,
  primary key (realm_id, id)
);
create index departed_event_position on departed_event (position);
