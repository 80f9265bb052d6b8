// Who was invited and hasn't come yet: an address, which goes with the person who has it. Specification 4.6.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const invitationData: PersonalData = {
  tables: [],
  async erase(sql, realm, { ownEmail }) {
    await sql`delete from invitation where realm_id = ${realm} and lower(email) = lower(${ownEmail})`;
  },
};
