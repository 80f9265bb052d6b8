-- A look-up by address reads the index alone, and no list of entries that wait for their place in it.
alter index scim_user_further_emails set (fastupdate = off);
select gin_clean_pending_list('scim_user_further_emails');
