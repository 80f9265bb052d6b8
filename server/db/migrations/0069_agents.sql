-- Agents: programs that act by a client of their own, for a purpose, for as long as somebody answers for them.
create table agent (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  description text,
  purpose text,
  -- who answers for it
  user_id uuid,
  client_id text,
  scopes text[] not null default '{}',
  status text not null default 'draft' check (status in ('draft', 'active', 'suspended', 'revoked')),
  expires_at timestamptz,
  review_interval_days int check (review_interval_days > 0),
  reviewed_at timestamptz,
  -- of which review the owner was reminded
  reminded_of timestamptz,
  created_at timestamptz not null,
  primary key (realm_id, id),
  foreign key (realm_id, user_id) references realm_user on delete set null (user_id),
  foreign key (realm_id, client_id) references client (realm_id, client_id)
    on update cascade on delete set null (client_id)
);
create unique index agent_name on agent (realm_id, name);
create unique index agent_client on agent (realm_id, client_id);
create index agent_user on agent (realm_id, user_id);

-- When an agent acted last.
create index event_agent on event (realm_id, (actor ->> 'id'), id) where actor ->> 'type' = 'agent';
