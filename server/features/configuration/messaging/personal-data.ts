// What messaging keeps of a person: their devices, and that they got messages, which go with their row; and messages that name them
// though they are nobody's yet, or somebody else's. Specification 2.9, 4.6.
import { MASTER } from '../../../contract/realms.ts';
import { fragment } from '../../../db/sql.ts';
import type { PersonalData } from '../../../domain/personal-data.ts';
import { digestsOf } from './named.ts';

export const messagingData: PersonalData = {
  tables: ['message', 'push_token'],
  async erase(sql, realm, { id, ownEmail }, { seal }) {
    // Who may administer other realms is named in their messages too.
    const there = realm === MASTER ? fragment`` : fragment`and realm_id = ${realm}`;
    await sql`delete from message where named && ${digestsOf(seal, realm, { id, email: ownEmail })}::text[] ${there}`;
  },
};
