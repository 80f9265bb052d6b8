-- A realm, its settings, its keys, and who manages what in it.
create table realm (
  realm_id text primary key check (realm_id ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  -- raised by each configuration write; export's ETag and what the operator's drift check reads
  revision bigint not null default 1,
  -- only what was set; a field that is absent has the default of contract/settings.ts
  settings jsonb not null default '{}',
  -- who created it ('' = a person) and which managers may adopt it
  created_by text not null default '',
  adoption text[] not null default '{}',
  created_at timestamptz not null
);

create table realm_key (
  realm_id text not null references realm on delete cascade,
  key_id uuid not null,
  algorithm text not null default 'RSA',
  -- base64 DER, SubjectPublicKeyInfo
  public_key text not null,
  -- PKCS#8 DER, sealed
  private_key bytea not null,
  created_at timestamptz not null,
  -- null: published ahead of its first use, so that no verifier meets a key that its replica doesn't publish yet
  activated_at timestamptz,
  rotated_at timestamptz check (rotated_at is null or activated_at is not null),
  primary key (realm_id, key_id)
);
create unique index realm_key_active on realm_key (realm_id) where activated_at is not null and rotated_at is null;

-- Ownership: a named object, or a single settings field (kind 'settings', key = field), belongs to one manager.
create table manager (
  realm_id text not null references realm on delete cascade,
  name text not null,
  last_applied_at timestamptz not null,
  -- has imported users, who carry its name themselves
  users boolean not null default false,
  primary key (realm_id, name)
);
create table managed_object (
  realm_id text not null,
  kind text not null,
  key text not null,
  manager text not null,
  -- the declared fields; only these are the manager's
  fields text[] not null default '{}',
  primary key (realm_id, kind, key),
  foreign key (realm_id, manager) references manager (realm_id, name) on delete cascade
);
create index managed_object_manager on managed_object (realm_id, manager);
