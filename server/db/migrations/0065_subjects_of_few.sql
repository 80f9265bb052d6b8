-- Most realms know people by their ids: an import of a hundred thousand isn't looked through for another subject there.
create or replace function set_new_subjects() returns trigger language plpgsql as $$
begin
  if not exists (select from (select distinct realm_id from given) g join realm r on r.realm_id = g.realm_id
      where r.settings ->> 'subjectStrategy' = 'attribute') then
    return null;
  end if;
  update realm_user u set subject = subject_in(u.attributes, r.settings ->> 'subjectAttribute')
    from given g join realm r on r.realm_id = g.realm_id and r.settings ->> 'subjectStrategy' = 'attribute'
    where u.realm_id = g.realm_id and u.id = g.id and subject_in(g.attributes, r.settings ->> 'subjectAttribute') is not null;
  if exists (select from given g join realm_user u on u.realm_id = g.realm_id and u.id = g.id
      join client c on c.realm_id = u.realm_id and c.client_id = u.subject) then
    perform subject_is_a_clients();
  end if;
  return null;
end $$;
