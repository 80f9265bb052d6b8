-- Who made a deleted realm, and whom an administrator had let adopt it: nobody who waits for its name gets it instead
alter table former_realm add column created_by text not null default '', add column adoption text[] not null default '{}';
