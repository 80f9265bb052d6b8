-- What was proven for it, so that a stricter rule ends it; those of before prove no second factor.
alter table admin_session add column level_of_assurance integer not null default 0;
