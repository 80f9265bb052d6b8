-- Whom a document manages, and may leave out: an import asks for these among all people of the realm. Of others there is no entry.
create index realm_user_manager on realm_user (realm_id, manager) where manager is not null;
