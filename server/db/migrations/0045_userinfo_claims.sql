-- `updated_at` of people (OpenID Connect Core 5.1): when what is known of them was last changed, by whatever way.
alter table realm_user add column updated_at timestamptz not null default now();

create function note_profile_change() returns trigger language plpgsql as $$
begin
  new.updated_at := now();
  return new;
end $$;

create trigger note_profile_change
  before update of username, email, email_verified, first_name, last_name, attributes on realm_user
  for each row when (
    (old.username, old.email, old.email_verified, old.first_name, old.last_name, old.attributes)
    is distinct from (new.username, new.email, new.email_verified, new.first_name, new.last_name, new.attributes)
  )
  execute function note_profile_change();

-- Clients whose ID tokens hold what userinfo says. What claims say of themselves (`places`) stays as it is.
alter table client add column id_token_userinfo_claims boolean not null default false;
