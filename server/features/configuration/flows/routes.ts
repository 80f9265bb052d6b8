// Binds the routes of contract/flows.ts.
import type { FastifyInstance, FastifyReply } from 'fastify';
import * as api from '../../../contract/flows.ts';
import type { Sql } from '../../../db/sql.ts';
import { bind } from '../../../http/bind.ts';
import { decodeCursor, page } from '../../../http/paging.ts';
import { type ManagersQuery, shownWithManager, withManagers } from '../../../resource/managed-by.ts';
import type { Flows } from './service.ts';

export function flowRoutes(app: FastifyInstance, flows: Flows, sql: Sql): void {
  const kind = 'flow';
  const marked = async (reply: FastifyReply, realm: string, flow: Promise<api.Flow>, query?: ManagersQuery) => {
    const wire = await flow;
    return shownWithManager({ sql, reply }, { realm, kind, ...(query && { query }) }, { key: wire.alias, wire });
  };
  bind(app, api.listFlows, async ({ params, query, request, reply }) => {
    const [place, alias] = decodeCursor(query.cursor, 2) ?? [];
    const after = alias === undefined ? undefined : { alias, builtIn: place === 'built-in' };
    const rows = await flows.list(params.realm, after, query.limit + 1);
    const shown = page({ request, reply }, rows, query.limit, (flow) => [
      flow.builtIn ? 'built-in' : 'own',
      flow.alias,
    ]);
    return withManagers(
      sql,
      { realm: params.realm, kind, query },
      shown.map((wire) => ({ key: wire.alias, wire })),
    );
  });
  bind(app, api.createFlow, ({ params, body, by }) => flows.create(by, params.realm, body));
  bind(app, api.getFlow, ({ params, query, reply }) =>
    marked(reply, params.realm, flows.get(params.realm, params.alias), query),
  );
  bind(app, api.putFlow, ({ params, body, by, expect, reply }) =>
    marked(reply, params.realm, flows.save(by, params.realm, params.alias, body, expect)),
  );
  bind(app, api.renameFlow, ({ params, body, by, expect, reply }) =>
    marked(reply, params.realm, flows.rename(by, params.realm, params.alias, body.alias, expect)),
  );
  bind(app, api.deleteFlow, async ({ params, by, expect }) => {
    await flows.remove(by, params.realm, params.alias, expect);
    return undefined;
  });
  bind(app, api.getBrowserFlow, ({ params, query, reply }) =>
    marked(reply, params.realm, flows.getBound(params.realm), query),
  );
  bind(app, api.putBrowserFlow, ({ params, body, by, expect, reply }) =>
    marked(reply, params.realm, flows.saveBound(by, params.realm, body, expect)),
  );
  bind(app, api.listAuthenticators, async () => flows.authenticators());
}
