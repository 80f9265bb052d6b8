// A user's profile, attributes and memberships in an export. Specification 2.9.
import { eraseStaged } from '../../../db/staging.ts';
import type { PersonalData } from '../../../domain/personal-data.ts';

interface Row {
  username: string;
  email: string | null;
  email_verified: boolean;
  first_name: string | null;
  last_name: string | null;
  enabled: boolean;
  attributes: Record<string, string[]>;
  created_at: Date;
  roles: string[];
}

export const profileData: PersonalData = {
  tables: ['realm_user', 'user_role', 'group_member', 'import_user'],
  async export(sql, realm, userId) {
    const [row] = await sql<Row>`
      select u.username, u.email, u.email_verified, u.first_name, u.last_name, u.enabled, u.attributes, u.created_at, array(
        select r.name from user_role ur join role r on r.realm_id = ur.realm_id and r.id = ur.role_id
        where ur.realm_id = u.realm_id and ur.user_id = u.id and r.client is null order by r.name collate "C") as roles
      from realm_user u where u.realm_id = ${realm} and u.id = ${userId}`;
    if (!row) return {};
    const createdAt = row.created_at.getTime();
    return {
      profile: {
        username: row.username,
        email: row.email,
        emailVerified: row.email_verified,
        firstName: row.first_name,
        lastName: row.last_name,
        enabled: row.enabled,
        createdAt,
      },
      attributes: row.attributes,
      roles: row.roles,
      realmMemberships: [{ realmId: realm, joinedAt: createdAt }],
    };
  },
  // The rows of an abandoned import stay until the janitor drops its staging table.
  erase: (sql, realm, person) => eraseStaged(sql, realm, person),
};
