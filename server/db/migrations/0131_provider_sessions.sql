-- By which session of an identity provider a session here was begun: what ends there ends here, and the other way round.
create table provider_session (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  session_id uuid not null,
  link_id uuid not null,
  -- the provider's name for its session
  sid text,
  -- sealed: it is sent back when the session ends
  id_token bytea,
  primary key (realm_id, id),
  foreign key (realm_id, session_id) references session on delete cascade,
  foreign key (realm_id, link_id) references identity_link on delete cascade
);
create unique index provider_session_session on provider_session (realm_id, session_id);
create index provider_session_link on provider_session (realm_id, link_id);
