-- FIDO's metadata on authenticators (Metadata Service 3), as far as passkeys are judged by it: entry has description, roots,
-- certification and statuses. number and next_update are those of the document that the row comes from.
create table authenticator_metadata (
  aaguid text primary key,
  entry jsonb not null,
  number bigint not null,
  next_update date not null
);
-- Whether any realm knows a passkey: a browser shows the passkeys of all realms of a host.
create index credential_passkey_anywhere on credential ((secret ->> 'credentialId')) where type = 'webauthn';
-- The passkeys of authenticators that metadata reports.
create index credential_authenticator on credential (realm_id, (secret ->> 'aaguid')) where type = 'webauthn';
