-- X.509 of a signing key, base64 DER: made when it is first asked for, and the same from then on.
alter table realm_key add column certificate text;

-- Service providers that a person was signed in to in a session, and what each calls person and session.
create table saml_session (
  realm_id text not null,
  session_id uuid not null,
  client uuid not null,
  session_index text not null,
  name_id text not null,
  name_id_format text not null,
  primary key (realm_id, session_id, client),
  foreign key (realm_id, session_id) references session on delete cascade,
  foreign key (realm_id, client) references saml_client on delete cascade
);
create index saml_session_name_id on saml_session (realm_id, client, name_id);

-- Requests of service providers that were answered: none is answered twice.
create table saml_answered (
  realm_id text not null,
  client uuid not null,
  request_id text not null,
  expires_at timestamptz not null,
  primary key (realm_id, client, request_id),
  foreign key (realm_id, client) references saml_client on delete cascade
);
create index saml_answered_expires_at on saml_answered (expires_at);
