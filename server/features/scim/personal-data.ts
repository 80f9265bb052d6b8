// What a provisioning client calls a person, in an export; their row takes it along. Specification 2.9.
import type { PersonalData } from '../gdpr/personal-data.ts';

export const provisioningData: PersonalData = {
  tables: ['scim_user', 'scim_link_member'],
  async export(sql, realm, userId) {
    const rows = await sql<{ external_id: string }>`
      select external_id from scim_user
      where realm_id = ${realm} and user_id = ${userId} and external_id is not null`;
    return { federatedLinks: rows.map((row) => ({ by: 'scim', externalId: row.external_id })) };
  },
};
