-- Clients that authenticate by a certificate, and certificate-bound tokens (RFC 8705).
alter table client add column tls_client_auth_subject_dn text;
alter table client add column tls_client_auth_san_dns text;
alter table client add column tls_client_auth_san_uri text;
alter table client add column tls_client_auth_san_ip text;
alter table client add column tls_client_auth_san_email text;
alter table client add column tls_client_auth_authorities text;
alter table client add column tls_client_certificate_bound_access_tokens boolean not null default false;
