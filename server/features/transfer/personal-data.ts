// Plans that were applied name people where objects do: who answers for an agent, whom a policy lets in. Such a plan is kept by its
// counts alone, as one that was too large. Specification 4.6.
import type { PersonalData } from '../gdpr/personal-data.ts';

const NAMING = ['agent', 'authorizationService'];

export const planData: PersonalData = {
  tables: [],
  async erase(sql, realm, { username }) {
    await sql`
      update applied_plan p set changes = null, ownership = null where realm_id = ${realm} and exists (
        select from jsonb_array_elements(p.changes) c
        where c ->> 'kind' = any(${NAMING}::text[]) and position(lower(to_jsonb(${username}::text)::text) in lower(c::text)) > 0)`;
  },
};
