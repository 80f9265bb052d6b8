-- Whom tokens are about, where that isn't the user's id: pairwise subjects are computed with the realm's sealed salt, and
-- `subject` is the one value of the attribute that the realm names. Kept here, because there are many ways in.
alter table realm add column subject_salt bytea;
alter table client add column subject_type text, add column sector_identifier_uri text;
alter table realm_user add column subject text;
create unique index realm_user_subject on realm_user (realm_id, subject) where subject is not null;

-- OpenID Connect Core §2: at most 255 characters of ASCII.
create function subject_in(attributes jsonb, name text) returns text language sql immutable as $$
  select case when jsonb_array_length(attributes -> name) = 1 and attributes -> name ->> 0 ~ '^[\x20-\x7e]{1,255}$'
    then attributes -> name ->> 0 end
$$;

-- RFC 9068 §5: clients are the subjects of their own tokens by name, so no person may have one of those.
create function subject_is_a_clients() returns void language plpgsql as $$
begin
  raise unique_violation using message = 'a subject is a client''s name', constraint = 'realm_user_subject';
end $$;

-- After the rows and all at once: triggers before each row would let COPY write only one at a time.
create function set_new_subjects() returns trigger language plpgsql as $$
begin
  update realm_user u set subject = subject_in(u.attributes, r.settings ->> 'subjectAttribute')
    from given g join realm r on r.realm_id = g.realm_id and r.settings ->> 'subjectStrategy' = 'attribute'
    where u.realm_id = g.realm_id and u.id = g.id and subject_in(g.attributes, r.settings ->> 'subjectAttribute') is not null;
  if found and exists (select from given g join realm_user u on u.realm_id = g.realm_id and u.id = g.id
      join client c on c.realm_id = u.realm_id and c.client_id = u.subject) then
    perform subject_is_a_clients();
  end if;
  return null;
end $$;
create trigger realm_user_new_subjects after insert on realm_user
  referencing new table as given for each statement execute function set_new_subjects();

create function set_subject() returns trigger language plpgsql as $$
begin
  new.subject := subject_in(new.attributes, (
    select settings ->> 'subjectAttribute' from realm
    where realm_id = new.realm_id and settings ->> 'subjectStrategy' = 'attribute'));
  if exists (select from client where realm_id = new.realm_id and client_id = new.subject) then
    perform subject_is_a_clients();
  end if;
  return new;
end $$;
create trigger realm_user_subject before update of attributes on realm_user for each row
  when (new.attributes <> old.attributes) execute function set_subject();

create function refuse_subjects_name() returns trigger language plpgsql as $$
begin
  if exists (select from realm_user where realm_id = new.realm_id and subject = new.client_id) then
    raise unique_violation using message = 'a client''s name is a person''s subject', constraint = 'client_subject';
  end if;
  return null;
end $$;
create trigger client_subject after insert or update of client_id on client for each row
  execute function refuse_subjects_name();

create function set_subjects() returns trigger language plpgsql as $$
begin
  update realm_user set subject = null where realm_id = new.realm_id and subject is not null;
  if new.settings ->> 'subjectStrategy' = 'attribute' then
    update realm_user u set subject = subject_in(u.attributes, new.settings ->> 'subjectAttribute')
      where u.realm_id = new.realm_id and subject_in(u.attributes, new.settings ->> 'subjectAttribute') is not null;
    if exists (select from client c join realm_user u on u.realm_id = c.realm_id and u.subject = c.client_id
        where c.realm_id = new.realm_id) then
      perform subject_is_a_clients();
    end if;
  end if;
  return null;
end $$;
create trigger realm_subjects after update of settings on realm for each row
  when (old.settings ->> 'subjectStrategy' is distinct from new.settings ->> 'subjectStrategy'
    or old.settings ->> 'subjectAttribute' is distinct from new.settings ->> 'subjectAttribute')
  execute function set_subjects();
