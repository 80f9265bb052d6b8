-- What a session has proven, each with its time, and what was unusual about its sign-in. Null where an older version wrote the
-- row, which may go on during an upgrade: then `methods` says it. Those versions read `methods`, `level_of_assurance` and
-- `authenticated_at`, which are written as before.
alter table session add column factors jsonb, add column risk jsonb;
