-- Whom a message names, so that it is found when they are erased: digests under the master key, since what it says is sealed.
alter table message add column named text[] not null default '{}';
create index message_named on message using gin (named);
