-- What the janitor looks for by other times than when it ends. Few rows have the first.
create index refresh_family_revoked on refresh_family (revoked_at) where revoked_at is not null;
create index secret_guess_age on secret_guess (guessed_at);
create index directory_sync_age on directory_sync (created_at);
create index departed_event_age on departed_event (occurred_at);
