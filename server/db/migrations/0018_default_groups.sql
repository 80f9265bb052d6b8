-- Groups that every new user joins, as there are roles that every new user gets.
alter table user_group add column is_default boolean not null default false;
