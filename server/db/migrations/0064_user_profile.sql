-- Which attributes a realm's people have: null where nobody has said anything of it.
alter table realm add column user_profile jsonb;
