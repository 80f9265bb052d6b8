// Owns: client scopes, which say what a scope puts into tokens.
// Does not own: making claims of them (http/claims.ts), which client has which (clients).
// Implements: decisions "Client scope"; specification 4.10.
import type { ClientScope, ClientScopeInput } from '../../contract/client-scopes.ts';
import type { By } from '../../contract/events.ts';
import { Problem } from '../../contract/problem.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import type { Expect } from '../../http/etag.ts';
import * as store from './store.ts';

const toWire = ({ id, name, description, include_in_token_scope, claims }: store.ScopeRow): ClientScope => ({
  id,
  name,
  description,
  includeInTokenScope: include_in_token_scope,
  claims,
});
const missing = () => new Problem('not-found', 'There is no such client scope');

export function createClientScopes({ sql, transact, newId }: { sql: Sql; transact: Transact; newId: () => string }) {
  return {
    list: async (realm: string, after: string, limit: number): Promise<ClientScope[]> =>
      (await store.list(sql, realm, after, limit)).map(toWire),

    async get(realm: string, id: string): Promise<ClientScope> {
      const row = await store.find(sql, realm, id);
      if (!row) throw missing();
      return toWire(row);
    },

    create: (by: By, realm: string, input: ClientScopeInput): Promise<ClientScope> =>
      transact(realm, async ({ sql: on, record }) => {
        const row: store.ScopeRow = {
          id: newId(),
          name: input.name,
          description: input.description ?? null,
          include_in_token_scope: input.includeInTokenScope ?? true,
          claims: input.claims ?? [],
        };
        if (!(await store.insert(on, realm, row))) throw new Problem('name-taken', `The name ${row.name} is taken`);
        record({
          type: 'CLIENT_SCOPE_CREATED',
          realm,
          by,
          subject: { type: 'object', id: row.id, name: row.name },
        });
        return toWire(row);
      }),

    remove: (by: By, realm: string, id: string, expect: Expect): Promise<void> =>
      transact(realm, async ({ sql: on, record }) => {
        const row = await store.find(on, realm, id);
        if (!row) throw missing();
        expect(toWire(row));
        if (!(await store.remove(on, realm, id))) throw missing();
        record({ type: 'CLIENT_SCOPE_DELETED', realm, by, subject: { type: 'object', id, name: row.name } });
      }),
  };
}
export type ClientScopes = ReturnType<typeof createClientScopes>;
