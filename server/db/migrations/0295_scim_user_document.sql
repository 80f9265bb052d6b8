-- What a SCIM client says of a person that neither the user nor their attributes have a place for, and the further addresses among it in
-- lower case, by which people are looked up.
alter table scim_user
  add column document jsonb not null default '{}',
  add column further_emails text[] not null default '{}';
create index scim_user_further_emails on scim_user using gin (further_emails);
create index scim_user_with_further_emails on scim_user (realm_id, user_id) where further_emails <> '{}';
