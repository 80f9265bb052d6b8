-- Organizations, their domains, and who belongs to them.
create table organization (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  display_name text,
  enabled boolean not null default true,
  -- aliases
  identity_providers text[] not null default '{}',
  attributes jsonb not null default '{}',
  created_at timestamptz not null,
  primary key (realm_id, id)
);
create unique index organization_name on organization (realm_id, name);

create table organization_domain (
  realm_id text not null,
  organization_id uuid not null,
  name text not null,
  verified boolean not null,
  primary key (realm_id, organization_id, name),
  foreign key (realm_id, organization_id) references organization on delete cascade
);
-- a verified one belongs to one organization; others only claim it
create unique index organization_domain_verified on organization_domain (realm_id, name) where verified;

create table organization_member (
  realm_id text not null,
  organization_id uuid not null,
  user_id uuid not null,
  joined_at timestamptz not null,
  primary key (realm_id, organization_id, user_id),
  foreign key (realm_id, organization_id) references organization on delete cascade,
  foreign key (realm_id, user_id) references realm_user on delete cascade
);
create index organization_member_user on organization_member (realm_id, user_id);
