// A user's resources, shares and requests at resource servers are deleted with the user's row. Erasure also deletes shares that
// were given to the user's name or address before a user had it. Specification 2.9, 4.6.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const umaData: PersonalData = {
  tables: ['uma_resource', 'uma_share', 'permission_ticket'],
  async erase(sql, realm, { username, ownEmail }) {
    await sql`
      delete from uma_share where realm_id = ${realm} and requester_id is null
        and lower(normalize(named, NFKC)) in (lower(normalize(${username}::text, NFKC)), lower(${ownEmail}))`;
  },
};
