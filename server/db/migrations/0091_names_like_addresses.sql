-- Nor does a username read like somebody else's e-mail address by compatibility forms. Addresses have none.
create or replace function refuse_others_names() returns trigger language plpgsql set enable_nestloop = on as $$
declare
  taken boolean;
begin
  if (select count(*) from given) > 100 then
    perform set_config('enable_nestloop', 'off', true);
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

create or replace function refuse_others_name() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  if exists (select from realm_user u
      where u.realm_id = new.realm_id and lower(u.email) = lower(normalize(new.username, NFKC)) and u.id <> new.id)
    or exists (select from realm_user u
      where u.realm_id = new.realm_id and lower(u.username) = lower(new.email) and u.id <> new.id)
    or exists (select from realm_user u
      where u.realm_id = new.realm_id and lower(u.username) = lower(normalize(new.username, NFKC)) and u.id <> new.id)
    or exists (select from realm_user u
      where u.realm_id = new.realm_id and lower(normalize(u.username, NFKC)) <> lower(u.username)
        and lower(normalize(u.username, NFKC)) in (lower(normalize(new.username, NFKC)), lower(normalize(new.email, NFKC))) and u.id <> new.id) then
    raise unique_violation using message = 'a name is somebody else''s', constraint = 'realm_user_names_apart';
  end if;
  return null;
end $$;
