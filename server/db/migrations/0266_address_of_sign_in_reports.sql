-- Where the mail went: who has only that mailbox, and not the person's present one, doesn't set their password.
alter table sign_in_report add column email text;
