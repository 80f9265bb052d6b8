-- Codes that were looked at, in an hour: of an address (by its digest), whether anybody has an account by it or not, and wrong ones of
-- a realm as a whole. Until now the processes counted them, each by itself.
create table code_guess (
  realm_id text not null references realm (realm_id) on delete cascade,
  key text not null,
  hour timestamptz not null,
  used int not null,
  primary key (realm_id, key, hour)
);
create index code_guess_age on code_guess (hour);

-- Of a person, in a day.
alter table lockout add column codes int not null default 0, add column codes_until timestamptz;
