-- The scope that lets an application act in a person's account, in realms that are older than it.
insert into client_scope (realm_id, id, name, description)
select realm_id, gen_random_uuid(), 'account', 'Manage your account' from realm
on conflict do nothing;
