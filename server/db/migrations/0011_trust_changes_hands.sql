-- Whom workload identities trust may go from one to another in one statement.
drop index workload_identity_match;
alter table workload_identity add constraint workload_identity_match unique (realm_id, issuer, subject, audience) deferrable;
