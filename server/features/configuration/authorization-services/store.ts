// SQL of authorization services beyond every resource's: the number of each client's items, and the users that they
// name.
import type { z } from 'zod';
import type { AuthorizationServiceSummary } from '../../../contract/authorization-service-routes.ts';
import type { Sql } from '../../../db/sql.ts';

export const summaries = (
  sql: Sql,
  realm: string,
  { after, limit }: { after: string; limit: number },
): Promise<z.infer<typeof AuthorizationServiceSummary>[]> =>
  sql<z.infer<typeof AuthorizationServiceSummary>>`
    select c.id, s.client_id as "clientId", s.settings ->> 'enforcement' as enforcement,
      jsonb_array_length(s.resources) as resources, jsonb_array_length(s.scopes) as scopes,
      jsonb_array_length(s.policies) as policies, jsonb_array_length(s.permissions) as permissions
    from authorization_service s join client c on c.realm_id = s.realm_id and c.client_id = s.client_id
    where s.realm_id = ${realm} and s.client_id > ${after}
    order by s.client_id limit ${limit}`;
