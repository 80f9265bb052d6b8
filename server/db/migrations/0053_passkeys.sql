-- A passkey says whose it is: it is found by its own id. secret: {credentialId, publicKey, rpId, transports, deviceType, backedUp}
create unique index credential_passkey on credential (realm_id, (secret ->> 'credentialId')) where type = 'webauthn';
