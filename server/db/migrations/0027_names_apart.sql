-- Nobody's username is somebody else's e-mail address, nor somebody else's username but for compatibility forms (NFKC) and
-- case: people sign in by both, and read them. Here, because there are many ways in. Who was there before stays as they are,
-- until they are renamed.
create index realm_user_compatible on realm_user (realm_id, lower(normalize(username, NFKC)))
  where lower(normalize(username, NFKC)) <> lower(username);

-- Those of an import at once, by hashing where they are many: of a realm that was just filled the planner believes that it is
-- empty, and would read all of it for each of its people. Planned anew each time, so that neither way is kept for the other.
create function refuse_others_names() returns trigger language plpgsql set enable_nestloop = on as $$
declare
  taken boolean;
begin
  if (select count(*) from given) > 100 then
    perform set_config('enable_nestloop', 'off', true);
  end if;
  execute 'select exists (select from given g join realm_user u
      on u.realm_id = g.realm_id and lower(u.email) = lower(g.username) where u.id <> g.id)
    or exists (select from given g join realm_user u
      on u.realm_id = g.realm_id and lower(u.username) = lower(g.email) where u.id <> g.id)
    or exists (select from given g join realm_user u
      on u.realm_id = g.realm_id and lower(u.username) = lower(normalize(g.username, NFKC)) where u.id <> g.id)
    or exists (select from given g join realm_user u
      on u.realm_id = g.realm_id and lower(normalize(u.username, NFKC)) = lower(normalize(g.username, NFKC))
      where u.id <> g.id and lower(normalize(u.username, NFKC)) <> lower(u.username))' into taken;
  if taken then
    raise unique_violation using message = 'a name is somebody else''s', constraint = 'realm_user_names_apart';
  end if;
  return null;
end $$;
create trigger realm_user_names_apart after insert on realm_user
  referencing new table as given for each statement execute function refuse_others_names();

create function refuse_others_name() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  if exists (select from realm_user u
      where u.realm_id = new.realm_id and lower(u.email) = lower(new.username) and u.id <> new.id)
    or exists (select from realm_user u
      where u.realm_id = new.realm_id and lower(u.username) = lower(new.email) and u.id <> new.id)
    or exists (select from realm_user u
      where u.realm_id = new.realm_id and lower(u.username) = lower(normalize(new.username, NFKC)) and u.id <> new.id)
    or exists (select from realm_user u
      where u.realm_id = new.realm_id and lower(normalize(u.username, NFKC)) <> lower(u.username)
        and lower(normalize(u.username, NFKC)) = lower(normalize(new.username, NFKC)) and u.id <> new.id) then
    raise unique_violation using message = 'a name is somebody else''s', constraint = 'realm_user_names_apart';
  end if;
  return null;
end $$;
create trigger realm_user_name_apart after update on realm_user for each row
  when (lower(old.username) <> lower(new.username) or lower(old.email) is distinct from lower(new.email))
  execute function refuse_others_name();
