-- Deliveries of all webhooks in one list, and those that did not arrive, which are few beside those that did.
create index webhook_delivery_order on webhook_delivery (realm_id, event_id, webhook_id);
create index webhook_delivery_unsettled on webhook_delivery (realm_id, status, event_id, webhook_id) where status <> 'succeeded';
-- How many entries a sync will read, counted before it for an administrator who waits.
alter table directory_sync add column total int;
-- A message that was given up keeps its content until it expires, so that it can be sent again.
create index message_kept on message (expires_at) where status = 'dead' and content is not null;
