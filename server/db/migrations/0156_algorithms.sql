-- Algorithms beside RS256, by client: a realm has an active key of each that is used.
alter table client add column id_token_signed_response_alg text;
alter table client add column access_token_signed_response_alg text;
alter table client add column userinfo_signed_response_alg text;
drop index realm_key_active;
create unique index realm_key_active on realm_key (realm_id, algorithm) where activated_at is not null and rotated_at is null;
