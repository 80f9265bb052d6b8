-- Invitations by mail: whoever has the link joins the organization, or makes an account first. Each is for one use.
create table invitation (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  email text not null,
  -- null: to the realm alone
  organization_id uuid,
  -- of what the link holds
  link_hash bytea not null,
  -- null: the link was shown to an administrator, and says nothing about the address
  mailed_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (realm_id, id),
  foreign key (realm_id, organization_id) references organization (realm_id, id) on delete cascade
);
create unique index invitation_link on invitation (realm_id, link_hash);
create unique index invitation_once on invitation (realm_id, lower(email), organization_id) nulls not distinct;
create index invitation_expiry on invitation (expires_at);
create index invitation_organization on invitation (realm_id, organization_id);
