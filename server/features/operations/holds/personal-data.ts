// A hold names the administrator who placed it. Erasing the user removes the name; the hold stands.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const holdData: PersonalData = {
  tables: ['hold'],
  async erase(sql, _realm, { id }) {
    // an administrator of master places holds in other realms
    await sql`update hold set actor = null where actor ->> 'id' = ${id}`;
  },
};
