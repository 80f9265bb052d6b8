-- Up to 20,000 new users are looked up one by one, in whose indexes each look costs the same however many users there are.
-- Read through and hashed, all users of all realms were read five times for each import of more than a hundred. PostgreSQL is
-- told which way, as it takes a realm that was just filled for an empty one.
create or replace function refuse_others_names() returns trigger language plpgsql
  set enable_nestloop = on set enable_hashjoin = on set enable_mergejoin = on set enable_seqscan = on as $$
declare
  taken boolean;
begin
  if (select count(*) from given) > 20000 then
    perform set_config('enable_nestloop', 'off', true);
  else
    perform set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
      set_config('enable_seqscan', 'off', true);
  end if;
  execute 'select exists (select from given g join realm_user u
      on u.realm_id = g.realm_id and lower(u.email) = lower(normalize(g.username, NFKC)) where u.id <> g.id)
    or exists (select from given g join realm_user u
      on u.realm_id = g.realm_id and lower(u.username) = lower(g.email) where u.id <> g.id)
    or exists (select from given g join realm_user u
      on u.realm_id = g.realm_id and lower(u.username) = lower(normalize(g.username, NFKC)) where u.id <> g.id)
    or exists (select from given g cross join lateral (values (g.username), (g.email)) own (name) join realm_user u
      on u.realm_id = g.realm_id and lower(normalize(u.username, NFKC)) = lower(normalize(own.name, NFKC))
      where u.id <> g.id and lower(normalize(u.username, NFKC)) <> lower(u.username))' into taken;
  if taken then
    raise unique_violation using message = 'a name is somebody else''s', constraint = 'realm_user_names_apart';
  end if;
  return null;
end $$;

-- An import joins by hashing, which would read all users of all realms here.
alter function set_new_subjects() set enable_nestloop = on;
