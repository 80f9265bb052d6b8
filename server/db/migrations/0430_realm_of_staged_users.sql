-- Whose users an import has staged. An older server leaves it empty, in tables of its own.
alter table import_user add column realm_id text;
