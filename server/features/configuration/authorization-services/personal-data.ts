// Policies of the type user and resources name users. Erasure replaces the name by the pseudonym, so that a later user
// of the same name gets no access. Specification 4.6.
import { AuthorizationService } from '../../../contract/authorization-services.ts';
import { jsonText } from '../../../db/json.ts';
import { type Fragment, fragment } from '../../../db/sql.ts';
import type { PersonalData } from '../../../domain/personal-data.ts';

const Named = AuthorizationService.pick({ resources: true, policies: true });

export const authorizationData: PersonalData = {
  tables: ['authorization_service'],
  async erase(sql, realm, { username, pseudonym }) {
    const form = (name: Fragment) => fragment`lower(normalize(${name}, NFKC))`;
    const rows = await sql<{ id: string; names: string[]; resources: unknown; policies: unknown }>`
      select s.id, n.names, s.resources, s.policies from authorization_service s
      cross join lateral (
        select array_agg(distinct given.name) as names from (
          select u #>> '{}' as name from jsonb_path_query(s.policies, '$[*].config.users[*]') as u
          union all
          select o #>> '{}' from jsonb_path_query(s.resources, '$[*].owner') as o) given
        where ${form(fragment`given.name`)} = ${form(fragment`${username}::text`)}) n
      where s.realm_id = ${realm} and n.names is not null
      for update of s`;
    if (rows.length === 0) return;
    const kept = rows.map(({ id, names, ...lists }) => {
      const renamed = (name: string) => (names.includes(name) ? pseudonym : name);
      const { resources, policies } = Named.parse(lists);
      return {
        id,
        resources: resources.map((one) => ({ ...one, owner: one.owner === null ? null : renamed(one.owner) })),
        policies: policies.map(({ config, ...one }) => ({
          ...one,
          config: config.users ? { ...config, users: config.users.map(renamed).sort() } : config,
        })),
      };
    });
    await sql`
      update authorization_service s set resources = x.resources, policies = x.policies
      from jsonb_to_recordset(${jsonText(kept)}::jsonb) as x (id uuid, resources jsonb, policies jsonb)
      where s.realm_id = ${realm} and s.id = x.id`;
  },
};
