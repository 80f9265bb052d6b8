-- What resource servers register of what people own, whom its owners share it with, and what was asked for where it wasn't
-- permitted (User-Managed Access 2.0).
create table uma_resource (
  realm_id text not null,
  id uuid not null,
  -- the resource server that registered it
  client uuid not null,
  -- its owner; null: the resource server itself
  user_id uuid,
  name text,
  description text,
  type text,
  icon_uri text,
  uris text[] not null,
  scopes text[] not null,
  created_at timestamptz not null,
  primary key (realm_id, id),
  foreign key (realm_id, client) references client on delete cascade,
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create index uma_resource_client on uma_resource (realm_id, client);
create index uma_resource_owner on uma_resource (realm_id, user_id);

create table uma_share (
  realm_id text not null,
  id uuid not null,
  client uuid not null,
  -- the id of a registered resource, or the name of a configured one
  resource text not null,
  -- who owned the resource then: a share of somebody else's before counts no more
  user_id uuid not null,
  -- with whom; null: nobody had the name that the owner typed
  requester_id uuid,
  named text not null,
  scopes text[] not null,
  requested text[] not null,
  denied text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (realm_id, id),
  foreign key (realm_id, client) references client on delete cascade,
  foreign key (realm_id, user_id) references realm_user on delete cascade,
  foreign key (realm_id, requester_id) references realm_user on delete cascade
);
create unique index uma_share_requester on uma_share (realm_id, requester_id, client, resource, user_id);
create unique index uma_share_named on uma_share (realm_id, client, resource, user_id, lower(named)) where requester_id is null;
create index uma_share_client on uma_share (realm_id, client, resource);
create index uma_share_owner on uma_share (realm_id, user_id);

create table permission_ticket (
  realm_id text not null,
  ticket_hash bytea not null,
  -- the resource server that asked
  client uuid not null,
  permissions jsonb not null,
  -- what the resource server says of the request
  context jsonb not null,
  -- the client, and the person, that alone may bring it; null: whoever has it
  issued_to uuid,
  user_id uuid,
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (realm_id, ticket_hash),
  foreign key (realm_id, client) references client on delete cascade,
  foreign key (realm_id, issued_to) references client on delete cascade,
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create index permission_ticket_client on permission_ticket (realm_id, client);
create index permission_ticket_issued_to on permission_ticket (realm_id, issued_to);
create index permission_ticket_user on permission_ticket (realm_id, user_id);
create index permission_ticket_expiry on permission_ticket (expires_at);

-- The scope of a resource server's tokens for the protection API, in realms that are older than it.
insert into client_scope (realm_id, id, name, description)
select realm_id, gen_random_uuid(), 'uma_protection', 'Register what is yours, so that you decide who may use it' from realm
on conflict do nothing;
