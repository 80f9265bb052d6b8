// Recorded plans name users where objects refer to them: owners of resources, and users of a policy. (Fields that a
// section marks as users' aren't recorded.) Erasing a user reduces such a plan to its counts, like a plan that was too
// large. Specification 4.6.
import type { PersonalData } from '../../../domain/personal-data.ts';

/** The fields of a recorded authorization service that contain usernames. */
const NAMING = [
  '$.fields[*] ? (@.path == "resources").*[*].owner',
  '$.fields[*] ? (@.path == "policies").*[*].config.users[*]',
  '$.rest.resources[*].owner',
  '$.rest.policies[*].config.users[*]',
];

export const planData: PersonalData = {
  tables: [],
  async erase(sql, realm, { username }) {
    await sql`
      update applied_plan p set changes = null, ownership = null where realm_id = ${realm} and exists (
        select from jsonb_path_query(p.changes, '$[*] ? (@.kind == "authorizationService")') as change,
          unnest(${NAMING}::jsonpath[]) as place, jsonb_path_query(change, place) as named
        where lower(named #>> '{}') = lower(${username}))`;
  },
};
