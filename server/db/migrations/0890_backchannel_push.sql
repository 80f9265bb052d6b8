-- CIBA: how a client with a notification endpoint is told (`ping`: that a user has decided; `push`: the tokens), and whether its
-- requests need the user's code.
alter table client
  add column backchannel_token_delivery_mode text not null default 'ping',
  add column backchannel_user_code_parameter boolean not null default false;
