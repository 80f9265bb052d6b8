-- The way from an admin session to the administrator's own account: a ticket that works once, and the realm's session that
-- began by it, which ends with the admin session.
alter table admin_session
  add column account_ticket_hash bytea,
  add column account_ticket_at timestamptz,
  add column account_session uuid;
create unique index admin_session_ticket on admin_session (realm_id, account_ticket_hash) where account_ticket_hash is not null;
