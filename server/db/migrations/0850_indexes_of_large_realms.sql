-- The revisions of all realms are read by an index alone: operators ask every two seconds whether any has changed.
-- The texts that lists of roles and groups are searched by have indexes of trigrams, as those of clients and organizations have by 0760.
-- An installation with very many may have built them before, without a lock (docs/upgrade.md); a build that failed counts for nothing.
do $$
declare failed regclass;
begin
  for failed in
    select indexrelid::regclass from pg_index
    where not indisvalid and indexrelid = any(array[
      to_regclass('realm_revisions'), to_regclass('role_texts'), to_regclass('user_group_paths'), to_regclass('saml_client_texts'),
      to_regclass('role_default'), to_regclass('user_group_default'), to_regclass('client_slow_secret')])
  loop
    execute format('drop index %s', failed);
  end loop;
end $$;
create index if not exists realm_revisions on realm (realm_id) include (revision) where deleted_at is null;
-- What a new user gets is found without reading all roles and groups of the realm.
create index if not exists role_default on role (realm_id) where is_default;
create index if not exists user_group_default on user_group (realm_id) where is_default;
-- A realm's health names clients with a weak secret.
create index if not exists client_slow_secret on client (realm_id, client_id collate "C") where secret_slow is not null;
do $$
begin
  if to_regclass('realm_user_search') is not null then
    create index if not exists role_texts on role using gin (lower(name || E'\n' || coalesce(description, '')) gin_trgm_ops);
    create index if not exists user_group_paths on user_group using gin (lower(path) gin_trgm_ops);
    create index if not exists saml_client_texts on saml_client using gin (lower(entity_id || E'\n' || coalesce(name, '')) gin_trgm_ops);
  end if;
end $$;
