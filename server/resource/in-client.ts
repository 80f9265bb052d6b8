// Objects that belong to a client. Their paths in the admin API are below `clients/:clientId`, with the client's id.
import { Problem } from '../contract/problem.ts';
import { isUuid } from '../crypto/ids.ts';
import { fragment, type Sql } from '../db/sql.ts';
import { clientRoleKey } from './items.ts';
import type { Within } from './routes.ts';

/** The id of the client that a path names by its id, else by its client id; undefined: there is none. */
export async function idOfClient(sql: Sql, realm: string, named: string): Promise<string | undefined> {
  const byId = isUuid(named) ? fragment`id = ${named}::uuid` : fragment`false`;
  const [client] = await sql<{ id: string }>`
    select id from (
      select id, 1 as place from client where realm_id = ${realm} and ${byId}
      union all select id, 2 from client where realm_id = ${realm} and client_id = ${named}
      order by place limit 1) c`;
  return client?.id;
}

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
