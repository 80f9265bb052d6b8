-- What a manager owns is read in pages, however much it is.
create index managed_object_owner on managed_object (realm_id, manager, kind, key);
drop index managed_object_manager;
