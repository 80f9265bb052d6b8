-- The search for users ignores accents as it ignores case: `muller` finds Müller, and `strasse` Straße. Text in ASCII, as most is,
-- needs no more than lower case.
create function search_form(written text) returns text language sql immutable strict parallel safe as $$
  select case when octet_length(written) = length(written) then lower(written) else
    replace(replace(replace(
      translate(lower(regexp_replace(normalize(written, NFD), '[\u0300-\u036f]', '', 'g')), 'øłđħıŧ', 'oldhit'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe') end
$$;

-- Servers of the release before search by the former expressions, until they are replaced: without an index, but with the same result.
do $$
begin
  if to_regclass('realm_user_search') is not null then
    drop index realm_user_search;
    create index realm_user_search on realm_user using gin (
      search_form(username || E'\n' || coalesce(email, '') || E'\n' || coalesce(first_name, '') || ' ' || coalesce(last_name, ''))
      gin_trgm_ops)
      with (gin_pending_list_limit = 32768);
  else
    drop index if exists realm_user_username_begins, realm_user_email_begins, realm_user_first_name_begins,
      realm_user_last_name_begins;
    create index realm_user_username_begins on realm_user (realm_id, search_form(username) text_pattern_ops);
    create index realm_user_email_begins on realm_user (realm_id, search_form(email) text_pattern_ops);
    create index realm_user_first_name_begins on realm_user (realm_id, search_form(first_name) text_pattern_ops);
    create index realm_user_last_name_begins on realm_user (realm_id, search_form(last_name) text_pattern_ops);
    alter index realm_user_username_begins alter column 2 set statistics 1000;
    alter index realm_user_email_begins alter column 2 set statistics 1000;
    alter index realm_user_first_name_begins alter column 2 set statistics 1000;
    alter index realm_user_last_name_begins alter column 2 set statistics 1000;
  end if;
end $$;
