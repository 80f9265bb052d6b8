// Open invitations name an address. They are deleted when the user with that address is erased. Specification 4.6.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const invitationData: PersonalData = {
  tables: [],
  async erase(sql, realm, { ownEmail }) {
    await sql`delete from invitation where realm_id = ${realm} and lower(email) = lower(${ownEmail})`;
  },
};
