// A user's SCIM data beyond the profile, for exports; it is deleted with the user's row. Specification 2.9.
import type { PersonalData } from '../../../domain/personal-data.ts';
import type { ScimDocument } from './user-document.ts';

export const provisioningData: PersonalData = {
  tables: ['scim_user', 'scim_link_member'],
  async export(sql, realm, userId) {
    const rows = await sql<{ external_id: string | null; document: ScimDocument }>`
      select external_id, document from scim_user
      where realm_id = ${realm} and user_id = ${userId} and (external_id is not null or document <> '{}')`;
    return {
      federatedLinks: rows.map(({ external_id: externalId, document }) => ({
        by: 'scim',
        ...(externalId !== null && { externalId }),
        ...(Object.keys(document).length > 0 && { said: document }),
      })),
    };
  },
  /** A target identifies a user by an id of its own, by which the server deletes the user there. */
  async erase(sql, realm, { id, pseudonym }) {
    // A job that marks the user due commits before this lock, or no longer finds the user.
    await sql`select from realm_user where realm_id = ${realm} and id = ${id} for update`;
    await sql`delete from scim_link where realm_id = ${realm} and kind = 'user' and object_id = ${id} and remote_id is null`;
    await sql`
      update scim_link set object_id = ${pseudonym}, error = null
      where realm_id = ${realm} and kind = 'user' and object_id = ${id}`;
  },
};
