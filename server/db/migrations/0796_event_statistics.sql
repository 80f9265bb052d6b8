-- Of a partial index PostgreSQL takes no statistics of its expressions: it expects as many events of a client that nobody has as of the
-- one that all use, and of two filters it reads the wrong one's index. Statistics of their own cost nothing when events are written.
create statistics event_of_client on (left(client_id, 255)) from event;
create statistics event_of_address on (left(ip_address, 64)) from event;
create statistics event_of_actor_type on (actor ->> 'type') from event;
create statistics event_of_actor on (actor ->> 'id') from event;
create statistics event_of_other_actor on (left(actor ->> 'id', 255)) from event;
create statistics event_of_actor_name on (left(actor ->> 'name', 255)) from event;
create statistics event_of_subject_type on (subject ->> 'type') from event;
create statistics event_of_subject on (subject ->> 'id') from event;
create statistics event_of_other_subject on (left(subject ->> 'id', 255)) from event;
create statistics event_of_subject_name on (left(subject ->> 'name', 255)) from event;
analyze event;
