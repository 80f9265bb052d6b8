-- What was proven for it and when, so that it is judged by the rules of now. Those of before have proven nothing.
alter table admin_session add column factors jsonb not null default '[]', drop column level_of_assurance;
