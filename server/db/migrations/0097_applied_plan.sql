-- What imports changed, so that it can be looked at and taken back. Neither secrets nor what tells of people is kept; of a large
-- plan, nothing but that it was.
create table applied_plan (
  realm_id text not null references realm (realm_id) on delete cascade,
  revision bigint not null,
  applied_at timestamptz not null,
  manager text not null,
  -- who did it stands there, and is forgotten there
  event_id uuid not null,
  undoes bigint,
  counts jsonb not null,
  changes jsonb,
  ownership jsonb,
  primary key (realm_id, revision)
);
create index applied_plan_manager on applied_plan (realm_id, manager, revision);
