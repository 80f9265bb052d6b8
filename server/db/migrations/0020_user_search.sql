-- What a person would search people by, as one text that is found by any three characters of it. The database may not have
-- the extension, or not let us have it: then a search reads the realm's people, and this can be made later by hand.
do $$
begin
  create extension if not exists pg_trgm;
  create index realm_user_search on realm_user using gin (
    lower(username || E'\n' || coalesce(email, '') || E'\n' || coalesce(first_name, '') || ' ' || coalesce(last_name, '')) gin_trgm_ops)
    -- an import writes a hundred thousand people at once
    with (gin_pending_list_limit = 32768);
exception
  when insufficient_privilege or feature_not_supported or undefined_file or undefined_object or invalid_schema_name then
    raise notice 'no index for searching people: %', sqlerrm;
end $$;
