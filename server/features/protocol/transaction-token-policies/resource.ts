// Owns: the clients that may get transaction tokens, as administrators configure them.
// Does not own: their fields and routes (contract/transaction-token-policies.ts), the tokens (features/protocol/transaction-tokens).
// Implements: decisions "Transaction token policy".
import { transactionTokenPolicies } from '../../../contract/transaction-token-policies.ts';
import { fragment } from '../../../db/sql.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { asSet, strings } from '../../../resource/items.ts';
import { clientIn, oneForClient } from '../../../resource/one-for-client.ts';

export const transactionTokenPoliciesResource = (deps: ResourceDeps) =>
  declaredResource(
    transactionTokenPolicies,
    {
      fallsWith: { kind: 'client', which: (_, removed) => fragment`t.client_id = any(${removed}::text[])` },
      whole: oneForClient(
        { kind: 'transactionTokenPolicy', one: 'policy', field: 'trustDomain' },
        (sql, realm, clients, without) => sql<{ name: string; clientId: string; value: string }>`
          select name, client_id as "clientId", trust_domain as value from transaction_token_policy
          where realm_id = ${realm} and client_id = any(${clients}::text[]) and id <> all(${without}::uuid[])`,
      ),
      atOnce: true,
      canonical: ({ scopes, ...fields }) => ({
        ...fields,
        ...(scopes !== undefined && {
          scopes: Object.fromEntries(
            Object.entries<unknown>(Object(scopes))
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([scope, within]) => [scope, asSet(strings(within))]),
          ),
        }),
      }),
      clientOf: (_, fields) => String(fields.clientId),
      detail: ({ enabled, trustDomain, scopes, replaces }) => ({ enabled, trustDomain, scopes, replaces }),
      actsAs: ({ before, save }) => [...clientIn(before), ...clientIn(save)],
    },
    deps,
  );
