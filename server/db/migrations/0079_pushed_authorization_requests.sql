-- Authorization requests that applications push (RFC 9126): for one opening, by a browser of their client. Until then
-- `expires_at` is short; afterwards a row lives as long as the sign-in may take, and goes with the code.
create table pushed_authorization_request (
  realm_id text not null,
  uri_hash bytea not null,
  client uuid not null,
  -- as a form, without what proved who the client is
  parameters text not null,
  expires_at timestamptz not null,
  opened_at timestamptz,
  primary key (realm_id, uri_hash),
  foreign key (realm_id, client) references client on delete cascade
);
create index pushed_authorization_request_expiry on pushed_authorization_request (expires_at);
create index pushed_authorization_request_client on pushed_authorization_request (realm_id, client);

alter table client add column require_pushed_authorization_requests boolean not null default false;
