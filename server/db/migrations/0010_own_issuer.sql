-- No two realms have one issuer: what a realm named as its own, without the slashes at its end; null for one that has the
-- address of its realm. Of realms that shared one before, the oldest has it; the others keep theirs until it is set again.
alter table realm add column own_issuer text;
update realm r set own_issuer = first.issuer
from (
  select distinct on (issuer) issuer, realm_id
  from (select realm_id, created_at, rtrim(settings ->> 'issuer', '/') as issuer from realm) named
  where octet_length(issuer) <= 2048
  order by issuer, created_at, realm_id
) first
where r.realm_id = first.realm_id;
create unique index realm_own_issuer on realm (own_issuer);
