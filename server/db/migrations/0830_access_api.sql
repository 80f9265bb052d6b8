-- Which requests of a resource server the Authorization API answers is a setting of its authorization services.
update authorization_service set settings = settings || '{"accessApi": "none"}' where not settings ? 'accessApi';
-- The resources of a type are listed page by page.
create index uma_resource_type on uma_resource (realm_id, client, type, id);
