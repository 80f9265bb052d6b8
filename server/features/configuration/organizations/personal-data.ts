// The organizations that a user belongs to, in an export; the memberships are deleted with the user's row.
// Specification 2.9.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const organizationData: PersonalData = {
  tables: ['organization_member'],
  async export(sql, realm, userId) {
    const rows = await sql<{ id: string; name: string; joined_at: Date }>`
      select o.id, o.name, m.joined_at from organization_member m
      join organization o on o.realm_id = m.realm_id and o.id = m.organization_id
      where m.realm_id = ${realm} and m.user_id = ${userId} order by o.name collate "C"`;
    return { organizations: rows.map(({ id, name, joined_at }) => ({ id, name, joinedAt: joined_at.getTime() })) };
  },
};
