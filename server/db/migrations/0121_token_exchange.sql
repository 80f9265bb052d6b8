-- Clients that get tokens for people by tokens of theirs (RFC 8693): without saying who acts; and whom alone a client's own tokens name
-- as somebody who may act by them.
alter table client
  add column token_exchange_impersonation boolean not null default false,
  add column may_act_client text;
