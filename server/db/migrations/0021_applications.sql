-- Applications: what people see as one app.
create table application (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  display_name text,
  description text,
  url text,
  icon_url text,
  -- entity ids
  saml_clients text[] not null default '{}',
  flow_override text,
  visible boolean not null default true,
  enabled boolean not null default true,
  primary key (realm_id, id)
);
create unique index application_name on application (realm_id, name);

-- a client belongs to one application at most
create table application_client (
  realm_id text not null,
  client uuid not null,
  application_id uuid not null,
  primary key (realm_id, client),
  foreign key (realm_id, client) references client on delete cascade,
  foreign key (realm_id, application_id) references application on delete cascade
);
create index application_client_application on application_client (realm_id, application_id);

-- Who may use it. A role that is named here stays: without any, everybody might.
create table application_role (
  realm_id text not null,
  application_id uuid not null,
  role_id uuid not null,
  primary key (realm_id, application_id, role_id),
  foreign key (realm_id, application_id) references application on delete cascade,
  constraint application_role_role foreign key (realm_id, role_id) references role
);
create index application_role_role on application_role (realm_id, role_id);
