-- Holds: what documents leave as it is for a while. A row stands until the hold ends, which raises the realm's revision.
create table hold (
  realm_id text not null references realm (realm_id) on delete cascade,
  id uuid not null,
  reason text not null,
  -- the caller as audit rows name it; null: erased
  actor jsonb,
  placed_at timestamptz not null,
  until timestamptz not null,
  primary key (realm_id, id)
);
-- What a hold names, by kind and key as in managed_object; the key is empty for all of the kind.
create table held_object (
  realm_id text not null,
  hold_id uuid not null,
  kind text not null,
  key text not null,
  primary key (realm_id, kind, key, hold_id),
  foreign key (realm_id, hold_id) references hold (realm_id, id) on delete cascade
);
create index held_object_hold on held_object (realm_id, hold_id);
