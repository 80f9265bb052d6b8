// Policies of the type user and resources name users. Erasure replaces the name by the pseudonym, so that a later user
// of the same name gets no access. Specification 4.6.
import { AuthorizationService } from '../../../contract/authorization-services.ts';
import { jsonText } from '../../../db/json.ts';
import type { PersonalData } from '../../../domain/personal-data.ts';

const Named = AuthorizationService.pick({ resources: true, policies: true });

export const authorizationData: PersonalData = {
  tables: ['authorization_service'],
  async erase(sql, realm, { username, pseudonym }) {
    const rows = await sql<{ id: string; resources: unknown; policies: unknown }>`
      select id, resources, policies from authorization_service s
      where realm_id = ${realm} and (
        exists (select from jsonb_path_query(s.policies, '$[*].config.users[*]') as u
          where lower(u #>> '{}') = lower(${username}))
        or exists (select from jsonb_path_query(s.resources, '$[*].owner') as o
          where lower(o #>> '{}') = lower(${username})))
      for update`;
    if (rows.length === 0) return;
    const renamed = (name: string) => (name.toLowerCase() === username.toLowerCase() ? pseudonym : name);
    const kept = rows.map(({ id, ...lists }) => {
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
