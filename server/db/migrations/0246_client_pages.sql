-- What clients say of themselves to people.
alter table client add column logo_uri text;
alter table client add column client_uri text;
alter table client add column policy_uri text;
alter table client add column tos_uri text;
