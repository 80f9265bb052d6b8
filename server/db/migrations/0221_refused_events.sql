-- An event that the receiver refuses by itself: how often it was tried, and how many were sent without their data at last.
alter table event_forwarding
  add column refused_id uuid,
  add column refused_times int not null default 0,
  add column cut bigint not null default 0,
  add column last_cut_id uuid;
