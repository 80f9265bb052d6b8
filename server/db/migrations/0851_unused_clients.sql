-- Each client has a row of its use from its creation on, so that unused ones are found by an index. A client that a server of the
-- release before creates meanwhile gets its row with its first token or its next change.
insert into client_use (realm_id, client, since)
select c.realm_id, c.id, c.created_at from client c
on conflict do nothing;
create index client_use_last on client_use (realm_id, coalesce(used_at, since));
-- The planner knows by these how many clients of a realm are unused.
analyze client_use;
