// Binds a plain resource's routes of the contract to the requests of api.ts.
// A kind's feature binds its further routes.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../contract/problem.ts';
import type { Fragment, Sql } from '../db/sql.ts';
import { principalOf } from '../domain/principal.ts';
import { bind, type Call } from '../http/bind.ts';
import { containsPattern, decodeCursor, page } from '../http/paging.ts';
import type { Address, Caller, ResourceApi } from './api.ts';
import { inClient } from './in-client.ts';
import { type ManagersQuery, shownWithManager, withManagers } from './managed-by.ts';
import type { Fields } from './part.ts';
import type { Resource, Routes } from './resource.ts';
import type { Row } from './table.ts';

/**
 * For paths that name the parent: the parent's objects, the key of one of them, and the fields that a new one gets from
 * the parent.
 */
export interface Within {
  filter: Fragment;
  keyOf(own: string): string;
  given: Fields;
}
type Params = Readonly<Record<string, string>>;
/** A request of these routes, parsed by the kind's schemas. */
interface Request {
  params: Params;
  query: { cursor?: string; limit: number; q?: string } & ManagersQuery;
  body: Fields;
}

/** The caller of a route: principal, audit data, and the revision that If-Match expects. */
export const callerOf = ({
  request,
  by,
  expect,
}: Pick<Call<never, never, never>, 'request' | 'by' | 'expect'>): Caller => ({
  principal: principalOf(request),
  by,
  expect,
  reach: request.reach,
});

/**
 * @param routes the kind's routes
 */
export function mountResource(
  app: FastifyInstance,
  {
    api,
    sql,
    of,
    routes,
  }: {
    api: ResourceApi;
    sql: Sql;
    of: Resource;
    routes: Routes;
  },
): void {
  const within = of.ofClient ? inClient(sql) : undefined;
  const on = <K extends keyof Routes>(
    name: K,
    handler: (
      call: Request & {
        realm: string;
        at: Address;
        caller: Caller;
        request: FastifyRequest;
        reply: FastifyReply;
        inside: Within | undefined;
      },
    ) => Promise<unknown>,
  ) => {
    const contract = routes[name];
    if (!contract) return;
    if (contract.reach && !of.reached) throw new Error(`${of.label}: which rows are in reach must be said`);
    bind(app, contract, async (call) => {
      const { params, query, body } = call as unknown as Request;
      const { realm = '', ...address } = params;
      const inside = within && (await within.find(realm, address[within.param] ?? ''));
      const own = Object.entries(address).filter(([name]) => name !== within?.param);
      // the path holds the parts of a natural key in their order
      const key = own.map(([, value]) => value).join('/');
      const id = address[of.idIn ?? 'id'];
      const at: Address = id === undefined ? { key: inside?.keyOf(key) ?? key } : { id };
      if (inside && 'id' in at && !(await api.get(of, realm, at)).key.startsWith(inside.keyOf('')))
        throw new Problem('not-found', `There is no such ${of.label} there`);
      return handler({ ...call, params, query, body, realm, at, inside, caller: callerOf(call) });
    });
  };
  const shown = (reply: FastifyReply, { realm, query }: { realm: string; query?: ManagersQuery }, row: Row) =>
    shownWithManager(
      { sql, reply },
      { realm, kind: of.kind, ...(query && { query }) },
      { key: row.key, wire: of.toWire(realm, row) },
    );

  on('list', async ({ realm, query, request, reply, inside }) => {
    const [after] = decodeCursor(query.cursor, 1) ?? [];
    const search = containsPattern(query.q);
    const filter = request.reach ? of.reached?.(realm, request.reach) : inside?.filter;
    const rows = await api.list(of, realm, { after, limit: query.limit + 1, search, filter });
    const paged = page({ request, reply }, rows, query.limit, (row) => [row.key]);
    return withManagers(sql, { realm, kind: of.kind, query }, paged);
  });
  on('create', async ({ realm, body, caller, inside }) =>
    of.toWire(realm, await api.create(of, caller, realm, { ...body, ...inside?.given })),
  );
  on('get', async ({ realm, query, at, reply }) => shown(reply, { realm, query }, await api.get(of, realm, at)));
  on('put', async ({ realm, at, body, caller, reply }) =>
    shown(reply, { realm }, await api.replace(of, caller, realm, at, body)),
  );
  on('upsert', async ({ realm, body, caller, reply }) =>
    shown(reply, { realm }, await api.upsert(of, caller, realm, body)),
  );
  on('remove', async ({ realm, at, caller }) => {
    await api.remove(of, caller, realm, at);
    return undefined;
  });
}
