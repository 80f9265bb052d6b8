-- A client's new secret and the one before work side by side for a while.
alter table client add column previous_secret_hash bytea;
alter table client add column previous_secret_slow text;
alter table client add column previous_secret_expires_at timestamptz;
-- A document that changed how a client proves itself left its old secret behind.
update client set secret_hash = null, secret_slow = null
where token_endpoint_auth_method not in ('client_secret_basic', 'client_secret_post')
  and (secret_hash is not null or secret_slow is not null);
