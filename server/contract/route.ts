// A route is data: handler types, client types, permission check, OpenAPI operation and allowed problems come from it.
// It imports nothing but zod; http/bind.ts mounts it, contract/client.ts calls it. Specification section 4.
import { z } from 'zod';
import type { Permission } from './permissions.ts';
import type { ProblemCode } from './problem.ts';
import { type Principal, type SurfaceName, surfaceOf } from './surface.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * How administrators of single groups or clients may use a route: the path's parameters that name a group, a user or a client in their
 * reach; `rows`: the handler returns only the rows in their reach.
 */
export type ReachedBy = { group?: string; user?: string; client?: string } | 'rows';

export interface Route<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  method: Method;
  /** From the root: `/admin/realms/:realm/webhooks`; a last `*name` is the rest of the path, with its slashes. */
  path: string;
  /** The operation's name in generated clients, if its method and path don't give a good one (http/operation-id.ts). */
  operationId?: string;
  /** Groups operations in the OpenAPI document; the feature's name. */
  tag: string;
  summary: string;
  description?: string;
  /** The kind of caller that may call the route. */
  principal: Principal;
  surface: SurfaceName;
  /** The permission that an administrator needs in the path's realm; `null`: none. */
  permission: Permission | null;
  /** How a limited permission applies; absent: the permission must be held over the whole realm. */
  reach?: ReachedBy;
  /** The route needs a sign-in of the last five minutes: RFC 9470. */
  fresh?: true;
  params: Params;
  query: Query;
  body: Body;
  /** An example body for readers of the API documentation; a new realm accepts it. */
  example?: z.input<Body>;
  status: 200 | 201 | 202 | 204;
  response: Response;
  problems: readonly ProblemCode[];
  /** If the work isn't done at once, the route answers 202 with the progress, or without a body where it answers 204 otherwise. */
  mayTakeLonger: boolean;
  /** If the request selects no content, the response is a 204 without a body. */
  mayBeEmpty: boolean;
  /** A write that changes nothing and so records no event (preview, dry run, test). */
  recordsNothing: boolean;
}

const None = z.undefined();
const Nothing = z.strictObject({});

/** Declares a route; omitted properties have the plainest value (200, no body, no query). */
export function route<
  Params extends z.ZodType = typeof Nothing,
  Query extends z.ZodType = typeof Nothing,
  Body extends z.ZodType = typeof None,
  Response extends z.ZodType = typeof None,
>(r: {
  method: Method;
  path: string;
  operationId?: string;
  tag: string;
  summary: string;
  description?: string;
  /** Default: an administrator. */
  principal?: Principal;
  /** Default: the principal's own surface, if it has one. */
  surface?: SurfaceName;
  permission: Permission | null;
  reach?: ReachedBy;
  fresh?: true;
  params?: Params;
  query?: Query;
  body?: Body;
  example?: z.input<Body>;
  status?: 200 | 201 | 202 | 204;
  response?: Response;
  problems?: readonly ProblemCode[];
  mayTakeLonger?: boolean;
  mayBeEmpty?: boolean;
  recordsNothing?: boolean;
}): Route<Params, Query, Body, Response> {
  const { principal = 'administrator' } = r;
  const surface = r.surface ?? surfaceOf[principal];
  if (surface === undefined) throw new Error(`${r.method} ${r.path} must say on which surface it is`);
  return {
    status: 200,
    problems: [],
    principal,
    surface,
    mayTakeLonger: false,
    mayBeEmpty: false,
    recordsNothing: false,
    ...r,
    // A missing schema is the empty one; the compiler can't derive its type from the default.
    params: (r.params ?? Nothing) as Params,
    query: (r.query ?? Nothing) as Query,
    body: (r.body ?? None) as Body,
    response: (r.response ?? None) as Response,
  };
}
