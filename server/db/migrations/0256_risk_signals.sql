-- Where sign-ins came from, as a proxy says it, and how many people's failed from one network.
alter table sign_in_history add column country text;
create index sign_in_history_failed on sign_in_history (realm_id, network, at) where not success;
