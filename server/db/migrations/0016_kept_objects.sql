-- Its manager's document no longer holds it, and something still needs it: it goes with its last user, or to who declares it
alter table managed_object add column kept boolean not null default false;
