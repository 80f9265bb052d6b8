-- When a grant was last refreshed, for people and administrators who look at those that outlive their session; null: never,
-- or before this was kept.
alter table refresh_family add column refreshed_at timestamptz;
