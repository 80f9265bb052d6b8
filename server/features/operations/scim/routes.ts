// Binds the routes of contract/scim.ts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Problem } from '../../../contract/problem.ts';
import * as api from '../../../contract/scim.ts';
import { holderOf } from '../../../domain/principal.ts';
import { bind, type Call } from '../../../http/bind.ts';
import { namesTag } from '../../../http/etag.ts';
import { asScim } from '../../../http/scim-error.ts';
import type { Answer } from './answer.ts';
import type { Bulk } from './bulk.ts';
import { type Caller, principalOf } from './caller.ts';
import * as discovery from './discovery.ts';
import { scimProblem } from './fault.ts';
import type { ScimGroups } from './groups.ts';
import type { ScimMe } from './me.ts';
import { provisionerOf } from './surface.ts';
import type { ScimUsers } from './users.ts';

type Exchange = { request: FastifyRequest; reply: FastifyReply };

/** Sends a resource with its ETag and, if it is new, its address. */
function send({ request, reply }: Exchange, { resource, version, location }: Answer, status = 200): FastifyReply {
  asScim(reply);
  if (version !== undefined) void reply.header('etag', version);
  if (status === 201) void reply.header('location', location);
  const wanted = request.headers['if-none-match'];
  if (request.method === 'GET' && version !== undefined && wanted !== undefined && namesTag(wanted, version))
    return reply.code(304).send();
  return reply.code(status).send(resource);
}
const answer = (reply: FastifyReply, body: unknown): FastifyReply => asScim(reply).send(body);

/** What the server says of itself is answered whole: a filter is refused, not ignored (RFC 7644 §4). */
function answerWhole({ query, reply }: Pick<Call<unknown, Record<string, unknown>, unknown>, 'query' | 'reply'>) {
  if (Object.keys(query).some((name) => name.toLowerCase() === 'filter'))
    throw new Problem('forbidden', 'This list is answered whole: it takes no filter');
  return (body: unknown): FastifyReply => answer(reply, body);
}

const callerOf = ({ request, params, by, expect }: Call<{ realm: string }, unknown, unknown>): Caller => ({
  principal: principalOf(params.realm, provisionerOf(request)),
  by,
  expect,
  conditional: request.headers['if-match'] !== undefined,
});
const queryOf = ({ attributes, excludedAttributes, ...search }: z.output<typeof api.ScimSearch>): api.ScimQuery => ({
  ...search,
  attributes: attributes?.join(','),
  excludedAttributes: excludedAttributes?.join(','),
});

export interface ScimRoutes {
  users: ScimUsers;
  groups: ScimGroups;
  me: ScimMe;
  bulk: Bulk;
  baseOf(realm: string): string;
}

export function scimRoutes(app: FastifyInstance, { users, groups, me, bulk, baseOf }: ScimRoutes): void {
  for (const [routes, of] of [
    [api.scimUsers, users],
    [api.scimGroups, groups],
  ] as const) {
    bind(app, routes.list, async ({ params, query, reply }) => answer(reply, await of.find(params.realm, query)));
    bind(app, routes.search, async ({ params, body, reply }) =>
      answer(reply, await of.find(params.realm, queryOf(body))),
    );
    bind(app, routes.create, async (call) =>
      send(call, await of.create(callerOf(call), call.params.realm, call.body, call.query), 201),
    );
    bind(app, routes.get, async (call) => send(call, await of.get(call.params.realm, call.params.id, call.query)));
    bind(app, routes.put, async (call) => {
      const { params, body, query } = call;
      return send(call, await of.replace(callerOf(call), params.realm, params.id, body, query));
    });
    bind(app, routes.remove, async (call) => {
      await of.remove(callerOf(call), call.params.realm, call.params.id);
      return undefined;
    });
  }
  bind(app, api.patchScimUser, async (call) => {
    const { params, body, query } = call;
    return send(call, await users.patch(callerOf(call), params.realm, params.id, body.Operations, query));
  });
  bind(app, api.patchScimGroup, async (call) => {
    const { params, body, query, reply } = call;
    await groups.patch(callerOf(call), params.realm, params.id, body.Operations);
    // RFC 7644 §3.5.2: a request with `attributes` gets the resource in the response.
    if (query.attributes === undefined) return reply.code(204).send();
    return send(call, await groups.get(params.realm, params.id, query));
  });
  bind(app, api.searchScim, async ({ params, body, reply }) =>
    answer(reply, await findBoth(params.realm, queryOf(body))),
  );
  bind(app, api.postScimBulk, async (call) =>
    answer(call.reply, await bulk(callerOf(call), call.params.realm, call.body)),
  );
  bind(app, api.getScimMe, async (call) =>
    send(call, await me.get(call.params.realm, holderOf(call.request).userId, call.query)),
  );
  const ownWrite = ({ params: { realm }, by, request, expect }: Call<{ realm: string }, unknown, unknown>) => ({
    write: { realm, holder: holderOf(request), by },
    expect,
  });
  bind(app, api.putScimMe, async (call) => send(call, await me.replace(ownWrite(call), call.body, call.query)));
  bind(app, api.patchScimMe, async (call) =>
    send(call, await me.patch(ownWrite(call), call.body.Operations, call.query)),
  );
  bind(app, api.getScimConfig, async (call) => answerWhole(call)(discovery.configOf(baseOf(call.params.realm))));
  bind(app, api.listScimSchemas, async (call) => answerWhole(call)(discovery.schemaList(baseOf(call.params.realm))));
  bind(app, api.getScimSchema, async (call) =>
    answerWhole(call)(discovery.oneSchema(baseOf(call.params.realm), call.params.id)),
  );
  bind(app, api.listScimResourceTypes, async (call) =>
    answerWhole(call)(discovery.typeList(baseOf(call.params.realm))),
  );
  bind(app, api.getScimResourceType, async (call) =>
    answerWhole(call)(discovery.oneType(baseOf(call.params.realm), call.params.id)),
  );

  /** Users, then groups, as one list. A query by an attribute that one kind lacks is run for each kind alone. */
  async function findBoth(realm: string, query: api.ScimQuery): Promise<api.ScimList> {
    const { cursor, sortBy, startIndex = 1, count = api.scimLimits.page } = query;
    if (cursor !== undefined || sortBy !== undefined)
      throw scimProblem('invalidValue', 'People and groups together have no order, and no cursor');
    const first = Math.max(startIndex, 1);
    const most = Math.min(Math.max(count, 0), api.scimLimits.mostOnAPage);
    const people = await users.find(realm, { ...query, startIndex: first, count: most });
    const total = people.totalResults ?? 0;
    const rest = most - people.itemsPerPage;
    const others = await groups.find(realm, { ...query, startIndex: Math.max(first - total, 1), count: rest });
    const resources = [...(people.Resources ?? []), ...(others.Resources ?? [])];
    return {
      ...people,
      totalResults: total + (others.totalResults ?? 0),
      itemsPerPage: resources.length,
      startIndex: first,
      Resources: resources,
    };
  }
}
