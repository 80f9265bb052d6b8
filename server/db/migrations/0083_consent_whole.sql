-- What people agree to beside scopes: resources, and what the client's own mappers say of them.
-- Who agreed to a scope was told that the client would know them; who agreed to none is asked.
alter table consent
  add column resources text[] not null default '{}',
  add column claims text[] not null default '{}';
update consent set scopes = array(select distinct unnest(scopes || 'openid'::text) order by 1) where scopes <> '{}';
