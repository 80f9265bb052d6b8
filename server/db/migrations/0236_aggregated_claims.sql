-- Whether a claim of an attribute has the values of the person and of all their groups.
alter table claim add column aggregate boolean not null default false;
alter table protocol_mapper add column aggregate boolean not null default false;
