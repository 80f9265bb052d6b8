-- What people see of the browsers that are known to be theirs.
alter table known_device add column user_agent text;
