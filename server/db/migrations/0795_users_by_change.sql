-- Clients that synchronise by SCIM ask for the users that changed since a moment (`meta.lastModified gt`). Only a change of the profile
-- moves it, so an update of anything else stays as cheap as it was.
create index realm_user_changed on realm_user (realm_id, updated_at);
