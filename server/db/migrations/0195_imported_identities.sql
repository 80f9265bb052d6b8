-- Who the users of a document are at identity providers.
alter table import_user add column identities jsonb;
