-- Claims are objects of their own, which client scopes name. client_scope.claims stays as it is for servers of the release
-- before, which read it until they are replaced; nothing else reads or writes it.
create table claim (
  realm_id text not null references realm (realm_id) on delete cascade,
  id uuid not null,
  name text not null,
  claim text,
  source text not null,
  attribute text,
  value text,
  multivalued boolean not null default false,
  json_type text not null default 'string',
  places text[] not null default '{}',
  primary key (realm_id, id)
);
create unique index claim_name on claim (realm_id, name);

create table client_scope_claim (
  realm_id text not null,
  scope_id uuid not null,
  claim_id uuid not null,
  primary key (realm_id, scope_id, claim_id),
  foreign key (realm_id, scope_id) references client_scope (realm_id, id) on delete cascade,
  foreign key (realm_id, claim_id) references claim (realm_id, id) on delete cascade
);
create index client_scope_claim_claim on client_scope_claim (realm_id, claim_id);

-- What stood in scopes: the same definition in two scopes becomes one claim; another of the same claim gets a name of its own.
create temporary table inline on commit drop as
select s.realm_id, s.id as scope_id, s.name as scope, c.at, c.def->>'name' as claim,
  case
    when c.def->>'source' in ('attribute', 'locale') then 'attribute'
    when c.def->>'source' = 'roles' and c.def->>'name' = 'resource_access' then 'clientRoles'
    when c.def->>'source' in ('groups', 'roles', 'constant') then c.def->>'source'
    else 'property'
  end as source,
  case
    when c.def->>'source' = 'attribute' then coalesce(c.def->>'value', c.def->>'name')
    when c.def->>'source' = 'locale' then coalesce(c.def->>'value', 'locale')
    when c.def->>'source' in ('groups', 'roles', 'constant') then null
    else c.def->>'source'
  end as attribute,
  case when c.def->>'source' = 'constant' then coalesce(c.def->>'value', '') end as value,
  array_remove(array[
    case when (c.def->>'accessToken')::boolean then 'accessToken' end,
    case when (c.def->>'idToken')::boolean then 'idToken' end,
    case when coalesce((c.def->>'userinfo')::boolean, true) then 'userinfo' end
  ], null) as places
from client_scope s cross join lateral jsonb_array_elements(s.claims) with ordinality as c (def, at);

create temporary table defined on commit drop as
select d.*, gen_random_uuid() as id, row_number() over (partition by realm_id, claim order by first) as rank
from (
  select realm_id, claim, source, attribute, value, places, min(scope || chr(1) || to_char(at, 'FM0000')) as first
  from inline group by realm_id, claim, source, attribute, value, places
) d;

insert into claim (realm_id, id, name, claim, source, attribute, value, json_type, places)
select realm_id, id, case when rank = 1 then claim else left(claim, 240) || ' #' || rank end,
  case when rank > 1 then claim end, source, attribute, value,
  case when source = 'attribute' and attribute like '%\_verified' then 'boolean' else 'string' end, places
from defined;

insert into client_scope_claim (realm_id, scope_id, claim_id)
select distinct i.realm_id, i.scope_id, d.id
from inline i join defined d on d.realm_id = i.realm_id and d.claim = i.claim and d.source = i.source
  and d.attribute is not distinct from i.attribute and d.value is not distinct from i.value and d.places = i.places;
