-- Who acts for somebody acts no longer than the session goes on that they began it in, in whichever realm they do.
alter table admin_session add column id uuid not null default gen_random_uuid();
create unique index admin_session_id on admin_session (realm_id, id);
drop index session_impersonator;
create index session_impersonator on session ((impersonator ->> 'id')) where impersonator is not null;
create index session_acted_from on session ((impersonator ->> 'session')) where impersonator is not null;
