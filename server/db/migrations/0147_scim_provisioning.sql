-- What each SCIM target has of the realm's people and groups, and what is still to be sent there.
create table scim_link (
  realm_id text not null,
  target_id uuid not null,
  kind text not null check (kind in ('user', 'group')),
  object_id uuid not null,
  -- its id there; null: it is not there yet
  remote_id text,
  -- of what was sent last
  digest bytea,
  -- null: in step
  due_at timestamptz,
  -- raised by each change, so that one during a send is not taken for sent
  changes bigint not null default 1,
  attempts int not null default 0,
  error text,
  -- while a process sends it
  claimed_until timestamptz,
  primary key (realm_id, target_id, kind, object_id),
  foreign key (realm_id, target_id) references scim_target on delete cascade
);
create index scim_link_due on scim_link (realm_id, target_id, kind, due_at) where due_at is not null;

-- Members of a group as they were sent.
create table scim_link_member (
  realm_id text not null,
  target_id uuid not null,
  group_id uuid not null,
  user_id uuid not null,
  remote_id text not null,
  primary key (realm_id, target_id, group_id, user_id),
  foreign key (realm_id, target_id) references scim_target on delete cascade
);
create index scim_link_member_user on scim_link_member (realm_id, target_id, user_id);

-- How a target does as a whole.
create table scim_target_state (
  realm_id text not null,
  target_id uuid not null,
  -- it doesn't answer, or asked for time
  paused_until timestamptz,
  failures int not null default 0,
  last_error text,
  last_run_at timestamptz,
  compared_at timestamptz,
  primary key (realm_id, target_id),
  foreign key (realm_id, target_id) references scim_target on delete cascade
);
