-- Where clients keep the authorization requests that they have signed (RFC 9101).
alter table client add column request_uris text[] not null default '{}';
