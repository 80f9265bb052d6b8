-- Clients' security profile (FAPI 2.0), and the algorithms by which their assertions, answers and requests are signed and encrypted.
alter table client add column profile text check (profile in ('fapi2-security', 'fapi2-message-signing'));
alter table client add column token_endpoint_auth_signing_alg text;
alter table client add column reuse_refresh_tokens boolean;
alter table client add column authorization_signed_response_alg text;
alter table client add column introspection_signed_response_alg text;
alter table client add column id_token_encrypted_response_alg text;
alter table client add column id_token_encrypted_response_enc text;
alter table client add column userinfo_encrypted_response_alg text;
alter table client add column userinfo_encrypted_response_enc text;
alter table client add column authorization_encrypted_response_alg text;
alter table client add column authorization_encrypted_response_enc text;
alter table client add column introspection_encrypted_response_alg text;
alter table client add column introspection_encrypted_response_enc text;
alter table client add column request_object_encryption_alg text;
alter table client add column request_object_encryption_enc text;
