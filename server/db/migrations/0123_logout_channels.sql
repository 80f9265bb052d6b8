-- Where applications are told that somebody's session has ended: from server to server, and in the browser.
alter table client
  add column backchannel_logout_uri text,
  add column frontchannel_logout_uri text;
-- Whether a realm has anybody to tell is asked at each commit.
create index client_backchannel_logout on client (realm_id) where backchannel_logout_uri is not null;
