-- Whether a client is a web or a native application (OpenID Connect Dynamic Client Registration); null: not said.
alter table client add column application_type text check (application_type in ('web', 'native'));
