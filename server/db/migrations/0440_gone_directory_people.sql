-- Whether the directory has no such entry any more: such a user's names go to the entry that claims them.
alter table directory_person add column gone boolean not null default false;
