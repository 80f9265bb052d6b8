-- Finds groups by the path that other systems see, in which names may contain slashes (stored as %2F), whatever its case.
create index user_group_shown_path on user_group (realm_id, lower(replace(path, '%2F', '/')));
