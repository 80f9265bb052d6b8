// Objects that belong to a client. Their paths in the admin API are below `clients/:clientId`, with the client's id.
import { Problem } from '../contract/problem.ts';
import { fragment, type Sql } from '../db/sql.ts';
import { clientRoleKey } from './items.ts';
import type { Within } from './routes.ts';

/** Mounts a resource below a client, by the id in the path. */
export const inClient = (sql: Sql) => ({
  param: 'clientId',
  /** @throws Problem `not-found` */
  async find(realm: string, id: string): Promise<Within> {
    const [client] = await sql<{ client_id: string }>`
      select client_id from client where realm_id = ${realm} and id = ${id}`;
    if (!client) throw new Problem('not-found', 'There is no such client');
    const clientId = client.client_id;
    return {
      filter: fragment`and t.client = ${id}`,
      keyOf: (own) => clientRoleKey(clientId, own),
      given: { clientId },
    };
  },
});
