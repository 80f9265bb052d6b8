-- When a client last got a token, to the hour, for the list of unused clients: client_activity forgets after two days.
create table client_use (
  realm_id text not null,
  client uuid not null,
  -- Of a client that is older than this table: it may have been used before.
  since timestamptz not null,
  used_at timestamptz,
  primary key (realm_id, client),
  foreign key (realm_id, client) references client (realm_id, id) on delete cascade
);
insert into client_use (realm_id, client, since, used_at)
select c.realm_id, c.id, now(), (
  select max(a.hour) from client_activity a where a.realm_id = c.realm_id and a.client = c.id)
from client c;

-- What ends soon is found without reading all clients and invitations of a realm.
create index client_previous_secret on client (realm_id, previous_secret_expires_at)
  where previous_secret_expires_at is not null;
create index invitation_end on invitation (realm_id, expires_at);
