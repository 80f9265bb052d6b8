-- By a link in the mail of a sign-in on a new device its person says that it wasn't them.
create table sign_in_report (
  realm_id text not null references realm on delete cascade,
  link_hash bytea not null,
  user_id uuid not null,
  session_id uuid not null,
  -- null: it isn't remembered
  device_hash bytea,
  expires_at timestamptz not null,
  primary key (realm_id, link_hash),
  foreign key (realm_id, user_id) references realm_user (realm_id, id) on delete cascade
);
create index sign_in_report_expiry on sign_in_report (expires_at);
create index sign_in_report_person on sign_in_report (realm_id, user_id);
