-- Authorization requests that a client signs (RFC 9101).
alter table client add column require_signed_request_object boolean not null default false;
alter table client add column request_object_signing_alg text;
