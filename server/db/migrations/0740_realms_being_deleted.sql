-- A realm that is being deleted: it answers no request, and a job removes what it held in batches. Servers of older releases still
-- answer for it until it is gone.
alter table realm add column deleted_at timestamptz;
create index realm_being_deleted on realm (realm_id) where deleted_at is not null;
