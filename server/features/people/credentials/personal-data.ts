// A user's credentials in an export: their types and dates, never the secrets. Specification 2.9.
import type { PersonalData } from '../../../domain/personal-data.ts';
import { lastUsed } from './store.ts';

interface Row {
  id: string;
  type: string;
  label: string | null;
  created_at: Date;
  last_used_at: Date | null;
}

export const credentialData: PersonalData = {
  tables: ['credential', 'lockout', 'password_history'],
  async export(sql, realm, userId) {
    const rows = await sql<Row>`
      select c.id, c.type, c.label, c.created_at, ${lastUsed} as last_used_at from credential c
      where c.realm_id = ${realm} and c.user_id = ${userId} order by c.created_at, c.id`;
    const credentials = rows.map(({ created_at, last_used_at, ...row }) => ({
      ...row,
      createdAt: created_at.getTime(),
      lastUsedAt: last_used_at?.getTime() ?? null,
    }));
    return { credentials };
  },
};
