// A user's identities at identity providers, in an export. They are deleted with the user's row. Specification 2.9.
import type { PersonalData } from '../../../domain/personal-data.ts';

interface Row {
  alias: string;
  issuer: string;
  subject: string;
  name: string | null;
  created_at: Date;
  last_used_at: Date | null;
}

export const identityData: PersonalData = {
  tables: ['identity_link'],
  async export(sql, realm, userId) {
    const rows = await sql<Row>`
      select p.alias, l.issuer, l.subject, l.name, l.created_at, l.last_used_at from identity_link l
      join identity_provider p on p.realm_id = l.realm_id and p.id = l.provider_id
      where l.realm_id = ${realm} and l.user_id = ${userId} order by l.created_at, l.id`;
    const federatedLinks = rows.map(({ alias, created_at, last_used_at, ...row }) => ({
      by: 'identity-provider',
      identityProvider: alias,
      ...row,
      linkedAt: created_at.getTime(),
      lastUsedAt: last_used_at?.getTime() ?? null,
    }));
    return { federatedLinks };
  },
};
