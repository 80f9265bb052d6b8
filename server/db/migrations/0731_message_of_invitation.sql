-- The message that has the invitation's link; null: the link was shown, or an older version sent it. The message can be
-- deleted before the invitation, so this is no reference.
alter table invitation add column message_id uuid;
