-- A sign-in that goes on from a session ends with it. Null: it began without one, or has come to its end.
alter table sign_in add column session_id uuid,
  add foreign key (realm_id, session_id) references session on delete cascade;
create index sign_in_session on sign_in (realm_id, session_id) where session_id is not null;
