-- Links are claimed people first, the longest due first: by this order, a claim reads its own hundred and not every link that is due.
drop index scim_link_due;
create index scim_link_due on scim_link (realm_id, target_id, kind desc, due_at) where due_at is not null;
