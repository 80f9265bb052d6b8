-- By a link that an administrator gives them people set up anew what they have lost. One of each person: the last one.
create table enrolment_link (
  realm_id text not null references realm on delete cascade,
  user_id uuid not null,
  link_hash bytea not null,
  action text not null,
  -- what they had of the kind goes when the new one is there
  replaces boolean not null,
  expires_at timestamptz not null,
  primary key (realm_id, user_id),
  foreign key (realm_id, user_id) references realm_user (realm_id, id) on delete cascade
);
create unique index enrolment_link_hash on enrolment_link (realm_id, link_hash);
create index enrolment_link_expiry on enrolment_link (expires_at);
