-- Keys of the hosted CAPTCHAs.
create table captcha (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  name text not null,
  provider text not null,
  site_key text not null,
  verify_url text,
  -- sealed: it is sent with each answer that is checked
  secret bytea,
  primary key (realm_id, id)
);
create unique index captcha_name on captcha (realm_id, name);
