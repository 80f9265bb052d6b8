-- An erasure finds what the audit log says of a person without reading all of it. Whose doing it is, and to whom it was done, has
-- indexes already; this is for whom an event names beside that: by an id, or by a name where there is none.
create function event_people(actor jsonb, subject jsonb, data jsonb) returns text[]
language sql immutable parallel safe as $$
  select array(
    select lower(found[1]) from regexp_matches(
      coalesce(case when actor ->> 'type' not in ('user', 'client') then actor::text end, '')
      || coalesce(case when subject ->> 'type' not in ('user', 'client') then subject::text end, '')
      || (data - 'sessionId' - 'jti')::text,
      '([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})', 'gi') found
    union
    select lower(said #>> '{}') from jsonb_path_query(data,
      '$.** ? (@.type() == "object").keyvalue() ? (@.key == "with" || @.key == "username" || @.key == "email" || @.key == "impersonator").value ? (@.type() == "string")'
    ) said
    union
    select lower(party ->> 'name') from unnest(array[actor, subject]) party
    where party ->> 'type' = 'user' and party ->> 'id' is null and party ->> 'name' is not null
  )
$$;
create index event_people on event using gin (event_people(actor, subject, data))
  where event_people(actor, subject, data) <> '{}';
