-- When a client that registered itself got tokens last; of all others the audit log needs no such index.
create index event_self_registered on event (realm_id, client_id, id)
  where type in ('TOKEN_ISSUED', 'TOKEN_REFRESHED') and (client_id like 'dcr-%' or client_id like 'https://%');
