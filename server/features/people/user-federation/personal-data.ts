// The directory that a user comes from, in an export. Erasing the user's row deletes the link, too. Specification 2.9.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const federationData: PersonalData = {
  tables: ['directory_person', 'directory_password', 'directory_sync'],
  async export(sql, realm, userId) {
    const rows = await sql<{ directory: string; externalId: string; entry: string }>`
      select d.alias as directory, p.external_id as "externalId", p.dn as entry from directory_person p
      join directory d on d.realm_id = p.realm_id and d.id = p.directory_id
      where p.realm_id = ${realm} and p.user_id = ${userId}`;
    return { federatedLinks: rows.map((row) => ({ by: 'directory', ...row })) };
  },
  /** Removes the errors of syncs that name the user's entry. */
  async erase(sql, realm, { id }) {
    await sql`
      update directory_sync s set errors = (
        select coalesce(jsonb_agg(e), '[]') from jsonb_array_elements(s.errors) e where e ->> 'entry' <> p.dn)
      from directory_person p where p.realm_id = ${realm} and p.user_id = ${id} and s.realm_id = p.realm_id
        and s.directory_id = p.directory_id and s.errors @> jsonb_build_array(jsonb_build_object('entry', p.dn))`;
  },
};
