-- Somebody acts for the person in this session: {id, name, realm} of the administrator.
alter table session add column impersonator jsonb;
create index session_impersonator on session (realm_id, (impersonator ->> 'id')) where impersonator is not null;
