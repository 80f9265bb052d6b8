// Owns: the clients that may get grants for other domains, as administrators configure them.
// Does not own: their fields and routes (contract/cross-domain-policies.ts), the grants (features/protocol/cross-domain).
// Implements: decisions "Cross-domain policy".
import { crossDomainPolicies } from '../../../contract/cross-domain-policies.ts';
import { fragment } from '../../../db/sql.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { clientIn, oneForClient } from '../../../resource/one-for-client.ts';

export const crossDomainPoliciesResource = (deps: ResourceDeps) =>
  declaredResource(
    crossDomainPolicies,
    {
      fallsWith: { kind: 'client', which: (_, removed) => fragment`t.client_id = any(${removed}::text[])` },
      whole: oneForClient(
        { kind: 'crossDomainPolicy', one: 'policy', field: 'audience' },
        (sql, realm, clients, without) => sql<{ name: string; clientId: string; value: string }>`
          select name, client_id as "clientId", audience as value from cross_domain_policy
          where realm_id = ${realm} and client_id = any(${clients}::text[]) and id <> all(${without}::uuid[])`,
      ),
      atOnce: true,
      clientOf: (_, fields) => String(fields.clientId),
      detail: ({ enabled, audience, targetClientId, scopes, resources }) => ({
        enabled,
        audience,
        targetClientId,
        scopes,
        resources,
      }),
      // The client acts for users in the other domain.
      needs: ({ action }) => (action === 'delete' ? [] : ['users:write']),
      actsAs: ({ before, save }) => [...clientIn(before), ...clientIn(save)],
    },
    deps,
  );
