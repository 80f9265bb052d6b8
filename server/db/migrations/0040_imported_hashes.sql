-- How many people have a password hash of which kind, but for the usual one: what costs as much as theirs is computed for
-- names that nobody has. A kind is all of the PHC string that its cost depends on.
create index credential_imported_hash on credential (
  realm_id,
  (regexp_replace(secret ->> 'phc', '[^$]*\$[^$]*$', '') || (length(split_part(secret ->> 'phc', '$', -1)))::text)
) where type = 'password' and secret ->> 'phc' not like '$argon2id$v=19$m=19456,t=2,p=1$%';
