-- Clients whose id is the address of their metadata: until when what was fetched is fresh, and its entity tag. They have no token.
alter table client_registration alter column token_hash drop not null;
alter table client_registration add column document_fresh_until timestamptz;
alter table client_registration add column document_etag text;
