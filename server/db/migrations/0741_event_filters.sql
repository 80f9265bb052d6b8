-- The audit log is asked for a client, an address, an outcome, and whose doing something was or to whom it was done: each by an index that
-- has a realm's events in the log's order. 0004 and 0069 have those of users and agents by their ids. An index takes no text of any length,
-- so each has its beginning.
-- An installation with a large log may have built them before, without a lock (docs/upgrade.md); a build that failed counts for nothing.
do $$
declare failed regclass;
begin
  for failed in
    select indexrelid::regclass from pg_index
    where indrelid = 'event'::regclass and not indisvalid and indexrelid = any(array[
      to_regclass('event_client'), to_regclass('event_address'), to_regclass('event_outcome'), to_regclass('event_actor_other'),
      to_regclass('event_actor_name'), to_regclass('event_subject_other'), to_regclass('event_subject_name')])
  loop
    execute format('drop index %s', failed);
  end loop;
end $$;
create index if not exists event_client on event (realm_id, left(client_id, 255), id) where client_id is not null;
create index if not exists event_address on event (realm_id, left(ip_address, 64), id) where ip_address is not null;
create index if not exists event_outcome on event (realm_id, outcome, id) where outcome <> 'success';
-- A token of a client for itself names the client twice, as the actor and in client_id: one index has it.
create index if not exists event_actor_other on event (realm_id, left(actor ->> 'id', 255), id)
  where actor ->> 'id' is not null and actor ->> 'type' <> 'user' and actor ->> 'type' <> 'agent'
    and (client_id is null or actor ->> 'type' <> 'client' or client_id <> actor ->> 'name');
create index if not exists event_actor_name on event (realm_id, left(actor ->> 'name', 255), id)
  where actor ->> 'name' is not null and (client_id is null or actor ->> 'type' <> 'client' or client_id <> actor ->> 'name');
create index if not exists event_subject_other on event (realm_id, left(subject ->> 'id', 255), id)
  where subject ->> 'id' is not null and subject ->> 'type' <> 'user';
create index if not exists event_subject_name on event (realm_id, left(subject ->> 'name', 255), id)
  where subject ->> 'name' is not null;
