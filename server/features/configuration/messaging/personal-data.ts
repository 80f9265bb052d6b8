// A user's devices and the record of their messages are deleted with the user's row. Erasure also deletes messages that
// name the user and belong to no user yet, or to another. Specification 2.9, 4.6.
import { MASTER } from '../../../contract/realms.ts';
import { fragment } from '../../../db/sql.ts';
import type { PersonalData } from '../../../domain/personal-data.ts';
import { digestsOf } from './named.ts';

export const messagingData: PersonalData = {
  tables: ['message', 'push_token'],
  async erase(sql, realm, { id, ownEmail }, { seal }) {
    // Messages of other realms may name an administrator of master.
    const there = realm === MASTER ? fragment`` : fragment`and realm_id = ${realm}`;
    await sql`delete from message where named && ${digestsOf(seal, realm, { id, email: ownEmail })}::text[] ${there}`;
  },
};
