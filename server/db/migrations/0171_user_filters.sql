-- Whoever may not sign in, and whoever has a value of an attribute, are found without reading the realm's people.
create index realm_user_disabled on realm_user (realm_id, lower(username)) where not enabled;
create index realm_user_attributes on realm_user using gin (attributes jsonb_path_ops)
  -- an import writes a hundred thousand people at once
  with (gin_pending_list_limit = 32768);
-- Where the database has no trigrams (pg_trgm), people are searched by how a name or the address begins.
do $$
begin
  if to_regclass('realm_user_search') is null then
    create index realm_user_username_begins on realm_user (realm_id, lower(username) text_pattern_ops);
    create index realm_user_email_begins on realm_user (realm_id, lower(email) text_pattern_ops);
    create index realm_user_first_name_begins on realm_user (realm_id, lower(first_name) text_pattern_ops);
    create index realm_user_last_name_begins on realm_user (realm_id, lower(last_name) text_pattern_ops);
    -- So that the planner knows few from many: for few it must not read everybody in the order of the page.
    alter index realm_user_username_begins alter column 2 set statistics 1000;
    alter index realm_user_email_begins alter column 2 set statistics 1000;
    alter index realm_user_first_name_begins alter column 2 set statistics 1000;
    alter index realm_user_last_name_begins alter column 2 set statistics 1000;
  end if;
end $$;
