-- Admin roles that count for the members of single groups, or for single clients. Whether one is limited is said beside what it
-- is limited to: with its last group gone it counts for nobody, and not for everybody.
alter table admin_role
  add column by_groups boolean not null default false,
  add column by_clients boolean not null default false;
create table admin_role_group (
  realm_id text not null,
  role_id uuid not null,
  group_id uuid not null,
  primary key (realm_id, role_id, group_id),
  foreign key (realm_id, role_id) references admin_role (realm_id, id) on delete cascade,
  foreign key (realm_id, group_id) references user_group (realm_id, id) on delete cascade
);
create index admin_role_group_group on admin_role_group (realm_id, group_id);
create table admin_role_client (
  realm_id text not null,
  role_id uuid not null,
  client uuid not null,
  primary key (realm_id, role_id, client),
  foreign key (realm_id, role_id) references admin_role (realm_id, id) on delete cascade,
  foreign key (realm_id, client) references client (realm_id, id) on delete cascade
);
create index admin_role_client_client on admin_role_client (realm_id, client);
