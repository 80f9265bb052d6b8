-- What a report needs of events that the audit log has forgotten by then.
alter table sign_in_report add column changed_fields text[] not null default '{}';
