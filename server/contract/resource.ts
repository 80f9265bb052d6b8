// The routes that every plain resource has, from what differs between kinds: list, create, get, put, delete.
// The server's side is server/resource/. Specification 4.10; decisions "Reading and writing".
import { z } from 'zod';
import { ManagedPage, ManagedSearchPage, WithManagers } from './managed-by.ts';
import { type InRealm, RealmName } from './names.ts';
import type { Area } from './permissions.ts';
import type { ProblemCode } from './problem.ts';
import { type ReachedBy, type Route, route } from './route.ts';

/** How a path names one object: by its id, or by its natural key. */
export const byKey = <Name extends string, Key extends z.ZodType>(param: Name, key: Key) =>
  z.strictObject({ realm: RealmName, [param]: key } as { realm: typeof RealmName } & Record<Name, Key>);

/** The routes that name an object in the path. */
interface PathRoutes<At extends z.ZodType, Wire extends z.ZodType, In extends z.ZodType> {
  list: Route<In, typeof ManagedPage | typeof ManagedSearchPage, z.ZodUndefined, z.ZodArray<Wire>>;
  get: Route<At, typeof WithManagers, z.ZodUndefined, Wire>;
  remove: Route<At, z.ZodObject, z.ZodUndefined, z.ZodUndefined>;
}
export interface ResourceRoutes<
  At extends z.ZodType,
  Wire extends z.ZodType,
  Input extends z.ZodType,
  Update extends z.ZodType,
  In extends z.ZodType = typeof InRealm,
> extends PathRoutes<At, Wire, In> {
  create: Route<In, z.ZodObject, Input, Wire>;
  put: Route<At, z.ZodObject, Update, Wire>;
}
/** Of objects that a request names in its body: PUT on the list creates one, or changes it. */
export interface UpsertRoutes<
  At extends z.ZodType,
  Wire extends z.ZodType,
  Input extends z.ZodType,
  In extends z.ZodType = typeof InRealm,
> extends PathRoutes<At, Wire, In> {
  upsert: Route<In, z.ZodObject, Input, Wire>;
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

interface Schemas {
  wire: z.ZodType;
  input: z.ZodType;
  /** The body of a PUT that names the object in its path. Absent: `input` names it, in a PUT on the list. */
  update: z.ZodType | undefined;
  /** The path parameters that name an object, in their order. */
  at: { params: readonly string[]; schema: z.ZodType };
  /** The path parameters of the list. */
  within: z.ZodType;
}

export function resourceRoutes({
  path,
  tag = path,
  area,
  one,
  many,
  wire,
  input,
  update,
  at,
  within,
  example,
  updateExample,
  searches = false,
  problems = [],
  describe = {},
  reach = {},
}: Described<unknown, unknown> & Schemas):
  | ResourceRoutes<z.ZodType, z.ZodType, z.ZodType, z.ZodType, z.ZodType>
  | UpsertRoutes<z.ZodType, z.ZodType, z.ZodType, z.ZodType> {
  const all = `/admin/realms/:realm/${path}`;
  const single = [all, ...at.params].join('/:');
  const [read, write] = [`${area}:read`, `${area}:write`] as const;
  const list = route({
    method: 'GET',
    path: all,
    tag,
    summary: describe.list ?? `List ${many}`,
    permission: read,
    ...(reach.list && { reach: reach.list }),
    params: within,
    query: searches ? ManagedSearchPage : ManagedPage,
    response: z.array(wire),
  });
  const get = route({
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
  });
  const remove = route({
    method: 'DELETE',
    path: single,
    tag,
    summary: describe.remove ?? `Delete ${one}`,
    permission: write,
    params: at.schema,
    status: 204,
    problems: ['not-found', 'declared-only', 'precondition-failed', ...problems],
  });
  const toPut = { method: 'PUT', tag, permission: write, response: wire } as const;
  if (!update) {
    const summary = describe.put ?? `Create or update ${one}; a field that is left out keeps its value`;
    const refusals = ['declared-only', 'precondition-failed', ...problems] as const;
    const upsert = route({ ...toPut, path: all, summary, params: within, body: input, example, problems: refusals });
    return { list, upsert, get, remove };
  }
  return {
    list,
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
    get,
    put: route({
      ...toPut,
      path: single,
      summary: describe.put ?? `Update ${one}; a field that is left out keeps its value`,
      ...(reach.put && { reach: reach.put }),
      params: at.schema,
      body: update,
      example: updateExample,
      problems: ['not-found', 'name-taken', 'declared-only', 'precondition-failed', ...problems],
    }),
    remove,
  } as ResourceRoutes<z.ZodType, z.ZodType, z.ZodType, z.ZodType, z.ZodType>;
}
