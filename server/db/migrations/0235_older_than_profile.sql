-- What of a staged person the realm's user profile wouldn't let pass, and the document says is older than it.
alter table import_user add column older_than_profile text[];
