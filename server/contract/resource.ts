// The routes that every plain resource has, from what differs between kinds: list, create, get, put, delete.
// The server's side is server/resource/. Specification 4.10; decisions "Reading and writing".
import { z } from 'zod';
import { ManagedPage, ManagedSearchPage, WithManagers } from './managed-by.ts';
import { ById, InRealm, RealmName } from './names.ts';
import type { Area } from './permissions.ts';
import type { ProblemCode } from './problem.ts';
import { type ReachedBy, type Route, route } from './route.ts';

/** How a path names one object: by its id, or by its natural key. */
export const byKey = <Name extends string, Key extends z.ZodType>(param: Name, key: Key) =>
  z.strictObject({ realm: RealmName, [param]: key } as { realm: typeof RealmName } & Record<Name, Key>);

export interface ResourceRoutes<
  At extends z.ZodType,
  Wire extends z.ZodType,
  Input extends z.ZodType,
  Update extends z.ZodType,
  In extends z.ZodType = typeof InRealm,
> {
  list: Route<In, typeof ManagedPage | typeof ManagedSearchPage, z.ZodUndefined, z.ZodArray<Wire>>;
  create: Route<In, z.ZodObject, Input, Wire>;
  get: Route<At, typeof WithManagers, z.ZodUndefined, Wire>;
  put: Route<At, z.ZodObject, Update, Wire>;
  remove: Route<At, z.ZodObject, z.ZodUndefined, z.ZodUndefined>;
}

export interface Described<Input, Update> {
  /** The path below the realm, and the group in the API's documentation: `webhooks`. */
  path: string;
  tag?: string;
  area: Area;
  /** The name of one object in a sentence, and of several: `a webhook`, `webhooks`. */
  one: string;
  many: string;
  /** Example bodies that a fresh realm accepts. */
  example: Input;
  updateExample: Update;
  /** `q` searches. */
  searches?: boolean;
  /** Problems of a write in addition to name-taken, declared-only, not-found and precondition-failed. */
  problems?: readonly ProblemCode[];
  describe?: Partial<Record<'list' | 'create' | 'get' | 'put' | 'remove', string>>;
  /** Set for routes that administrators of single groups or clients may use. */
  reach?: Partial<Record<'list' | 'get' | 'put', ReachedBy>>;
}

/** Routes by id; with `at`, by the natural key. */
export function resourceRoutes<Wire extends z.ZodType, Input extends z.ZodType, Update extends z.ZodType>(
  r: Described<z.input<Input>, z.input<Update>> & { wire: Wire; input: Input; update: Update },
): ResourceRoutes<typeof ById, Wire, Input, Update>;
export function resourceRoutes<
  At extends z.ZodType,
  Wire extends z.ZodType,
  Input extends z.ZodType,
  Update extends z.ZodType,
>(
  r: Described<z.input<Input>, z.input<Update>> & {
    wire: Wire;
    input: Input;
    update: Update;
    at: { param: string; schema: At };
  },
): ResourceRoutes<At, Wire, Input, Update>;
/** Routes of objects that belong to a parent, which the path names too. */
export function resourceRoutes<
  At extends z.ZodType,
  Wire extends z.ZodType,
  Input extends z.ZodType,
  Update extends z.ZodType,
  In extends z.ZodType,
>(
  r: Described<z.input<Input>, z.input<Update>> & {
    wire: Wire;
    input: Input;
    update: Update;
    at: { param: string; schema: At };
    within: In;
  },
): ResourceRoutes<At, Wire, Input, Update, In>;
export function resourceRoutes({
  path,
  tag = path,
  area,
  one,
  many,
  wire,
  input,
  update,
  at = { param: 'id', schema: ById },
  within = InRealm,
  example,
  updateExample,
  searches = false,
  problems = [],
  describe = {},
  reach = {},
}: Described<unknown, unknown> & {
  wire: z.ZodType;
  input: z.ZodType;
  update: z.ZodType;
  at?: { param: string; schema: z.ZodType };
  within?: z.ZodType;
}): ResourceRoutes<z.ZodType, z.ZodType, z.ZodType, z.ZodType, z.ZodType> {
  const all = `/admin/realms/:realm/${path}`;
  const single = `${all}/:${at.param}`;
  const [read, write] = [`${area}:read`, `${area}:write`] as const;
  return {
    list: route({
      method: 'GET',
      path: all,
      tag,
      summary: describe.list ?? `List ${many}`,
      permission: read,
      ...(reach.list && { reach: reach.list }),
      params: within,
      query: searches ? ManagedSearchPage : ManagedPage,
      response: z.array(wire),
    }),
    create: route({
      method: 'POST',
      path: all,
      tag,
      summary: describe.create ?? `Create ${one}`,
      permission: write,
      params: within,
      body: input,
      example,
      status: 201,
      response: wire,
      problems: ['name-taken', 'declared-only', ...problems],
    }),
    get: route({
      method: 'GET',
      path: single,
      tag,
      summary: describe.get ?? `Read ${one}`,
      permission: read,
      ...(reach.get && { reach: reach.get }),
      params: at.schema,
      query: WithManagers,
      response: wire,
      problems: ['not-found'],
    }),
    put: route({
      method: 'PUT',
      path: single,
      tag,
      summary: describe.put ?? `Update ${one}; a field that is left out keeps its value`,
      permission: write,
      ...(reach.put && { reach: reach.put }),
      params: at.schema,
      body: update,
      example: updateExample,
      response: wire,
      problems: ['not-found', 'name-taken', 'declared-only', 'precondition-failed', ...problems],
    }),
    remove: route({
      method: 'DELETE',
      path: single,
      tag,
      summary: describe.remove ?? `Delete ${one}`,
      permission: write,
      params: at.schema,
      status: 204,
      problems: ['not-found', 'declared-only', 'precondition-failed', ...problems],
    }),
  } as ResourceRoutes<z.ZodType, z.ZodType, z.ZodType, z.ZodType, z.ZodType>;
}
