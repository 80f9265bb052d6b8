-- Whose key it is that a token names, asked for every token of an issuer that isn't in our addresses: without this each
-- of them read the realms from end to end.
create index realm_key_id on realm_key (key_id);
