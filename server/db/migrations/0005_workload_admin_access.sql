-- false: tokens traded by this credential are never for the admin API, whatever roles the client is given later
alter table workload_identity add column admin_access boolean not null default true;
