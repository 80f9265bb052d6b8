-- Names are searched over all realms, by any three characters of them. Where the database has no trigrams (pg_trgm), by how
-- they begin.
do $$
begin
  if to_regclass('realm_user_search') is not null then
    create index realm_names on realm using gin (lower(realm_id || E'\n' || coalesce(settings ->> 'displayName', '')) gin_trgm_ops);
    create index client_names on client using gin (lower(client_id || E'\n' || coalesce(name, '')) gin_trgm_ops);
    create index user_group_names on user_group using gin (lower(name) gin_trgm_ops);
    create index role_names on role using gin (lower(name) gin_trgm_ops);
    create index organization_names on organization using gin (lower(name || E'\n' || coalesce(display_name, '')) gin_trgm_ops);
  else
    create index realm_names_begin on realm (lower(realm_id || E'\n' || coalesce(settings ->> 'displayName', '')) text_pattern_ops);
    create index client_names_begin on client (lower(client_id || E'\n' || coalesce(name, '')) text_pattern_ops);
    create index user_group_names_begin on user_group (lower(name) text_pattern_ops);
    create index role_names_begin on role (lower(name) text_pattern_ops);
    create index organization_names_begin on organization (lower(name || E'\n' || coalesce(display_name, '')) text_pattern_ops);
  end if;
end $$;
