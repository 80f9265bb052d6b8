// Owns: client scopes, which define a scope's claims in tokens; the same by the admin API and in the realm document.
// Does not own: the named claims (claims), their values (domain/claims.ts), the assignment to clients (clients).
// Implements: decisions "Client scope"; specification 2.10, 4.10.
import { clientScopes } from '../../../contract/client-scopes.ts';
import { fragment } from '../../../db/sql.ts';
import { ACCOUNT_SCOPE } from '../../../domain/scopes.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { joinPaths } from '../../../resource/items.ts';
import { setClaims } from './store.ts';

export const clientScopesResource = (deps: ResourceDeps) =>
  declaredResource(
    clientScopes,
    {
      table: {
        elsewhere: {
          claims: fragment`array(
            select k.name from client_scope_claim l join claim k on k.realm_id = l.realm_id and k.id = l.claim_id
            where l.realm_id = t.realm_id and l.scope_id = t.id order by k.name collate "C")`,
        },
      },
      seeded: true,
      link: setClaims,
      renames: {},
      // Faults of renaming the scope `account`, from or to this name: either way, clients that have the scope could
      // come to act in users' accounts.
      lendsAccounts: (_, __, changes) =>
        changes.flatMap(({ key, path, renamedFrom }) =>
          renamedFrom !== undefined && [key, renamedFrom].includes(ACCOUNT_SCOPE) ? [joinPaths(path, 'name')] : [],
        ),
    },
    deps,
  );
