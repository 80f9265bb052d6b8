-- An application that is switched off would shut administrators out.
delete from application_client l using client c
where c.realm_id = l.realm_id and c.id = l.client and c.client_id = 'realmctl';
